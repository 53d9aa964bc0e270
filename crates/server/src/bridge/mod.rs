//! The robot's topics for programs without ROS: the rosbridge protocol, JSON over a WebSocket.
//!
//! Theory of operation. Whoever subscribes gets a mailbox (`mailbox`), and the robot's ticks are
//! tapped while anyone does (`pump`). What is said on a topic is written once (`encode`) and put into the mailboxes
//! of all who want it (`hub`); each client takes from its own as fast as it can, and loses what
//! is too old. What a client says (`words`) is followed (`client`) or answered by a line about what is wrong.
//! Commands go the way of all others (`commands`): the newest wins. Nothing here knows of DDS, and it is there
//! whether the robot is on a ROS 2 graph or not.

mod client;
mod commands;
mod definitions;
mod encode;
pub(crate) mod hub;
mod mailbox;
mod pump;
mod services;
mod words;

pub(crate) use pump::pump;

use crate::state::App;
use crate::websocket::{Event, Socket, Upgrade};
use axum::extract::State;
use axum::response::Response;
use client::Client;
use mailbox::Next;
use std::time::Instant;
use tokio::time::{sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Largest message that is sent: a picture of a large camera.
const MAX_SENT: usize = 64 << 20;

/// `GET /rosbridge`.
pub(crate) async fn open(State(app): State<App>, upgrade: Upgrade) -> Response {
    let speaking = app.clone();
    upgrade.max_sent(MAX_SENT).run(&app, move |socket| converse(speaking, socket))
}

/// Listens and speaks at once, until the client goes.
async fn converse(app: App, mut socket: Socket) {
    let mut client = Client::new(app);
    let farewell = loop {
        let mut later = None;
        if socket.is_free() {
            if let Some(answer) = client.answers.pop_front() {
                socket.put(answer);
            } else {
                match client.member.mailbox.next(Instant::now()) {
                    Next::Text(text) => socket.put(text),
                    Next::Later(due) => later = due,
                }
            }
        }
        let (free, listen) = (socket.is_free(), client.is_heard());
        tokio::select! {
            event = socket.event(listen) => match event {
                Event::Said(said) => {
                    client.hear(&said);
                    if client.is_hopeless() {
                        break Some((CloseCode::Policy, "nothing but errors: read their status messages".into()));
                    }
                }
                Event::Sent => {}
                Event::Fault(code, why) => break Some((code, why)),
                Event::Over => break None,
            },
            () = client.member.mailbox.come(), if free => {}
            () = sleep_until(later.unwrap_or_else(Instant::now).into()), if later.is_some() => {}
            done = client.commands.next() => if let Err((id, trouble)) = done {
                client.complain(&trouble, id.as_ref());
            },
        }
    };
    let Client { mut commands, member, .. } = client;
    // Nothing more is written for one who has gone.
    drop(member);
    if let Some((code, why)) = farewell {
        socket.close(code, &why).await;
    }
    let last = async {
        while !commands.is_done() {
            let _ = commands.next().await;
        }
    };
    let _ = timeout(commands::AFTERWARDS, last).await;
}
