//! The ROS 2 interface: message types, the topics of the robot, and the messages of a tick.
//!
//! This crate uses no middleware, clock, thread, file or socket. It converts the topics of the
//! robot to messages, and messages to commands for the robot. The crates `dds`, `bridge` and
//! `recording` transport or record the messages.

pub mod cdr;
pub mod command;
pub mod definitions;
pub mod messages;
pub mod publish;
pub mod topics;

pub use command::{MessageError, command};
pub use messages::{Message, RosType};
pub use publish::{Outgoing, Publisher, Sample};
pub use topics::{Direction, Durability, Qos, Topic};
