//! Draws the floor prints that clients download.
//!
//! Drawing a print can take half a minute on one core, and its file can have hundreds of megabytes.
//! Therefore one print is drawn at a time, on half of the cores, and a few requests wait in a
//! queue. A blocking thread draws the print and meanwhile sends the file through a bounded channel
//! to the response. When the client disconnects, the receiver is dropped and the thread stops at
//! its next write.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;
use std::io::{Error, ErrorKind, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

/// Largest number of requests at a time, including the request whose print is being drawn.
const MAX_REQUESTS: usize = 8;
/// Longest time that a request waits until the drawing of its print starts.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(120);
/// A print is cancelled if its client does not read for this long.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Size of one chunk of the response, in bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// Largest number of chunks in the channel from the drawing thread to the response.
const CHANNEL_CHUNKS: usize = 4;
/// The writer checks after every `CHECK_BYTES` bytes whether the client is still connected.
const CHECK_BYTES: usize = 1 << 10;

/// Limits how many prints are drawn and how many requests wait.
pub(crate) struct PrintQueue {
    requests: Arc<Semaphore>,
    drawing: Arc<Semaphore>,
}

/// Permission to draw a print. When the permit is dropped, the next request may draw.
pub(crate) struct PrintPermit {
    _request: OwnedSemaphorePermit,
    _drawing: OwnedSemaphorePermit,
}

/// The queue is full, or the wait was too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrintQueueBusy;

impl Default for PrintQueue {
    fn default() -> PrintQueue {
        PrintQueue { requests: Arc::new(Semaphore::new(MAX_REQUESTS)), drawing: Arc::new(Semaphore::new(1)) }
    }
}

impl PrintQueue {
    /// Waits until the caller may draw. Fails at once if the queue is full.
    pub(crate) async fn acquire(&self) -> Result<PrintPermit, PrintQueueBusy> {
        let request = Arc::clone(&self.requests).try_acquire_owned().map_err(|_| PrintQueueBusy)?;
        let drawing = timeout(QUEUE_TIMEOUT, Arc::clone(&self.drawing).acquire_owned()).await;
        let drawing = drawing.map_err(|_| PrintQueueBusy)?.map_err(|_| PrintQueueBusy)?;
        Ok(PrintPermit { _request: request, _drawing: drawing })
    }
}

/// A message from the drawing thread to the response: a part of the file, or the end of the file.
enum Chunk {
    Bytes(Bytes),
    End,
}

/// Returns a response body with a print. A blocking thread calls `draw`, which writes the print,
/// while the body is sent.
pub(crate) fn body(
    permit: PrintPermit,
    draw: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Error> + Send + 'static,
) -> Body {
    let (sender, receiver) = mpsc::channel(CHANNEL_CHUNKS);
    let writer = ChunkWriter { sender, runtime: Handle::current(), bytes: BytesMut::new(), unchecked: 0 };
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        if let Err(error) = send_print(draw, writer) {
            tracing::debug!(%error, "a print was cancelled");
        }
    });
    Body::from_stream(unfold(Some(receiver), |receiver| async move {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Chunk::Bytes(bytes)) => Some((Ok(bytes), Some(receiver))),
            Some(Chunk::End) => None,
            // The thread ended without `End`, so the file is truncated. Without an error, the
            // client would consider the file complete.
            None => Some((Err(Error::other("the print was cancelled")), None)),
        }
    }))
}

fn send_print(
    draw: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Error> + Send,
    mut writer: ChunkWriter,
) -> Result<(), Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads((cores / 2).max(1)).build();
    let pool = pool.map_err(Error::other)?;
    pool.install(|| draw(&mut writer))?;
    writer.flush()?;
    writer.send(Chunk::End)
}

/// Collects bytes into chunks and sends the chunks through the channel.
struct ChunkWriter {
    sender: mpsc::Sender<Chunk>,
    runtime: Handle,
    bytes: BytesMut,
    /// Bytes written since the last check that the client is still connected.
    unchecked: usize,
}

impl ChunkWriter {
    /// Sends a chunk. Blocks while the channel is full. Fails if the client disconnects or stops
    /// reading.
    fn send(&self, chunk: Chunk) -> Result<(), Error> {
        let sent = self.runtime.block_on(async { timeout(SEND_TIMEOUT, self.sender.send(chunk)).await });
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(ErrorKind::BrokenPipe.into()),
            Err(_) => Err(ErrorKind::TimedOut.into()),
        }
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.unchecked += bytes.len();
        if self.unchecked > CHECK_BYTES {
            self.unchecked = 0;
            if self.sender.is_closed() {
                return Err(ErrorKind::BrokenPipe.into());
            }
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let chunk = self.bytes.split().freeze();
        self.bytes.reserve(CHUNK_BYTES + 64);
        self.send(Chunk::Bytes(chunk))
    }
}
