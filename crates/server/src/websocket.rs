//! WebSockets: from a request to an open socket, and how one ends.
//!
//! A handler takes an [`Upgrade`], which has checked the handshake, and answers with
//! [`Upgrade::run`]. What it gives runs beside the connection with a [`Socket`] that pings its
//! peer, notices when that is gone, bounds what it sends, and ends with the simulator.

use crate::app::App;
use crate::listen::Peer;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

/// Sockets that may be open at a time.
pub(crate) const MAX_SOCKETS: usize = 256;
/// Largest message, unless a path takes larger ones.
pub(crate) const MAX_MESSAGE: usize = 64 << 10;
/// A peer is asked this often whether it is still there.
const PING: Duration = Duration::from_secs(3);
/// A peer that was asked so often and said nothing is gone.
const UNANSWERED: u32 = 3;
/// A peer that takes nothing for this long is gone too.
const STUCK: Duration = Duration::from_secs(5);
/// Last words have this long, and no longer: the simulator may be stopping.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Why a request does not become a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoSocket {
    /// It does not ask for one.
    #[error("this path is a WebSocket: ask with Connection: Upgrade and Upgrade: websocket")]
    NotAsked,
    /// It asks for a protocol that is not spoken here.
    #[error("Sec-WebSocket-Version must be 13")]
    Version,
    /// It has no key.
    #[error("Sec-WebSocket-Key must be 16 bytes in base64")]
    Key,
    /// Too many are open.
    #[error("too many WebSockets are open; close some and try again")]
    TooMany,
}

impl NoSocket {
    /// Status of the answer.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            NoSocket::NotAsked | NoSocket::Version => StatusCode::UPGRADE_REQUIRED,
            NoSocket::Key => StatusCode::BAD_REQUEST,
            NoSocket::TooMany => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// A header that says what would be right.
    pub(crate) fn hint(self) -> Option<(HeaderName, &'static str)> {
        match self {
            NoSocket::NotAsked => Some((header::UPGRADE, "websocket")),
            NoSocket::Version => Some((header::SEC_WEBSOCKET_VERSION, "13")),
            NoSocket::Key | NoSocket::TooMany => None,
        }
    }
}

/// A request that may become a socket.
pub(crate) struct Upgrade {
    connection: OnUpgrade,
    peer: Option<Peer>,
    accept: String,
    place: OwnedSemaphorePermit,
    max_message: usize,
}

impl FromRequestParts<App> for Upgrade {
    type Rejection = crate::robot::RobotError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Upgrade, Self::Rejection> {
        let key = key(&parts.method, parts.version, &parts.headers)?;
        let accept = derive_accept_key(key.as_bytes());
        let connection = parts.extensions.remove::<OnUpgrade>().ok_or(NoSocket::NotAsked)?;
        let place = app.sockets.clone().try_acquire_owned().map_err(|_| NoSocket::TooMany)?;
        let peer = parts.extensions.remove::<Peer>();
        Ok(Upgrade { connection, peer, accept, place, max_message: MAX_MESSAGE })
    }
}

/// The key of a handshake that is as it should be.
fn key(method: &Method, version: Version, headers: &HeaderMap) -> Result<String, NoSocket> {
    let text = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("").trim();
    let says = |name: HeaderName, word: &str| {
        let values = headers.get_all(name);
        let all = values.iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
        all.into_iter().any(|v| v.trim().eq_ignore_ascii_case(word))
    };
    let upgrade = says(header::CONNECTION, "upgrade") && says(header::UPGRADE, "websocket");
    if method != Method::GET || version != Version::HTTP_11 || !upgrade {
        return Err(NoSocket::NotAsked);
    }
    if text(header::SEC_WEBSOCKET_VERSION) != "13" {
        return Err(NoSocket::Version);
    }
    let key = text(header::SEC_WEBSOCKET_KEY);
    let is_key = key.len() == 24 && key.ends_with("==") && key[..22].bytes().all(is_base64);
    if is_key { Ok(key.to_owned()) } else { Err(NoSocket::Key) }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

impl Upgrade {
    /// Takes messages up to so many bytes.
    pub(crate) fn max_message(mut self, bytes: usize) -> Upgrade {
        self.max_message = bytes;
        self
    }

    /// Answers that the connection is a socket from now on, and runs what speaks over it.
    pub(crate) fn run<F, S>(self, app: &App, speak: F) -> Response
    where
        F: FnOnce(Socket) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let Upgrade { connection, peer, accept, place, max_message } = self;
        let simulator = app.simulator.clone();
        tokio::spawn(async move {
            let _place = place;
            // A client that goes before the answer is nobody's loss.
            let Ok(connection) = connection.await else { return };
            let config = WebSocketConfig::default()
                .read_buffer_size(16 << 10)
                .write_buffer_size(0)
                .max_write_buffer_size(1 << 20)
                .max_message_size(Some(max_message))
                .max_frame_size(Some(max_message));
            let io = TokioIo::new(connection);
            let stream = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
            speak(Socket { stream, peer, simulator, beat: beat(), unanswered: 0, over: false }).await;
        });
        let headers = [
            (header::CONNECTION, "upgrade".to_owned()),
            (header::UPGRADE, "websocket".to_owned()),
            (header::SEC_WEBSOCKET_ACCEPT, accept),
        ];
        (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
    }
}

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

/// The peer is gone, or takes nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

/// An open socket.
pub(crate) struct Socket {
    stream: WebSocketStream<TokioIo<Upgraded>>,
    peer: Option<Peer>,
    simulator: crate::driver::Simulator,
    beat: Interval,
    /// Pings since the peer last said anything.
    unanswered: u32,
    over: bool,
}

impl Socket {
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
                Some(Err(Error::Capacity(CapacityError::MessageTooLong { max_size, .. }))) => {
                    let text = format!("a message may have up to {max_size} bytes");
                    self.close(CloseCode::Size, &text).await;
                }
                Some(Err(Error::Utf8(_))) => self.close(CloseCode::Invalid, "this is no text").await,
                // One that hung up without a word is not there to be told.
                Some(Err(Error::Protocol(error))) if error != ProtocolError::ResetWithoutClosingHandshake => {
                    self.close(CloseCode::Protocol, &error.to_string()).await;
                }
                Some(Err(_)) => self.over = true,
                Some(Ok(message)) => {
                    self.unanswered = 0;
                    match message {
                        Message::Text(text) => return Some(Said::Text(text)),
                        Message::Binary(bytes) => return Some(Said::Binary(bytes)),
                        // The library answers pings, and a close when it is asked for more.
                        Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {}
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
            // What is still coming is read, or hanging up would take the farewell back.
            while let Some(Ok(_)) = self.stream.next().await {}
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

#[cfg(test)]
mod tests {
    use super::*;

    fn handshake(changes: &[(&'static str, &'static str)]) -> Result<String, NoSocket> {
        let mut headers = HeaderMap::new();
        let right = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        for (name, value) in right.iter().chain(changes) {
            headers.insert(*name, value.parse().expect("a value"));
        }
        key(&Method::GET, Version::HTTP_11, &headers)
    }

    #[test]
    fn a_handshake_is_checked() {
        let key = handshake(&[]).expect("a key");
        assert_eq!(derive_accept_key(key.as_bytes()), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(handshake(&[("connection", "close")]), Err(NoSocket::NotAsked));
        assert_eq!(handshake(&[("upgrade", "h2c")]), Err(NoSocket::NotAsked));
        assert_eq!(handshake(&[("sec-websocket-version", "8")]), Err(NoSocket::Version));
        for bad in ["", "short", "dGhlIHNhbXBsZSBub25jZQ=?", "dGhlIHNhb\u{e9}BsZSBub25jZQ=="] {
            assert_eq!(handshake(&[("sec-websocket-key", bad)]), Err(NoSocket::Key), "{bad}");
        }
    }
}
