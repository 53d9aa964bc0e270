//! A connection as the HTTP library sees it, with four things that the library does not do.
//!
//! - Errors that the library answers by itself (a head that is not HTTP, or too large) come without
//!   a body. Here they get one, in the envelope of all errors.
//! - `#` in the target of a request is cut off by the library, and with it what follows. Here
//!   such a request becomes one that is not HTTP.
//! - A head that was begun must be complete within [`HEAD_TIME`]; between requests a
//!   connection may rest much longer.
//! - A peer that hangs up is noticed also behind bytes that nobody has read yet, through [`Peer`].

use chicane_wire::{ErrorBody, ErrorCode};
use socket2::SockRef;
use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A head that was begun must be complete by then.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How many requests of a connection were taken up, how many answered, and what it speaks.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) requests: AtomicU64,
    pub(super) answers: AtomicU64,
    /// The connection speaks another protocol from here on: nothing in it is a request.
    pub(super) upgraded: AtomicBool,
}

/// The other end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer(Arc<TcpStream>);

impl Peer {
    pub(super) fn new(stream: TcpStream) -> Peer {
        Peer(Arc::new(stream))
    }

    /// Waits until it sends nothing more: it hung up, or is gone. What it sent before may still be there
    /// to read.
    pub(crate) async fn hung_up(&self) {
        // Nobody asked for urgent bytes, so that there is but one thing that this can mean.
        #[cfg(target_os = "linux")]
        let _ = self.0.ready(Interest::PRIORITY).await;
        #[cfg(not(target_os = "linux"))]
        while self.0.ready(Interest::READABLE).await.is_ok_and(|ready| !ready.is_read_closed()) {
            // There are bytes that nobody reads at the moment.
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A connection.
pub(super) struct Line {
    stream: Arc<TcpStream>,
    progress: Arc<Progress>,
    /// A head was begun after so many requests, and must be complete by then.
    begun: Option<(u64, Pin<Box<Sleep>>)>,
    /// What is to be written instead of a bare error, and how much of it was.
    instead: Option<(Vec<u8>, usize)>,
}

impl Line {
    pub(super) fn new(peer: &Peer, progress: Arc<Progress>) -> Line {
        Line { stream: Arc::clone(&peer.0), progress, begun: None, instead: None }
    }

    /// Reads what is there.
    fn read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match self.stream.try_read_buf(buf) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done.map(drop)),
            }
        }
    }

    /// Whether a head was begun and is not complete.
    fn in_head(&self) -> bool {
        self.begun.as_ref().is_some_and(|(after, _)| self.progress.requests.load(Relaxed) == *after)
    }

    /// Whether no request is in work and none has begun: what comes is the start of a head.
    fn is_at_start(&self) -> bool {
        let requests = self.progress.requests.load(Relaxed);
        let at_start = requests == self.progress.answers.load(Relaxed) && !self.in_head();
        at_start && !self.progress.upgraded.load(Relaxed)
    }

    /// A head begins that is not complete.
    fn begin(&mut self) {
        let requests = self.progress.requests.load(Relaxed);
        self.begun = Some((requests, Box::pin(sleep(HEAD_TIME))));
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match self.read(cx, buf) {
            Poll::Ready(done) => {
                let new = &mut buf.filled_mut()[before..];
                if !new.is_empty() && self.is_at_start() {
                    spoil_fragment(new);
                    if !is_whole_head(new) {
                        self.begin();
                    }
                }
                Poll::Ready(done)
            }
            Poll::Pending => {
                if !self.in_head() {
                    return Poll::Pending;
                }
                let Some((_, timer)) = &mut self.begun else { return Poll::Pending };
                ready!(timer.as_mut().poll(cx));
                let answer = bare_error(
                    "408 Request Timeout",
                    ErrorCode::RequestTimeout,
                    "the head of the request did not come within 10 s",
                );
                // The connection ends either way.
                let _ = self.stream.try_write(&answer);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.instead.is_none() {
            match instead_of(bytes) {
                None => return write(&self.stream, cx, &[io::IoSlice::new(bytes)]),
                Some(answer) => self.instead = Some((answer, 0)),
            }
        }
        let Line { stream, instead, .. } = &mut *self;
        while let Some((answer, done)) = instead {
            let rest = &answer[*done..];
            if rest.is_empty() {
                *instead = None;
                break;
            }
            *done += ready!(write(stream, cx, &[io::IoSlice::new(rest)]))?;
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
        write(&self.stream, cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&*self.stream).shutdown(Shutdown::Write))
    }
}

/// Writes as much as there is room for.
fn write(stream: &TcpStream, cx: &mut Context<'_>, bufs: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match stream.try_write_vectored(bufs) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
    }
}

/// Most requests come in one piece.
fn is_whole_head(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|w| w == b"\r\n\r\n")
}

/// Makes a request line with `#` in its target one that can't be read.
fn spoil_fragment(bytes: &mut [u8]) {
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

/// What to write instead of an error of the HTTP library's own. Our own answers all have more
/// headers than those.
fn instead_of(bytes: &[u8]) -> Option<Vec<u8>> {
    if !bytes.starts_with(b"HTTP/1.") || bytes.len() > 200 || !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let head = std::str::from_utf8(bytes).ok()?.to_ascii_lowercase();
    if !head.contains("content-length: 0\r\n") || head.contains("x-content-type-options") {
        return None;
    }
    match head.get(9..12)? {
        "400" => Some(bare_error(
            "400 Bad Request",
            ErrorCode::InvalidRequest,
            "this is not a valid HTTP/1.1 request",
        )),
        "414" => Some(bare_error(
            "414 URI Too Long",
            ErrorCode::TooLarge,
            "the address of the request is too long",
        )),
        "431" => Some(bare_error(
            "431 Request Header Fields Too Large",
            ErrorCode::TooLarge,
            "the head of the request is larger than 32 KiB, has over 100 headers, or a length no body has",
        )),
        _ => None,
    }
}

/// A whole answer, after which the connection ends.
pub(super) fn bare_error(status: &str, code: ErrorCode, text: &str) -> Vec<u8> {
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
    fn only_request_lines_with_a_fragment_are_spoilt() {
        let spoilt = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            spoil_fragment(&mut bytes);
            bytes != text.as_bytes()
        };
        assert!(spoilt("GET /sim/api/status#x HTTP/1.1\r\nHost: a\r\n\r\n"));
        for fine in ["GET /x HTTP/1.1\r\nX: #\r\n\r\n", "{\"text\": \"#1\"}", "A #1 in a body", ""] {
            assert!(!spoilt(fine), "{fine}");
        }
    }

    #[test]
    fn bare_errors_get_the_envelope_and_our_own_answers_pass() {
        let bare = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: Sun, 15 Nov 2026 05:05:01 GMT\r\n\r\n";
        let answer = String::from_utf8(instead_of(bare).expect("replaced")).expect("text");
        assert!(answer.contains("\r\n\r\n{\"error\":"), "{answer}");
        assert!(instead_of(answer.as_bytes()).is_none());
        assert!(instead_of(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").is_none());
    }
}
