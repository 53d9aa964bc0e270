//! Writes the events of a session to the database while the session runs, so that a crash loses
//! only the events of a fraction of a second.
//!
//! A separate thread collects events for a short time and writes them in one transaction, so the
//! supervisor of the session does not wait for the disk. The stored size of a session is limited;
//! events beyond the limit are left out.

use chicane_session::{Note, Notes, StopCause};
use chicane_store::{Data, SessionResult, StoreError};
use chicane_wire::RecordIdentity;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long lines are collected before they are written.
const COLLECT_INTERVAL: Duration = Duration::from_millis(200);
/// Capacity of the queue to the writer thread. A full queue blocks the sender.
const MAX_QUEUED_ENTRIES: usize = 4096;
/// Maximum number of stored lines of a session.
const MAX_SESSION_LINES: usize = 100_000;
/// Maximum size of the stored lines of a session, bytes.
const MAX_SESSION_BYTES: usize = 16 << 20;

/// An entry in the queue to the writer thread.
enum JournalEntry {
    /// An event as JSON.
    Line(String),
    /// The unfinished record as JSON, and the simulated seconds of the session.
    Progress(String, f64),
    /// What is judged, and how.
    Identity(Box<RecordIdentity>),
    /// Write all earlier entries now, then send a message on this channel.
    Flush(SyncSender<()>),
    /// The last event as JSON, and the result of the session.
    End(String, SessionResult),
}

/// Why a session was not stored completely.
#[derive(Debug, thiserror::Error)]
pub(super) enum JournalError {
    /// The database can't be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The writer thread panicked.
    #[error("the writer failed")]
    WriterPanicked,
}

/// Handle of the thread that writes the events of a session.
pub(super) struct Journal {
    entries: SyncSender<JournalEntry>,
    thread: JoinHandle<Result<(), JournalError>>,
    /// Number of lines so far, including those that were left out.
    lines: usize,
    /// Size of all lines so far, bytes.
    bytes: usize,
    /// Whether a line was left out.
    full: bool,
}

impl Journal {
    /// Starts the writer thread of a session. `number` is the session's number in the database. If
    /// the database can't be written, the thread stops the session.
    pub(super) fn start(data: Arc<Data>, number: i64, notes: Notes<Note>) -> std::io::Result<Journal> {
        let (entries, queue) = sync_channel(MAX_QUEUED_ENTRIES);
        let thread = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let written = write(&data, number, &queue);
            if let Err(error) = &written {
                let why = error.to_string();
                tracing::error!(why, "the record of an evaluation can't be written");
                notes.send(Note::Stop(StopCause::NotKept(why)));
            }
            written
        })?;
        Ok(Journal { entries, thread, lines: 0, bytes: 0, full: false })
    }

    /// Adds a line. A line beyond the limits is left out, unless it is `required`. Returns false
    /// for the first line that is left out.
    pub(super) fn add_line(&mut self, line: String, required: bool) -> bool {
        self.lines += 1;
        self.bytes += line.len();
        if !required && (self.full || self.lines > MAX_SESSION_LINES || self.bytes > MAX_SESSION_BYTES) {
            return std::mem::replace(&mut self.full, true);
        }
        // The send fails only if the writer thread failed. This failure also stops the session.
        let _ = self.entries.send(JournalEntry::Line(line));
        true
    }

    /// Stores what is judged, and how.
    pub(super) fn set_identity(&mut self, identity: RecordIdentity) {
        let _ = self.entries.send(JournalEntry::Identity(Box::new(identity)));
    }

    /// Stores the unfinished record and the simulated seconds of the session.
    pub(super) fn set_progress(&mut self, record: String, elapsed_s: f64) {
        let _ = self.entries.send(JournalEntry::Progress(record, elapsed_s));
    }

    /// Waits until all earlier lines are on disk, or the writer thread has failed.
    pub(super) fn flush(&self) {
        let (done, flushed) = sync_channel(1);
        if self.entries.send(JournalEntry::Flush(done)).is_ok() {
            let _ = flushed.recv();
        }
    }

    /// Stores the last line and the result. Everything is on disk when this returns.
    pub(super) fn end(self, line: String, result: SessionResult) -> Result<(), JournalError> {
        let _ = self.entries.send(JournalEntry::End(line, result));
        drop(self.entries);
        self.thread.join().unwrap_or(Err(JournalError::WriterPanicked))
    }
}

/// Writes entries until the session ends or its journal is dropped.
fn write(data: &Data, number: i64, queue: &Receiver<JournalEntry>) -> Result<(), JournalError> {
    let records = data.records();
    // Line 0 is the start of the session. It is stored already.
    let (mut next_line, mut lines, mut progress) = (1, Vec::new(), ("null".to_owned(), 0.0));
    let (mut deadline, mut waiting) = (None::<Instant>, None);
    loop {
        let wait =
            deadline.map_or(Duration::from_secs(3600), |d| d.saturating_duration_since(Instant::now()));
        match queue.recv_timeout(wait) {
            Ok(entry) => {
                let until = *deadline.get_or_insert_with(|| Instant::now() + COLLECT_INTERVAL);
                match entry {
                    JournalEntry::Line(line) => lines.push(line),
                    JournalEntry::Progress(record, elapsed_s) => progress = (record, elapsed_s),
                    JournalEntry::Identity(identity) => records.set_identity(number, &identity)?,
                    JournalEntry::Flush(done) => waiting = Some(done),
                    // The end event and the result are written in one transaction, so that a stored
                    // end event always has a stored result.
                    JournalEntry::End(line, result) => {
                        lines.push(line);
                        return Ok(records.end(number, next_line, &lines, &result)?);
                    }
                }
                if waiting.is_none() && lines.len() < MAX_QUEUED_ENTRIES && Instant::now() < until {
                    continue;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if deadline.take().is_some() {
            records.add(number, next_line, &lines, &progress.0, progress.1)?;
            next_line += lines.len() as u64;
            lines.clear();
        }
        if let Some(done) = waiting.take() {
            let _ = done.try_send(());
        }
    }
}
