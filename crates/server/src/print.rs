//! Prints of floors as downloads: made on a thread of their own, sent while they are made.
//!
//! A print can take half a minute of a core and have hundreds of megabytes. So there is one at a time, on
//! half of the cores; some may wait for their turn. What is made waits in a small channel for its reader;
//! with the reader the channel goes, and with the channel the print.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use chicane_render::Print;
use futures_util::stream::unfold;
use std::io::{Error, ErrorKind, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

/// Prints that may be asked for at a time: one is made, the others wait.
const PLACES: usize = 8;
/// Nobody waits longer for a turn.
const PATIENCE: Duration = Duration::from_secs(120);
/// A reader that takes nothing for this long loses its turn.
const STALLED: Duration = Duration::from_secs(30);
/// Bytes that are sent at a time.
const PIECE: usize = 64 << 10;
/// Pieces that wait for their reader.
const PIECES: usize = 4;
/// After so many bytes it is looked whether the reader is still there.
const LOOK: usize = 1 << 10;

/// Who is printing, and who waits.
pub(crate) struct Prints {
    places: Arc<Semaphore>,
    turn: Arc<Semaphore>,
}

/// The right to make a print; whoever waits gets it next.
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

/// Too many prints are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy;

impl Default for Prints {
    fn default() -> Prints {
        Prints { places: Arc::new(Semaphore::new(PLACES)), turn: Arc::new(Semaphore::new(1)) }
    }
}

impl Prints {
    /// Waits for a turn, if there is a place to wait.
    pub(crate) async fn turn(&self) -> Result<Turn, Busy> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Busy)?;
        let turn = timeout(PATIENCE, Arc::clone(&self.turn).acquire_owned()).await;
        let turn = turn.map_err(|_| Busy)?.map_err(|_| Busy)?;
        Ok(Turn { _place: place, _turn: turn })
    }
}

/// A part of a file on its way out.
enum Piece {
    Bytes(Bytes),
    End,
}

/// The print as the body of an answer; it is made while it is read. Its turn ends with it.
pub(crate) fn body(print: Print, turn: Turn) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES);
    let pipe = Pipe { sender, runtime: Handle::current(), bytes: BytesMut::new(), unseen: 0 };
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        if let Err(error) = make(&print, pipe) {
            tracing::debug!(%error, "a print was not taken to its end");
        }
    });
    Body::from_stream(unfold(Some(receiver), |receiver| async move {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Piece::Bytes(bytes)) => Some((Ok(bytes), Some(receiver))),
            Some(Piece::End) => None,
            // A torn file must not look like a whole one.
            None => Some((Err(Error::other("the print broke off")), None)),
        }
    }))
}

fn make(print: &Print, mut pipe: Pipe) -> Result<(), Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads((cores / 2).max(1)).build();
    let pool = pool.map_err(Error::other)?;
    pool.install(|| print.write_jpeg(&mut pipe))?;
    pipe.flush()?;
    pipe.send(Piece::End)
}

/// Puts bytes into pieces, and pieces into the channel.
struct Pipe {
    sender: mpsc::Sender<Piece>,
    runtime: Handle,
    bytes: BytesMut,
    /// Bytes since the reader was last seen.
    unseen: usize,
}

impl Pipe {
    /// Waits while the channel is full; fails when nobody reads any more.
    fn send(&self, piece: Piece) -> Result<(), Error> {
        let sent = self.runtime.block_on(async { timeout(STALLED, self.sender.send(piece)).await });
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(ErrorKind::BrokenPipe.into()),
            Err(_) => Err(ErrorKind::TimedOut.into()),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.unseen += bytes.len();
        if self.unseen > LOOK {
            self.unseen = 0;
            if self.sender.is_closed() {
                return Err(ErrorKind::BrokenPipe.into());
            }
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let piece = self.bytes.split().freeze();
        self.bytes.reserve(PIECE + 64);
        self.send(Piece::Bytes(piece))
    }
}
