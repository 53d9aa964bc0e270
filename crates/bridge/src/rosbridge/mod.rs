//! The robot's topics for programs without ROS. The programs use the rosbridge protocol over a
//! WebSocket. Messages are JSON, and the server can send them as CBOR too.
//!
//! Each client has a mailbox (`mailbox`). While there are subscribers, the pump (`crate::pump`)
//! creates the messages of every tick. Each form of a message is encoded once (`encode`) and put
//! into the mailboxes of all subscribers (`hub`). Each client takes messages from its mailbox at its
//! own speed. If the client is slow, the oldest messages are dropped. Messages from a client are
//! parsed (`protocol`) and executed (`client`), or answered with a status message. Commands are
//! queued. If too many commands of a topic wait, the oldest of them are dropped. The bridge does not
//! depend on DDS, and works without a ROS 2 graph.

mod cbor;
mod client;
mod definitions;
mod encode;
mod hub;
mod mailbox;
mod png;
mod protocol;
mod services;

pub(crate) use hub::Hub;
pub(crate) use protocol::quoted;

use crate::Bridge;
use crate::socket::{Socket, SocketEvent};
use chicane_host::Source;
use chicane_ros::{Message, Topic};
use client::Client;
use mailbox::NextMessage;
use protocol::StatusMessage;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Parses the JSON of a message on a topic that the robot subscribes to. The error is one line.
pub(crate) fn message_from_json(topic: Topic, value: Value) -> Result<Message, String> {
    client::parse_message(topic, value).map_err(|status| status.text)
}

/// Largest message that is sent, in bytes. An uncompressed image of 1920 × 1080 pixels, the largest
/// size of the camera, fits.
pub const MAX_SENT: usize = 64 << 20;

/// Sends and receives messages until the connection ends. Closes the connection itself if the
/// client sends too many invalid messages, if a message is too long or violates the WebSocket
/// protocol, or if the simulator stops. `source` is the sender of the client's commands.
pub async fn serve(bridge: Bridge, source: Source, mut socket: Socket) {
    let mut client = Client::new(bridge, source);
    let close = loop {
        let mut next_due = None;
        if socket.can_send() {
            if let Some(response) = client.responses.pop_front() {
                socket.start_send(response);
            } else {
                match client.member.mailbox.next(Instant::now()) {
                    NextMessage::Ready(message) => socket.start_send(message),
                    NextMessage::Wait(due) => next_due = due,
                }
            }
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
            () = sleep_until(next_due.unwrap_or_else(Instant::now)), if next_due.is_some() => {}
            done = client.commands.run_next() => if let Err(refused) = done {
                client.send_status(&StatusMessage::error(refused.text), refused.id.as_ref());
            },
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
