//! Counts the unfinished work of the server for the program, so that time moves only when that work
//! is done.

use crate::layout::REALTIME_START_S;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, SystemTime};

/// Counts of the server's work for the program.
#[derive(Debug, Default)]
pub struct Work {
    /// Requests without an answer.
    requests: AtomicU64,
    /// Requests whose answer waits for simulated time.
    waits: AtomicU64,
    /// Orders to the simulation that have no reply yet, and pictures that are being drawn.
    jobs: AtomicU64,
    /// Answers that are streams and have not ended.
    streams: AtomicU64,
    /// Requests so far.
    total: AtomicU64,
    /// Virtual time in nanoseconds since the start of the session.
    now: AtomicU64,
}

/// A piece of unfinished work. It counts as finished when this value is dropped.
#[derive(Debug)]
pub struct Unfinished {
    work: Arc<Work>,
    count: fn(&Work) -> &AtomicU64,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        (self.count)(&self.work).fetch_sub(1, SeqCst);
    }
}

impl Work {
    fn start(self: &Arc<Work>, count: fn(&Work) -> &AtomicU64) -> Unfinished {
        count(self).fetch_add(1, SeqCst);
        Unfinished { work: Arc::clone(self), count }
    }

    /// Counts a request that has no answer yet, until the returned value is dropped.
    pub fn request(self: &Arc<Work>) -> Unfinished {
        self.total.fetch_add(1, SeqCst);
        self.start(|work| &work.requests)
    }

    /// Counts a request whose answer waits for simulated time, until the returned value is dropped.
    pub fn wait(self: &Arc<Work>) -> Unfinished {
        self.start(|work| &work.waits)
    }

    /// Counts an order to the simulation that has no reply yet, or a picture that is being drawn,
    /// until the returned value is dropped.
    pub fn job(self: &Arc<Work>) -> Unfinished {
        self.start(|work| &work.jobs)
    }

    /// Counts an answer that is a stream, until the returned value is dropped.
    pub fn stream(self: &Arc<Work>) -> Unfinished {
        self.start(|work| &work.streams)
    }

    /// The date and time of the virtual real-time clock.
    pub fn date(&self) -> SystemTime {
        let since = Duration::from_secs(REALTIME_START_S) + Duration::from_nanos(self.now.load(SeqCst));
        SystemTime::UNIX_EPOCH + since
    }

    /// Sets the virtual time.
    pub(crate) fn set_now(&self, now: u64) {
        self.now.store(now, SeqCst);
    }

    /// Whether all work is done, except for requests that wait for simulated time.
    pub(crate) fn is_settled(&self) -> bool {
        self.jobs.load(SeqCst) == 0 && self.requests.load(SeqCst) <= self.waits.load(SeqCst)
    }

    /// Whether an answer can become ready at any tick.
    pub(crate) fn needs_ticks(&self) -> bool {
        self.requests.load(SeqCst) > 0 || self.streams.load(SeqCst) > 0
    }

    /// Requests so far.
    pub(crate) fn total(&self) -> u64 {
        self.total.load(SeqCst)
    }
}
