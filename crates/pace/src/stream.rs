//! A connection of the program, from the web server's point of view.
//!
//! The time keeper moves the bytes between the program's socket and this stream. The server
//! therefore reads requests and delivers answers only at the moments that the time keeper chooses.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::ReadBuf;

/// Maximum number of bytes of one connection that the server has written and the program has not
/// received. At this limit, the server's writes wait.
const MAX_UNSENT: usize = 128 << 10;

#[derive(Debug, Default)]
struct Pipe {
    /// Bytes from the program that the server has not read.
    received: VecDeque<u8>,
    /// Whether the program has closed its side.
    ended: bool,
    /// Bytes from the server that the time keeper has not taken.
    unsent: Vec<u8>,
    /// Number of bytes that the time keeper has taken but not delivered to the program.
    undelivered: usize,
    /// Whether the server has closed its side, or the program can't receive any more bytes.
    closed: bool,
    /// Whether the connection became a WebSocket. False again after the server has dropped its
    /// side.
    upgraded: bool,
    /// Increases when the server reads, writes or closes, so that the time keeper notices that the
    /// server did something. Also increases when the program closes its side.
    changes: u64,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Tasks that wait for the end of the connection.
    watchers: Vec<Waker>,
}

/// The server's side of a connection. The connection is closed when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct VirtualStream {
    end: Arc<ServerEnd>,
}

#[derive(Debug)]
struct ServerEnd {
    pipe: Arc<Mutex<Pipe>>,
    local: SocketAddr,
}

impl Drop for ServerEnd {
    fn drop(&mut self) {
        let mut pipe = lock(&self.pipe);
        pipe.closed = true;
        pipe.upgraded = false;
        pipe.changes += 1;
    }
}

/// The time keeper's side of a connection.
#[derive(Debug)]
pub(crate) struct TimeKeeperEnd {
    pipe: Arc<Mutex<Pipe>>,
}

fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a connection to this address of the server. Returns both ends.
pub(crate) fn connection(local: SocketAddr) -> (VirtualStream, TimeKeeperEnd) {
    let pipe = Arc::<Mutex<Pipe>>::default();
    let end = Arc::new(ServerEnd { pipe: Arc::clone(&pipe), local });
    (VirtualStream { end }, TimeKeeperEnd { pipe })
}

impl VirtualStream {
    /// The address that the program has connected to.
    pub fn local_address(&self) -> SocketAddr {
        self.end.local
    }

    /// Marks that the connection became a WebSocket.
    pub fn set_upgraded(&self) {
        lock(&self.end.pipe).upgraded = true;
    }

    /// Reads bytes from the program.
    pub fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut pipe = lock(&self.end.pipe);
        if pipe.received.is_empty() {
            if pipe.ended {
                return Poll::Ready(Ok(()));
            }
            pipe.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let length = buffer.remaining().min(pipe.received.len());
        let (first, second) = pipe.received.as_slices();
        let part = first.len().min(length);
        buffer.put_slice(&first[..part]);
        buffer.put_slice(&second[..length - part]);
        pipe.received.drain(..length);
        pipe.changes += 1;
        Poll::Ready(Ok(()))
    }

    /// Writes bytes for the program. Waits while too many bytes are undelivered.
    pub fn poll_write(&self, cx: &mut Context<'_>, parts: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let mut pipe = lock(&self.end.pipe);
        if pipe.closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let mut room = MAX_UNSENT.saturating_sub(pipe.unsent.len() + pipe.undelivered);
        if room == 0 {
            pipe.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let mut written = 0;
        for part in parts {
            let length = part.len().min(room);
            pipe.unsent.extend_from_slice(&part[..length]);
            (room, written) = (room - length, written + length);
        }
        pipe.changes += 1;
        Poll::Ready(Ok(written))
    }

    /// Closes the server's side.
    pub fn shutdown(&self) {
        let mut pipe = lock(&self.end.pipe);
        pipe.closed = true;
        pipe.changes += 1;
    }

    /// Ready once the program has closed its side. The server may still have to read earlier bytes.
    pub fn poll_ended(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut pipe = lock(&self.end.pipe);
        if pipe.ended {
            return Poll::Ready(());
        }
        if !pipe.watchers.iter().any(|known| known.will_wake(cx.waker())) {
            pipe.watchers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl TimeKeeperEnd {
    /// Passes bytes from the program to the server.
    pub(crate) fn receive(&self, bytes: &[u8]) {
        let mut pipe = lock(&self.pipe);
        pipe.received.extend(bytes);
        if let Some(reader) = pipe.reader.take() {
            reader.wake();
        }
    }

    /// Number of received bytes that the server has not read.
    pub(crate) fn unread(&self) -> usize {
        lock(&self.pipe).received.len()
    }

    /// Tells the server that the program has closed its side.
    pub(crate) fn end(&self) {
        let mut pipe = lock(&self.pipe);
        pipe.ended = true;
        pipe.changes += 1;
        for waker in pipe.reader.take().into_iter().chain(std::mem::take(&mut pipe.watchers)) {
            waker.wake();
        }
    }

    /// Tells the server that the program can't receive any more bytes.
    pub(crate) fn break_off(&self) {
        self.end();
        let mut pipe = lock(&self.pipe);
        pipe.closed = true;
        pipe.unsent.clear();
        if let Some(writer) = pipe.writer.take() {
            writer.wake();
        }
    }

    /// Takes the bytes that the server has written since the last call.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut pipe = lock(&self.pipe);
        pipe.undelivered += pipe.unsent.len();
        std::mem::take(&mut pipe.unsent)
    }

    /// Notes that taken bytes were delivered, so that the server can write more. Returns whether
    /// the server was waiting for that.
    pub(crate) fn delivered(&self, bytes: usize) -> bool {
        let mut pipe = lock(&self.pipe);
        pipe.undelivered = pipe.undelivered.saturating_sub(bytes);
        let waits = pipe.writer.take();
        waits.map(Waker::wake).is_some()
    }

    /// Whether the server has closed its side, or [`TimeKeeperEnd::break_off`] was called.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.pipe).closed
    }

    /// Whether the connection became a WebSocket that is still open.
    pub(crate) fn is_upgraded(&self) -> bool {
        lock(&self.pipe).upgraded
    }

    /// A number that changes whenever the server reads, writes or closes, or the program closes its
    /// side.
    pub(crate) fn changes(&self) -> u64 {
        lock(&self.pipe).changes
    }
}
