//! The stream between a client and the HTTP library `hyper`. It adds four features to the library.
//!
//! - `hyper` responds to an invalid or too large request head by itself, without a body. The stream
//!   replaces that response with an error response with a JSON body.
//! - `hyper` ignores `#` in the target of a request and the text after it. The stream makes such a
//!   request invalid if its request line arrives in one piece, so that no handler gets the
//!   shortened target.
//! - The head of a request must be complete within [`HEAD_TIMEOUT`]. Between requests a connection
//!   may be idle much longer.
//! - [`Peer`] detects that a client has closed its side, even if received bytes are still unread.

use chicane_pace::VirtualStream;
use chicane_wire::{ErrorBody, ErrorCode};
use socket2::SockRef;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Shutdown};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Longest time from the first byte to the last byte of a request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The state of a connection. The request handler updates the state, and the stream reads it.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    /// Number of requests whose head was read.
    pub(crate) requests: AtomicU64,
    /// Number of responses that were passed to `hyper`.
    pub(crate) responses: AtomicU64,
    /// Whether the connection became a WebSocket. After that, its bytes are no longer requests.
    pub(crate) upgraded: AtomicBool,
}

/// A connection.
#[derive(Debug)]
pub(crate) enum Connection {
    /// A socket.
    Tcp(TcpStream),
    /// A connection of a student's program in virtual time.
    Virtual(VirtualStream),
}

impl Connection {
    /// Reads the bytes that have arrived.
    fn read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let stream = match self {
            Connection::Tcp(stream) => stream,
            Connection::Virtual(stream) => return stream.poll_read(cx, buf),
        };
        loop {
            ready!(stream.poll_read_ready(cx))?;
            match stream.try_read_buf(buf) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done.map(drop)),
            }
        }
    }

    /// Writes as many bytes as the send buffer can take.
    fn write(&self, cx: &mut Context<'_>, bufs: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let stream = match self {
            Connection::Tcp(stream) => stream,
            Connection::Virtual(stream) => return stream.poll_write(cx, bufs),
        };
        loop {
            ready!(stream.poll_write_ready(cx))?;
            match stream.try_write_vectored(bufs) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }
}

/// The client at the other end of a connection.
#[derive(Debug, Clone)]
pub struct Peer(Arc<Connection>);

impl Peer {
    pub(crate) fn new(connection: Connection) -> Peer {
        Peer(Arc::new(connection))
    }

    /// The address of the client. `None` if the connection has ended, or if the client is a
    /// student's program in virtual time.
    pub fn address(&self) -> Option<IpAddr> {
        match &*self.0 {
            Connection::Tcp(stream) => stream.peer_addr().ok().map(|address| address.ip()),
            Connection::Virtual(_) => None,
        }
    }

    /// Marks that the connection became a WebSocket. Only a connection in virtual time needs this
    /// mark: from then on, the time keeper expects a message to the client at any tick.
    pub(crate) fn set_upgraded(&self) {
        if let Connection::Virtual(stream) = &*self.0 {
            stream.set_upgraded();
        }
    }

    /// Waits until the client has closed its side of the connection. Bytes that the client sent
    /// before may still be unread.
    pub async fn disconnected(&self) {
        let stream = match &*self.0 {
            Connection::Tcp(stream) => stream,
            Connection::Virtual(stream) => return poll_fn(|cx| stream.poll_ended(cx)).await,
        };
        // This waits for the system's event for urgent data, which tokio also reports when the
        // client closes its side. HTTP clients send no urgent data.
        #[cfg(target_os = "linux")]
        let _ = stream.ready(Interest::PRIORITY).await;
        #[cfg(not(target_os = "linux"))]
        while stream.ready(Interest::READABLE).await.is_ok_and(|ready| !ready.is_read_closed()) {
            // Unread bytes keep the socket readable, so `ready` returns at once. Therefore this
            // loop polls.
            sleep(Duration::from_millis(50)).await;
        }
    }
}

impl chicane_bridge::Peer for Peer {
    fn disconnected(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Peer::disconnected(self))
    }
}

/// The stream of one client.
pub(crate) struct ClientStream {
    connection: Arc<Connection>,
    state: Arc<ConnectionState>,
    /// For an incomplete head: the value of [`ConnectionState::requests`] when the head began, and
    /// the timeout of the head. The head is complete once `requests` is greater.
    partial_head: Option<(u64, Pin<Box<Sleep>>)>,
    /// A response that replaces a response of `hyper`, and how many bytes of the replacement were
    /// written.
    replacement: Option<(Vec<u8>, usize)>,
}

impl ClientStream {
    pub(crate) fn new(peer: &Peer, state: Arc<ConnectionState>) -> ClientStream {
        ClientStream { connection: Arc::clone(&peer.0), state, partial_head: None, replacement: None }
    }

    /// Whether a part of a head has arrived and the rest is missing.
    fn in_head(&self) -> bool {
        self.partial_head.as_ref().is_some_and(|(before, _)| self.state.requests.load(Relaxed) == *before)
    }

    /// Whether the next byte begins a request head: no request is being handled, no part of a head
    /// has arrived, and the connection is not a WebSocket.
    fn is_at_start(&self) -> bool {
        let requests = self.state.requests.load(Relaxed);
        let at_start = requests == self.state.responses.load(Relaxed) && !self.in_head();
        at_start && !self.state.upgraded.load(Relaxed)
    }

    /// Starts the timeout of an incomplete head.
    fn start_head_timeout(&mut self) {
        let requests = self.state.requests.load(Relaxed);
        self.partial_head = Some((requests, Box::pin(sleep(HEAD_TIMEOUT))));
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match self.connection.read(cx, buf) {
            Poll::Ready(done) => {
                let new = &mut buf.filled_mut()[before..];
                if !new.is_empty() && self.is_at_start() {
                    invalidate_fragment(new);
                    if !is_complete_head(new) {
                        self.start_head_timeout();
                    }
                }
                Poll::Ready(done)
            }
            Poll::Pending => {
                if !self.in_head() {
                    return Poll::Pending;
                }
                let Some((_, timer)) = &mut self.partial_head else { return Poll::Pending };
                ready!(timer.as_mut().poll(cx));
                let response = error_response(
                    "408 Request Timeout",
                    ErrorCode::RequestTimeout,
                    "the head of the request did not arrive within 10 s",
                );
                // The connection is closed even if this write fails.
                let _ = self.connection.write(cx, &[io::IoSlice::new(&response)]);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.replacement.is_none() {
            match replacement_for(bytes) {
                None => return self.connection.write(cx, &[io::IoSlice::new(bytes)]),
                Some(response) => self.replacement = Some((response, 0)),
            }
        }
        let ClientStream { connection, replacement, .. } = &mut *self;
        while let Some((response, done)) = replacement {
            let rest = &response[*done..];
            if rest.is_empty() {
                *replacement = None;
                break;
            }
            *done += ready!(connection.write(cx, &[io::IoSlice::new(rest)]))?;
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = bufs {
            return self.poll_write(cx, only);
        }
        self.connection.write(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &*self.connection {
            Connection::Tcp(stream) => Poll::Ready(SockRef::from(stream).shutdown(Shutdown::Write)),
            Connection::Virtual(stream) => {
                stream.shutdown();
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// Whether bytes contain the end of a head. Most heads arrive in one piece and need no timeout.
fn is_complete_head(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|w| w == b"\r\n\r\n")
}

/// Replaces `#` in the target of a request line with a zero byte, so that `hyper` refuses the
/// request.
fn invalidate_fragment(bytes: &mut [u8]) {
    if !bytes.first().is_some_and(u8::is_ascii_uppercase) {
        return;
    }
    let end = bytes.iter().position(|&b| b == b'\r' || b == b'\n').unwrap_or(bytes.len());
    let line = &mut bytes[..end];
    let is_request = line.windows(8).any(|w| w == b" HTTP/1.");
    let in_target = line.iter().position(|&b| b == b'#');
    if let Some(at) = in_target.filter(|_| is_request) {
        line[at] = 0;
    }
}

/// The response that replaces a response of `hyper` to an invalid request. `None` if `bytes` are
/// another response. Responses of the server's own handlers have the header
/// `x-content-type-options`, which `hyper` itself does not send.
fn replacement_for(bytes: &[u8]) -> Option<Vec<u8>> {
    if !bytes.starts_with(b"HTTP/1.") || bytes.len() > 200 || !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let head = std::str::from_utf8(bytes).ok()?.to_ascii_lowercase();
    if !head.contains("content-length: 0\r\n") || head.contains("x-content-type-options") {
        return None;
    }
    match head.get(9..12)? {
        "400" => Some(error_response(
            "400 Bad Request",
            ErrorCode::InvalidRequest,
            "this is not a valid HTTP/1.1 request",
        )),
        "414" => Some(error_response(
            "414 URI Too Long",
            ErrorCode::TooLarge,
            "the address of the request is too long",
        )),
        "431" => Some(error_response(
            "431 Request Header Fields Too Large",
            ErrorCode::TooLarge,
            "the head of the request is larger than 32 KiB, has more than 100 headers, or an invalid length",
        )),
        _ => None,
    }
}

/// A complete error response. It tells the client that the connection will be closed.
pub(crate) fn error_response(status: &str, code: ErrorCode, text: &str) -> Vec<u8> {
    let body = ErrorBody { error: text.to_owned(), code };
    let body = serde_json::to_string(&body).unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_request_lines_with_a_fragment_are_invalidated() {
        let is_changed = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            invalidate_fragment(&mut bytes);
            bytes != text.as_bytes()
        };
        assert!(is_changed("GET /sim/api/status#x HTTP/1.1\r\nHost: a\r\n\r\n"));
        for fine in ["GET /x HTTP/1.1\r\nX: #\r\n\r\n", "{\"text\": \"#1\"}", "A #1 in a body", ""] {
            assert!(!is_changed(fine), "{fine}");
        }
    }

    #[test]
    fn only_errors_of_the_library_are_replaced() {
        let bare = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: Sun, 15 Nov 2026 05:05:01 GMT\r\n\r\n";
        let response = String::from_utf8(replacement_for(bare).expect("replaced")).expect("text");
        assert!(response.contains("\r\n\r\n{\"error\":"), "{response}");
        assert!(replacement_for(response.as_bytes()).is_none());
        assert!(replacement_for(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").is_none());
    }
}
