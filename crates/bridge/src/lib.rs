//! The robot's topics over WebSockets, for programs without ROS.
//!
//! [`rosbridge`] publishes messages as JSON or CBOR, for `roslibpy` and `roslib`. [`foxglove`]
//! publishes binary messages, for the viewer Foxglove. The two modules share the pump, which
//! creates the messages of every tick, and [`Socket`], which limits buffers and detects that a
//! client is gone. The web server creates a [`Socket`] from a request that it has checked; this
//! crate does not contain HTTP.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod bridge;
mod commands;
pub mod foxglove;
mod pump;
pub mod rosbridge;
mod socket;

pub use bridge::Bridge;
pub use socket::{ByteStream, Peer, PeerGone, Socket, SocketEvent, SocketLimits, SocketMessage};
pub use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
pub use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
