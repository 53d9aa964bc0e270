//! The words of ROS 2: its messages, our topics, and what is said on them at a tick.
//!
//! This crate knows no middleware, no clock, thread, file or socket. It turns what the robot says
//! into messages, and messages into what the robot is asked for. Who carries them, a DDS participant
//! or a WebSocket, is the business of the server.

pub mod command;
pub mod messages;
pub mod publish;
pub mod topics;

pub use command::{Refused, command};
pub use messages::{Message, RosType};
pub use publish::{Outgoing, Publisher, Sample};
pub use topics::{Direction, Durability, Qos, Topic};
