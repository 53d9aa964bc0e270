//! An open WebSocket: messages, pings, and the closing handshake.
//!
//! A task owns a [`Socket`]. The socket pings its peer, detects that the peer is gone, limits its
//! send buffer, and ends when the simulator stops. A task that alternates between sending and
//! receiving uses [`Socket::next`] and [`Socket::send`]. A task that sends and receives at the same
//! time uses [`Socket::start_send`] and [`Socket::next_event`].

use bytes::Bytes;
use chicane_host::driver::Simulator;
use futures_util::{SinkExt, StreamExt};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

/// Time between two pings.
const PING_INTERVAL: Duration = Duration::from_secs(3);
/// Maximum number of pings without a message from the peer. If the next ping becomes due without a
/// message, the peer counts as gone.
const MAX_UNANSWERED_PINGS: u32 = 3;
/// Timeout for sending a message with [`Socket::send`].
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for a message of [`Socket::start_send`]. It is longer than [`SEND_TIMEOUT`], because the
/// caller does not wait while the message is being sent.
const BACKGROUND_SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of the closing handshake. It is short, because the simulator may be stopping.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

fn ping_timer() -> Interval {
    let mut timer = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    timer
}

/// The byte stream of a connection that was upgraded to a WebSocket.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// The client at the other end of a connection.
pub trait Peer: Send + Sync {
    /// Waits until the client has closed its side of the connection. Bytes that the client sent
    /// before may not have been read yet.
    fn disconnected(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Largest sizes of messages, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketLimits {
    /// Largest received message.
    pub max_message: usize,
    /// Size of the send buffer. The buffer limits the largest sent message.
    pub max_sent: usize,
}

/// A message from a peer or to a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketMessage {
    /// A text message.
    Text(Utf8Bytes),
    /// A binary message.
    Binary(Bytes),
}

impl From<Utf8Bytes> for SocketMessage {
    fn from(text: Utf8Bytes) -> SocketMessage {
        SocketMessage::Text(text)
    }
}

impl From<SocketMessage> for Message {
    fn from(message: SocketMessage) -> Message {
        match message {
            SocketMessage::Text(text) => Message::Text(text),
            SocketMessage::Binary(bytes) => Message::Binary(bytes),
        }
    }
}

/// Result of [`Socket::next_event`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketEvent {
    /// The peer sent a message.
    Received(SocketMessage),
    /// The message of [`Socket::start_send`], or a ping of the socket, was written to the
    /// connection.
    Sent,
    /// The caller must close the socket with this code and reason.
    MustClose(CloseCode, String),
    /// The connection has ended.
    Ended,
}

/// The result of one step of the underlying stream: a message was flushed, or a message was
/// received.
enum StreamStep {
    Flushed(Result<(), Error>),
    Received(Option<Result<Message, Error>>),
}

/// A message was not sent: the peer is gone or did not read the message in time, or the simulator
/// is stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerGone;

/// An open socket.
pub struct Socket {
    stream: WebSocketStream<Box<dyn ByteStream>>,
    peer: Option<Box<dyn Peer>>,
    simulator: Simulator,
    ping_timer: Interval,
    /// Number of pings since the last message from the peer.
    unanswered_pings: u32,
    /// Time when the sending of the current message or ping started. `None` if nothing is being
    /// sent.
    sending_since: Option<Instant>,
    /// Whether the connection has ended. Nothing is read or sent any more.
    ended: bool,
}

impl Socket {
    /// Creates a socket from a connection after the handshake. If `peer` is `None`,
    /// [`Socket::next_if`] does not notice the end of the connection while it reads nothing.
    pub async fn new(
        connection: Box<dyn ByteStream>,
        peer: Option<Box<dyn Peer>>,
        simulator: Simulator,
        limits: SocketLimits,
    ) -> Socket {
        let config = WebSocketConfig::default()
            .read_buffer_size(16 << 10)
            .write_buffer_size(0)
            .max_write_buffer_size(limits.max_sent)
            .max_message_size(Some(limits.max_message))
            .max_frame_size(Some(limits.max_message));
        let stream = WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await;
        Socket {
            stream,
            peer,
            simulator,
            ping_timer: ping_timer(),
            unanswered_pings: 0,
            sending_since: None,
            ended: false,
        }
    }

    /// The next message from the peer. `None` when the connection has ended. If this future is
    /// dropped, no message is lost.
    pub async fn next(&mut self) -> Option<SocketMessage> {
        while !self.ended {
            let message = tokio::select! {
                biased;
                () = self.simulator.ended() => {
                    self.close(CloseCode::Away, "the simulator is stopping").await;
                    break;
                }
                message = self.stream.next() => message,
                _ = self.ping_timer.tick() => {
                    self.ping().await;
                    continue;
                }
            };
            match message {
                None => self.ended = true,
                Some(Err(error)) => match close_reason(&error) {
                    Some((code, reason)) => self.close(code, &reason).await,
                    None => self.ended = true,
                },
                Some(Ok(message)) => {
                    self.unanswered_pings = 0;
                    if let Some(message) = data_message(message) {
                        return Some(message);
                    }
                }
            }
        }
        None
    }

    /// Same as [`Socket::next`] if `read` is true. Otherwise nothing is read, and the result is
    /// `None` once the peer has closed its side. If the socket has no [`Peer`], a call that reads
    /// nothing waits forever. While nothing is read, no pings are sent. Instead, the TCP keep-alive
    /// of the listener detects a vanished peer, on Linux within about a minute.
    pub async fn next_if(&mut self, read: bool) -> Option<SocketMessage> {
        match &self.peer {
            Some(peer) if !read => {
                peer.disconnected().await;
                None
            }
            None if !read => std::future::pending().await,
            _ => self.next().await,
        }
    }

    /// Whether [`Socket::start_send`] may be called. It may not be called while a message is being
    /// sent.
    pub fn can_send(&self) -> bool {
        self.sending_since.is_none()
    }

    /// Starts to send a message. [`Socket::next_event`] continues to send it. Only one message can
    /// be sent at a time, see [`Socket::can_send`].
    pub fn start_send(&mut self, message: impl Into<SocketMessage>) {
        self.start_send_message(message.into().into());
    }

    fn start_send_message(&mut self, message: Message) {
        match self.stream.start_send_unpin(message) {
            Ok(()) => self.sending_since = Some(Instant::now()),
            Err(_) => self.ended = true,
        }
    }

    /// Waits for the next event. The message of [`Socket::start_send`] is sent meanwhile. Messages
    /// from the peer are read only if `read` is true. If this future is dropped, no message is
    /// lost.
    pub async fn next_event(&mut self, read: bool) -> SocketEvent {
        while !self.ended {
            let since = self.sending_since;
            let deadline = since.unwrap_or_else(Instant::now) + BACKGROUND_SEND_TIMEOUT;
            let step = tokio::select! {
                biased;
                () = self.simulator.ended() => {
                    return SocketEvent::MustClose(CloseCode::Away, "the simulator is stopping".to_owned());
                }
                step = next_step(&mut self.stream, since.is_some(), read) => step,
                () = sleep_until(deadline), if since.is_some() => break,
                _ = self.ping_timer.tick() => {
                    // No ping is needed while a message is being sent, because the timeout of that
                    // message detects a dead peer.
                    if since.is_none() {
                        self.unanswered_pings += 1;
                        self.start_send_message(Message::Ping(Bytes::new()));
                        self.ended |= self.unanswered_pings > MAX_UNANSWERED_PINGS;
                    }
                    continue;
                }
            };
            match step {
                StreamStep::Flushed(Ok(())) => {
                    self.sending_since = None;
                    return SocketEvent::Sent;
                }
                StreamStep::Flushed(Err(_)) | StreamStep::Received(None) => self.ended = true,
                StreamStep::Received(Some(Err(error))) => {
                    self.ended = true;
                    if let Some((code, reason)) = close_reason(&error) {
                        return SocketEvent::MustClose(code, reason);
                    }
                }
                StreamStep::Received(Some(Ok(message))) => {
                    self.unanswered_pings = 0;
                    if let Some(message) = data_message(message) {
                        return SocketEvent::Received(message);
                    }
                }
            }
        }
        self.ended = true;
        SocketEvent::Ended
    }

    /// Sends a text message. Waits until the message is written to the connection.
    pub async fn send(&mut self, text: impl Into<Utf8Bytes>) -> Result<(), PeerGone> {
        self.send_message(Message::Text(text.into())).await
    }

    /// Closes the connection with a code and a reason.
    pub async fn close(&mut self, code: CloseCode, reason: &str) {
        self.ended = true;
        let frame = CloseFrame { code, reason: reason.into() };
        let handshake = async {
            self.stream.close(Some(frame)).await?;
            // All received bytes are read before the socket is closed. Otherwise the system would
            // reset the connection, and the peer might not get the close frame. After an error the
            // rest is read without parsing, because it need not consist of valid frames.
            while let Some(Ok(_)) = self.stream.next().await {}
            let connection = self.stream.get_mut();
            connection.shutdown().await?;
            tokio::io::copy(connection, &mut tokio::io::sink()).await?;
            Ok::<_, Error>(())
        };
        let _ = timeout(CLOSE_TIMEOUT, handshake).await;
    }

    async fn send_message(&mut self, message: Message) -> Result<(), PeerGone> {
        if self.ended {
            return Err(PeerGone);
        }
        let sent = tokio::select! {
            sent = timeout(SEND_TIMEOUT, self.stream.send(message)) => matches!(sent, Ok(Ok(()))),
            () = self.simulator.ended() => false,
        };
        self.ended |= !sent;
        if sent { Ok(()) } else { Err(PeerGone) }
    }

    /// Sends a ping. The socket ends if too many pings were unanswered, or if this ping can't be
    /// sent.
    async fn ping(&mut self) {
        self.unanswered_pings += 1;
        if self.unanswered_pings > MAX_UNANSWERED_PINGS {
            self.ended = true;
        }
        let _ = self.send_message(Message::Ping(Bytes::new())).await;
    }
}

/// Flushes the stream if a message is being sent. Reads a message if `read` is true. Returns the
/// step that is ready first.
async fn next_step(
    stream: &mut WebSocketStream<Box<dyn ByteStream>>,
    is_sending: bool,
    read: bool,
) -> StreamStep {
    std::future::poll_fn(|cx| {
        if is_sending && let Poll::Ready(done) = stream.poll_flush_unpin(cx) {
            return Poll::Ready(StreamStep::Flushed(done));
        }
        if read { stream.poll_next_unpin(cx).map(StreamStep::Received) } else { Poll::Pending }
    })
    .await
}

/// Converts a message for the caller. `None` for control frames, because the WebSocket library
/// answers pings and close frames by itself while the stream is read.
fn data_message(message: Message) -> Option<SocketMessage> {
    match message {
        Message::Text(text) => Some(SocketMessage::Text(text)),
        Message::Binary(bytes) => Some(SocketMessage::Binary(bytes)),
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => None,
    }
}

/// The code and reason of the close frame for a peer that violated the protocol. `None` if the
/// connection itself has ended.
fn close_reason(error: &Error) -> Option<(CloseCode, String)> {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { max_size, .. }) => {
            Some((CloseCode::Size, format!("a message may have up to {max_size} bytes")))
        }
        Error::Utf8(_) => Some((CloseCode::Invalid, "a text message must be UTF-8".to_owned())),
        Error::Protocol(
            ProtocolError::ResetWithoutClosingHandshake
            | ProtocolError::ReceivedAfterClosing
            | ProtocolError::SendAfterClosing,
        ) => None,
        // A reason may have up to 123 bytes. All texts of the library are shorter.
        Error::Protocol(violation) => Some((CloseCode::Protocol, violation.to_string())),
        _ => None,
    }
}
