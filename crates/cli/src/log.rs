//! Log lines on their way to standard error.
//!
//! Nobody waits for whoever reads them, and nobody is hurt when the reader is gone: lines go through a
//! bounded queue to a thread of their own, and when too many wait, new ones are dropped.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Lines that may wait.
const WAITING: usize = 1024;
/// At the end the last lines have this long.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The way to the log.
#[derive(Clone)]
pub(crate) struct LogLines {
    queue: SyncSender<Vec<u8>>,
    /// Lines that were queued and not yet written.
    waiting: Arc<AtomicU64>,
}

impl LogLines {
    /// Starts the thread that writes.
    pub(crate) fn start() -> LogLines {
        let (queue, lines) = sync_channel::<Vec<u8>>(WAITING);
        let waiting = Arc::new(AtomicU64::new(0));
        let left = Arc::clone(&waiting);
        std::thread::spawn(move || {
            for line in lines {
                let _ = std::io::stderr().write_all(&line);
                left.fetch_sub(1, Relaxed);
            }
        });
        LogLines { queue, waiting }
    }

    /// Waits a moment for the last lines.
    pub(crate) fn finish(&self) {
        let end = Instant::now() + LAST_WORDS;
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
