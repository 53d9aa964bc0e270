//! The last events and the result of a session, kept in memory because they could not be written,
//! for instance because the disk is full.
//!
//! A thread repeats the write until it succeeds or the simulator stops. Until then, the record is
//! read from memory, and no new session starts.

use super::record_writer::Unwritten;
use chicane_store::{Data, StoreError};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Time between two attempts to write.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The record of a session is not on disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record of session {session} can't be written: {why}")]
pub struct RecordNotWritten {
    /// Id of the session.
    pub session: String,
    /// The error of the last attempt.
    pub why: String,
}

/// The end of at most one session that is not on disk.
#[derive(Debug, Default)]
pub(super) struct Unstored {
    kept: Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    error: RecordNotWritten,
    rest: Arc<Unwritten>,
    data: Arc<Data>,
    /// Dropping this sender ends the thread that repeats the write.
    _stop: Sender<()>,
}

impl Unstored {
    /// Keeps the end of a session and writes it as soon as possible.
    pub(super) fn keep(self: &Arc<Self>, data: &Arc<Data>, session: &str, why: &StoreError, rest: Unwritten) {
        let (stop, stopped) = channel();
        let error = RecordNotWritten { session: session.to_owned(), why: why.to_string() };
        tracing::error!("{error}; it is kept in memory and written again until that succeeds");
        *self.lock() = Some(Kept { error, rest: Arc::new(rest), data: Arc::clone(data), _stop: stop });
        let own = Arc::downgrade(self);
        let thread = std::thread::Builder::new().name("unstored".to_owned());
        if let Err(error) = thread.spawn(move || write_again(&own, &stopped)) {
            // The next start of a session tries again.
            tracing::error!(%error, "a thread that writes the record again can't be started");
        }
    }

    /// Why the record of a session is not on disk; `None` if all records are.
    pub(super) fn error(&self) -> Option<RecordNotWritten> {
        self.lock().as_ref().map(|kept| kept.error.clone())
    }

    /// The end of a session that is not on disk; `None` if all ends are. Readers call this method
    /// before they read the database. Otherwise the end could be written and dropped between the
    /// two reads, and the reader would find it in neither place.
    pub(super) fn rest(&self) -> Option<Arc<Unwritten>> {
        self.lock().as_ref().map(|kept| Arc::clone(&kept.rest))
    }

    /// Tries to write now. Blocks on the disk.
    pub(super) fn write(&self) -> Result<(), RecordNotWritten> {
        let mut kept = self.lock();
        let Some(waiting) = kept.as_mut() else { return Ok(()) };
        match waiting.rest.write_again(&waiting.data) {
            Ok(()) => {
                tracing::info!(session = waiting.error.session, "the record is written now");
                *kept = None;
                Ok(())
            }
            Err(why) => {
                waiting.error.why = why.to_string();
                Err(waiting.error.clone())
            }
        }
    }

    /// Tries a last time, because the simulator stops. Blocks on the disk.
    pub(super) fn stop(&self) {
        if let Err(error) = self.write() {
            tracing::error!("{error}; the simulator stops, so the record is lost");
        }
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Repeats the write until it succeeds, until the sender of `stopped` is dropped, or until the
/// `Unstored` value is gone.
fn write_again(unstored: &Weak<Unstored>, stopped: &Receiver<()>) {
    while stopped.recv_timeout(RETRY_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let Some(unstored) = unstored.upgrade() else { return };
        if unstored.write().is_ok() {
            return;
        }
    }
}
