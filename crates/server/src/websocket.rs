//! WebSockets: from a request to an open socket, and how one ends.
//!
//! A handler takes an [`Upgrade`], which has checked the handshake, and answers with
//! [`Upgrade::run`]. What it gives runs beside the connection with a [`Socket`] that pings its
//! peer, notices when that is gone, bounds what it sends, and ends with the simulator. Who speaks and
//! listens by turns uses [`Socket::next`] and [`Socket::send`], who does both at once [`Socket::put`] and
//! [`Socket::event`].

mod upgrade;

pub(crate) use upgrade::{NoSocket, Upgrade};

use crate::listen::Peer;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::task::Poll;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

/// A peer is asked this often whether it is still there.
const PING: Duration = Duration::from_secs(3);
/// A peer that was asked so often and said nothing is gone.
const UNANSWERED: u32 = 3;
/// A peer that takes nothing for this long is gone too.
const STUCK: Duration = Duration::from_secs(5);
/// One that others do not wait for may take a message this slowly.
const SLOW: Duration = Duration::from_secs(30);
/// Last words have this long, and no longer: the simulator may be stopping.
const LAST_WORDS: Duration = Duration::from_millis(100);

fn beat() -> Interval {
    let mut beat = interval_at(Instant::now() + PING, PING);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

/// What a peer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// A text.
    Text(Utf8Bytes),
    /// Bytes.
    Binary(Bytes),
}

/// What happens on a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// The peer said something.
    Said(Said),
    /// What was put in is on its way.
    Sent,
    /// It must be closed, with this code and for this reason.
    Fault(CloseCode, String),
    /// There is nothing more to come.
    Over,
}

/// What a stream did.
enum Turn {
    Flushed(Result<(), Error>),
    Heard(Option<Result<Message, Error>>),
}

/// The peer is gone, or takes nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

/// An open socket.
pub(crate) struct Socket {
    stream: WebSocketStream<TokioIo<Upgraded>>,
    peer: Option<Peer>,
    simulator: chicane_host::driver::Simulator,
    beat: Interval,
    /// Pings since the peer last said anything.
    unanswered: u32,
    /// Since when something that was put in is on its way.
    sending: Option<Instant>,
    over: bool,
}

impl Socket {
    fn new(
        stream: WebSocketStream<TokioIo<Upgraded>>,
        peer: Option<Peer>,
        simulator: chicane_host::driver::Simulator,
    ) -> Socket {
        Socket { stream, peer, simulator, beat: beat(), unanswered: 0, sending: None, over: false }
    }

    /// What the peer says next; `None` when there is nothing more to come, for whatever reason.
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Said> {
        while !self.over {
            let message = tokio::select! {
                biased;
                () = self.simulator.ended() => {
                    self.close(CloseCode::Away, "the simulator stops").await;
                    break;
                }
                message = self.stream.next() => message,
                _ = self.beat.tick() => {
                    self.ping().await;
                    continue;
                }
            };
            match message {
                None => self.over = true,
                Some(Err(error)) => match fault(&error) {
                    Some((code, why)) => self.close(code, &why).await,
                    None => self.over = true,
                },
                Some(Ok(message)) => {
                    self.unanswered = 0;
                    if let Some(said) = said(message) {
                        return Some(said);
                    }
                }
            }
        }
        None
    }

    /// The same for one who may have heard enough for now: then nothing is read, and `None` comes when the
    /// peer hangs up. One that vanishes without a word is missed by the system, within a minute or so.
    pub(crate) async fn next_if(&mut self, wanted: bool) -> Option<Said> {
        match &self.peer {
            Some(peer) if !wanted => {
                peer.hung_up().await;
                None
            }
            None if !wanted => std::future::pending().await,
            _ => self.next().await,
        }
    }

    /// Whether something can be put in.
    pub(crate) fn is_free(&self) -> bool {
        self.sending.is_none()
    }

    /// Says a text, which [`Socket::event`] sends on its way. One at a time: see [`Socket::is_free`].
    pub(crate) fn put(&mut self, text: Utf8Bytes) {
        self.put_message(Message::Text(text));
    }

    fn put_message(&mut self, message: Message) {
        match self.stream.start_send_unpin(message) {
            Ok(()) => self.sending = Some(Instant::now()),
            Err(_) => self.over = true,
        }
    }

    /// What happens next. What was put in goes out meanwhile, and what the peer says is heard if it is to be
    /// listened to. Dropping the future loses nothing.
    pub(crate) async fn event(&mut self, listen: bool) -> Event {
        while !self.over {
            let sending = self.sending;
            let turn = tokio::select! {
                biased;
                () = self.simulator.ended() => return Event::Fault(CloseCode::Away, "the simulator stops".to_owned()),
                turn = turn(&mut self.stream, sending.is_some(), listen) => turn,
                () = sleep_until(sending.unwrap_or_else(Instant::now) + SLOW), if sending.is_some() => break,
                _ = self.beat.tick() => {
                    // One that is being spoken to is not asked.
                    if sending.is_none() {
                        self.unanswered += 1;
                        self.put_message(Message::Ping(Bytes::new()));
                        self.over |= self.unanswered > UNANSWERED;
                    }
                    continue;
                }
            };
            match turn {
                Turn::Flushed(Ok(())) => {
                    self.sending = None;
                    return Event::Sent;
                }
                Turn::Flushed(Err(_)) | Turn::Heard(None) => self.over = true,
                Turn::Heard(Some(Err(error))) => {
                    self.over = true;
                    if let Some((code, why)) = fault(&error) {
                        return Event::Fault(code, why);
                    }
                }
                Turn::Heard(Some(Ok(message))) => {
                    self.unanswered = 0;
                    if let Some(said) = said(message) {
                        return Event::Said(said);
                    }
                }
            }
        }
        self.over = true;
        Event::Over
    }

    /// Says a text.
    pub(crate) async fn send(&mut self, text: impl Into<Utf8Bytes>) -> Result<(), Gone> {
        self.send_message(Message::Text(text.into())).await
    }

    /// Says why it ends, and ends.
    pub(crate) async fn close(&mut self, code: CloseCode, reason: &str) {
        self.over = true;
        let frame = CloseFrame { code, reason: reason.into() };
        let farewell = async {
            self.stream.close(Some(frame)).await?;
            // What is still coming is read, or hanging up would take the farewell back. After an error
            // that is not frames any more.
            while let Some(Ok(_)) = self.stream.next().await {}
            let line = self.stream.get_mut();
            line.shutdown().await?;
            tokio::io::copy(line, &mut tokio::io::sink()).await?;
            Ok::<_, Error>(())
        };
        let _ = timeout(LAST_WORDS, farewell).await;
    }

    async fn send_message(&mut self, message: Message) -> Result<(), Gone> {
        if self.over {
            return Err(Gone);
        }
        let sent = tokio::select! {
            sent = timeout(STUCK, self.stream.send(message)) => matches!(sent, Ok(Ok(()))),
            () = self.simulator.ended() => false,
        };
        self.over |= !sent;
        if sent { Ok(()) } else { Err(Gone) }
    }

    /// Asks whether the peer is still there.
    async fn ping(&mut self) {
        self.unanswered += 1;
        if self.unanswered > UNANSWERED {
            self.over = true;
        }
        // One that can't be asked is over too.
        let _ = self.send_message(Message::Ping(Bytes::new())).await;
    }
}

/// Sends what is to be sent and hears what comes, whichever is first.
async fn turn(stream: &mut WebSocketStream<TokioIo<Upgraded>>, sending: bool, listen: bool) -> Turn {
    std::future::poll_fn(|cx| {
        if sending && let Poll::Ready(done) = stream.poll_flush_unpin(cx) {
            return Poll::Ready(Turn::Flushed(done));
        }
        if listen { stream.poll_next_unpin(cx).map(Turn::Heard) } else { Poll::Pending }
    })
    .await
}

/// What a peer says to us. The library answers pings, and a close when it is asked for more.
fn said(message: Message) -> Option<Said> {
    match message {
        Message::Text(text) => Some(Said::Text(text)),
        Message::Binary(bytes) => Some(Said::Binary(bytes)),
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => None,
    }
}

/// What a peer is told that broke the rules; nothing if it is gone.
fn fault(error: &Error) -> Option<(CloseCode, String)> {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { max_size, .. }) => {
            Some((CloseCode::Size, format!("a message may have up to {max_size} bytes")))
        }
        Error::Utf8(_) => Some((CloseCode::Invalid, "this is no text".to_owned())),
        Error::Protocol(
            ProtocolError::ResetWithoutClosingHandshake
            | ProtocolError::ReceivedAfterClosing
            | ProtocolError::SendAfterClosing,
        ) => None,
        // A reason has up to 123 bytes; these are all short.
        Error::Protocol(why) => Some((CloseCode::Protocol, why.to_string())),
        _ => None,
    }
}
