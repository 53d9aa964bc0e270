//! The robot's topics for programs without ROS. The programs use the rosbridge protocol: JSON
//! messages over a WebSocket.
//!
//! A client that subscribes has a mailbox (`mailbox`). While there are subscribers, a task reads
//! the robot's ticks (`pump`). A message is written as JSON once (`encode`) and put into the
//! mailboxes of all subscribers (`hub`). Each client takes messages from its mailbox at its own
//! speed. If the client is slow, the oldest messages are dropped. Messages from a client are parsed
//! (`protocol`) and executed (`client`), or answered with a status message. Commands are queued
//! (`commands`). If too many commands wait, the oldest are dropped. The bridge does not depend on
//! DDS, and works without a ROS 2 graph.

mod client;
mod commands;
mod definitions;
mod encode;
pub(crate) mod hub;
mod mailbox;
mod protocol;
mod pump;
mod services;

pub(crate) use pump::pump;

use crate::caller::Commander;
use crate::state::App;
use crate::websocket::{Socket, SocketEvent, Upgrade};
use axum::extract::State;
use axum::response::Response;
use chicane_host::Source;
use client::Client;
use mailbox::NextMessage;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Largest message that is sent, in bytes. An uncompressed image of a large camera fits.
const MAX_SENT: usize = 64 << 20;

/// `GET /rosbridge`.
pub(crate) async fn open(
    State(app): State<App>,
    Commander(simulator): Commander,
    upgrade: Upgrade,
) -> Response {
    let app_of_client = app.clone();
    // A judged program stays the student when it uses this endpoint.
    let source = match simulator.source() {
        Source::Student => Source::Student,
        _ => Source::Ros,
    };
    upgrade.max_sent(MAX_SENT).run(&app, move |socket| serve_client(app_of_client, source, socket))
}

/// Sends and receives messages until the client disconnects.
async fn serve_client(app: App, source: Source, mut socket: Socket) {
    let mut client = Client::new(app, source);
    let close = loop {
        let mut next_due = None;
        if socket.can_send() {
            if let Some(response) = client.responses.pop_front() {
                socket.start_send(response);
            } else {
                match client.member.mailbox.next(Instant::now()) {
                    NextMessage::Text(text) => socket.start_send(text),
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
            done = client.commands.run_next() => if let Err((id, status)) = done {
                client.send_status(&status, id.as_ref());
            },
        }
    };
    let Client { mut commands, member, .. } = client;
    // Dropping the member ends the subscriptions of this client. After that, no more messages are
    // written for the client.
    drop(member);
    if let Some((code, reason)) = close {
        socket.close(code, &reason).await;
    }
    let remaining = async {
        while !commands.is_empty() {
            let _ = commands.run_next().await;
        }
    };
    let _ = timeout(commands::REMAINING_COMMANDS_TIMEOUT, remaining).await;
}
