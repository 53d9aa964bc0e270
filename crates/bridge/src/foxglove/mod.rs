//! Serves the robot's topics and the state of the simulator to the viewer Foxglove. The viewer uses
//! the Foxglove WebSocket protocol: JSON and binary messages over a WebSocket.
//!
//! The channels (`channels`) are the robot's topics in CDR, which the pump publishes, and the
//! simulator's own channels (`view`, `scene`). A message is encoded once and put into the mailboxes
//! of all subscribers (`hub`, `mailbox`). Each client takes messages from its mailbox at its own
//! speed. If the client is slow, the oldest messages are dropped. A client that has not taken a
//! whole message within half a minute is disconnected. Messages from a client are parsed
//! (`protocol`) and executed (`client`), or answered with a status message. Changes of parameters
//! (`parameters`), service calls (`services`) and commands to the robot need a permission, see
//! [`Caller`].

mod channels;
mod client;
mod hub;
mod mailbox;
mod parameters;
mod protocol;
mod scene;
mod scene_schema;
mod services;
mod view;

pub(crate) use hub::Hub;
pub use protocol::choose_subprotocol;
pub(crate) use view::watch_view;

use crate::Bridge;
use crate::socket::{Socket, SocketEvent};
use chicane_host::Source;
use client::{Client, run_next_request};
use protocol::Status;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Largest message that is sent, in bytes. An uncompressed image of 1920 × 1080 pixels, the largest
/// size of the camera, fits.
pub const MAX_SENT: usize = 64 << 20;

/// What a client can do besides watching. Each action needs a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Sends a command to the robot.
    Drive,
    /// Changes the brightness.
    SetBrightness,
    /// Pauses or continues time, or changes its speed.
    SetClock,
    /// Resets the car and all objects, and sets all lights to green.
    Reset,
    /// Replaces the simulation by a new one of the same world.
    Respawn,
}

/// Who a client is, and what it may do besides watching.
pub struct Caller {
    /// The sender of changes of parameters and of service calls.
    pub source: Source,
    /// The sender of commands to the robot.
    pub driver: Source,
    /// Returns an error with the reason if the client may not perform the action.
    pub permits: Box<dyn Fn(Action) -> Result<(), String> + Send + Sync>,
}

/// Sends and receives messages until the connection ends. Closes the connection itself if there are
/// too many clients, if the client sends too many invalid messages, if a message is too long or
/// violates the WebSocket protocol, or if the simulator stops.
pub async fn serve(bridge: Bridge, caller: Caller, mut socket: Socket) {
    let member = match bridge.foxglove.join(bridge.host.simulator.now()) {
        Ok(member) => member,
        Err(reason) => return socket.close(CloseCode::Again, &reason).await,
    };
    let mut client = Client::new(bridge, caller, member);
    let close = loop {
        if socket.can_send()
            && let Some(message) = client.next_message()
        {
            socket.start_send(message);
        }
        let (can_send, read) = (socket.can_send(), client.can_receive());
        tokio::select! {
            event = socket.next_event(read) => match event {
                SocketEvent::Received(message) => {
                    client.handle(&message);
                    if client.has_too_many_errors() {
                        let reason = "too many invalid messages: see the status messages";
                        break Some((CloseCode::Policy, reason.into()));
                    }
                }
                SocketEvent::Sent => {}
                SocketEvent::MustClose(code, reason) => break Some((code, reason)),
                SocketEvent::Ended => break None,
            },
            () = client.member.mailbox.changed(), if can_send => {}
            done = client.commands.run_next() => if let Err(refused) = done {
                client.send_status(&Status::error(refused.text));
            },
            responses = run_next_request(&mut client.requests) => client.responses.extend(responses),
        }
    };
    let Client { commands, member, .. } = client;
    // Dropping the member ends the subscriptions of this client. After that, no more messages are
    // written for the client.
    drop(member);
    if let Some((code, reason)) = close {
        socket.close(code, &reason).await;
    }
    commands.finish().await;
}
