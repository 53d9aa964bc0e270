//! The log on standard error.
//!
//! A bounded queue passes log lines to a thread that writes them. Therefore a slow reader of
//! standard error never blocks the simulator. While the queue is full, new lines are dropped. A
//! closed standard error is ignored.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Capacity of the queue, in lines.
const QUEUE_LINES: usize = 1024;
/// How long the program waits for queued lines before it exits.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);

/// Writes log lines to the queue.
#[derive(Clone)]
pub(crate) struct LogLines {
    queue: SyncSender<Vec<u8>>,
    /// Number of lines that are queued and not yet written.
    waiting: Arc<AtomicU64>,
}

impl LogLines {
    /// Starts the thread that writes to standard error.
    pub(crate) fn start() -> LogLines {
        let (queue, lines) = sync_channel::<Vec<u8>>(QUEUE_LINES);
        let waiting = Arc::new(AtomicU64::new(0));
        let unwritten = Arc::clone(&waiting);
        std::thread::spawn(move || {
            for line in lines {
                let _ = std::io::stderr().write_all(&line);
                unwritten.fetch_sub(1, Relaxed);
            }
        });
        LogLines { queue, waiting }
    }

    /// Waits until the queued lines are written, at most [`FLUSH_TIMEOUT`].
    pub(crate) fn finish(&self) {
        let end = Instant::now() + FLUSH_TIMEOUT;
        while self.waiting.load(Relaxed) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Write for LogLines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.waiting.fetch_add(1, Relaxed);
        if self.queue.try_send(line.to_vec()).is_err() {
            self.waiting.fetch_sub(1, Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl tracing_subscriber::fmt::MakeWriter<'_> for LogLines {
    type Writer = LogLines;

    fn make_writer(&self) -> LogLines {
        self.clone()
    }
}
