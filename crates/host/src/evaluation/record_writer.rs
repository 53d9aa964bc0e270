//! Writes the events and the journal of a session to the database while the session runs. A crash
//! therefore loses only the entries of a fraction of a second.
//!
//! A separate thread collects events for a short time and writes them in one transaction, so the
//! supervisor of the session does not wait for the disk. The stored size of a session is limited;
//! events beyond the limit are left out, unless they are required.
//!
//! Steps and events of the session come through one queue, so the stored steps and the stored
//! events always end at the same point. The sim thread writes each observation to the `Sink` before
//! the session gets the observation. The writer thread reads the `Sink` after the queue, so the
//! observation of every stored step is stored too.

use super::journal::{EventLimit, JournalSoFar};
use chicane_journal::{Head, Sink};
use chicane_session::{Note, Notes, StopCause};
use chicane_store::{Addition, Data, SessionResult, SessionRow, StoreError};
use chicane_wire::RecordIdentity;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Real time for which entries are collected before they are written.
const COLLECT_INTERVAL: Duration = Duration::from_millis(200);
/// Capacity of the queue to the writer thread. A full queue blocks the sender.
const MAX_QUEUED_ENTRIES: usize = 4096;

/// An entry in the queue to the writer thread.
enum WriterEntry {
    /// An event as JSON.
    Line(String),
    /// The unfinished record as JSON, and the simulated seconds of the session.
    Progress(String, f64),
    /// The identity of the session: what is judged, and under which conditions.
    Identity(Box<RecordIdentity>),
    /// The head of the journal.
    Head(Box<Head>),
    /// A step of the session, as a line of the journal.
    Step(String),
    /// Write all earlier entries now, then send a message on this channel.
    Flush(SyncSender<()>),
    /// The last event as JSON, and the result of the session.
    End(String, Box<SessionResult>),
}

/// The end of a session that is not on disk yet, with all events since the last successful write.
#[derive(Debug, Clone)]
pub(super) struct Unwritten {
    /// The session's number in the database.
    number: i64,
    /// Sequence number of the first of `lines`.
    next_line: u64,
    lines: Vec<String>,
    /// The identity of the session, if it is not stored yet.
    identity: Option<Box<RecordIdentity>>,
    result: SessionResult,
    /// The whole journal, compressed; `None` if there is none.
    journal: Option<Vec<u8>>,
}

impl Unwritten {
    /// Writes everything after an earlier write failed. Does nothing if the database has the end of
    /// the session already. The earlier write may have reached the disk although the database
    /// reported an error, so lines that are stored already are skipped.
    pub(super) fn write_again(&self, data: &Data) -> Result<(), StoreError> {
        let records = data.records();
        if !records.unfinished()?.iter().any(|row| row.number == self.number) {
            return Ok(());
        }
        let stored = records.events(self.number)?.len() as u64;
        let done = usize::try_from(stored.saturating_sub(self.next_line)).unwrap_or(usize::MAX);
        let mut rest = self.clone();
        rest.next_line = rest.next_line.max(stored);
        rest.lines.drain(..done.min(self.lines.len()));
        rest.write(data)
    }

    fn write(&self, data: &Data) -> Result<(), StoreError> {
        if let Some(identity) = &self.identity {
            data.records().set_identity(self.number, identity)?;
        }
        // The end event and the result are written in one transaction, so that a stored end event
        // always has a stored result.
        data.records().end(self.number, self.next_line, &self.lines, &self.result, self.journal.as_deref())
    }

    /// The whole journal of the session with this number, compressed. `None` if this value belongs
    /// to another session or has no journal.
    pub(super) fn journal_of(&self, number: i64) -> Option<Vec<u8>> {
        self.journal.clone().filter(|_| number == self.number)
    }

    /// Adds the missing end to a session that was read from the database.
    pub(super) fn complete(&self, row: &mut SessionRow, events: &mut Vec<String>) {
        if row.number != self.number || row.result.is_some() {
            return;
        }
        if let Some(identity) = &self.identity {
            row.start.identity = (**identity).clone();
        }
        row.record.clone_from(&self.result.record);
        row.elapsed_s = self.result.elapsed_s;
        row.result = Some(self.result.clone());
        events.extend(self.lines.iter().cloned());
    }
}

/// Why a session was not stored completely.
#[derive(Debug, thiserror::Error)]
pub(super) enum RecordWriterError {
    /// The database can't be written. `rest` is everything that the database does not have.
    #[error("{error}")]
    Store {
        /// The error of the database.
        error: StoreError,
        /// The missing events and the result.
        rest: Box<Unwritten>,
    },
    /// The writer thread panicked.
    #[error("the writer failed")]
    WriterPanicked,
}

/// Handle of the thread that writes the events of a session.
pub(super) struct RecordWriter {
    entries: SyncSender<WriterEntry>,
    thread: JoinHandle<Result<(), RecordWriterError>>,
    limit: EventLimit,
    sink: Arc<Sink>,
}

impl RecordWriter {
    /// Starts the writer thread of a session. `number` is the session's number in the database. If
    /// the database can't be written, the thread stops the session.
    pub(super) fn start(data: Arc<Data>, number: i64, notes: Notes<Note>) -> std::io::Result<RecordWriter> {
        let (entries, queue) = sync_channel(MAX_QUEUED_ENTRIES);
        let sink = Arc::<Sink>::default();
        let journal = JournalSoFar::new(Arc::clone(&sink));
        let thread = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let progress = ("null".to_owned(), 0.0);
            // Line 0, the start of the session, is stored already.
            let (next_line, lines) = (1, Vec::new());
            let (identity, failed, steps) = (None, false, Vec::new());
            let writer =
                Writer { data, number, next_line, lines, progress, identity, failed, notes, steps, journal };
            writer.run(&queue)
        })?;
        Ok(RecordWriter { entries, thread, limit: EventLimit::default(), sink })
    }

    /// Adds a line. A line beyond the limits is left out, unless it is `required`. Returns false
    /// for the first line that is left out.
    pub(super) fn add_line(&mut self, line: String, required: bool) -> bool {
        let was_full = self.limit.is_full();
        if !self.limit.admits(&line, required) {
            return was_full;
        }
        // The send fails only if the writer thread panicked.
        let _ = self.entries.send(WriterEntry::Line(line));
        true
    }

    /// The sink to which the sim thread writes its part of the journal.
    pub(super) fn sink(&self) -> Arc<Sink> {
        Arc::clone(&self.sink)
    }

    /// Stores the head of the journal.
    pub(super) fn set_head(&mut self, head: Head) {
        let _ = self.entries.send(WriterEntry::Head(Box::new(head)));
    }

    /// Adds a step of the session to the journal, unless the journal is too long.
    pub(super) fn add_step(&mut self, line: String) {
        if self.sink.count(line.len()) {
            let _ = self.entries.send(WriterEntry::Step(line));
        }
    }

    /// Stores the identity of the session.
    pub(super) fn set_identity(&mut self, identity: RecordIdentity) {
        let _ = self.entries.send(WriterEntry::Identity(Box::new(identity)));
    }

    /// Stores the unfinished record and the simulated seconds of the session.
    pub(super) fn set_progress(&mut self, record: String, elapsed_s: f64) {
        let _ = self.entries.send(WriterEntry::Progress(record, elapsed_s));
    }

    /// Waits until all earlier lines are on disk, or the writer thread has failed.
    pub(super) fn flush(&self) {
        let (done, flushed) = sync_channel(1);
        if self.entries.send(WriterEntry::Flush(done)).is_ok() {
            let _ = flushed.recv();
        }
    }

    /// Stores the last line and the result. If the call succeeds, everything is on disk.
    pub(super) fn end(self, line: String, result: SessionResult) -> Result<(), RecordWriterError> {
        let _ = self.entries.send(WriterEntry::End(line, Box::new(result)));
        drop(self.entries);
        self.thread.join().unwrap_or(Err(RecordWriterError::WriterPanicked))
    }
}

/// The state of the writer thread.
struct Writer {
    data: Arc<Data>,
    /// The session's number in the database.
    number: i64,
    /// Sequence number of the first of `lines`.
    next_line: u64,
    /// Lines that are not written yet. After a failure, the lines are kept for the end of the
    /// session.
    lines: Vec<String>,
    /// The unfinished record as JSON, and the simulated seconds of the session.
    progress: (String, f64),
    /// The identity of the session, if it is not stored yet.
    identity: Option<Box<RecordIdentity>>,
    /// Whether a write failed. The session is then being stopped, and nothing is written until it
    /// ends. The kept lines are then written together with the result.
    failed: bool,
    notes: Notes<Note>,
    /// Steps of the session that are not written yet.
    steps: Vec<u8>,
    journal: JournalSoFar,
}

impl Writer {
    /// Writes entries until the session ends, or until the [`RecordWriter`] is dropped.
    fn run(mut self, queue: &Receiver<WriterEntry>) -> Result<(), RecordWriterError> {
        let (mut deadline, mut waiting) = (None::<Instant>, None);
        loop {
            let wait =
                deadline.map_or(Duration::from_secs(3600), |d| d.saturating_duration_since(Instant::now()));
            match queue.recv_timeout(wait) {
                Ok(entry) => {
                    let until = *deadline.get_or_insert_with(|| Instant::now() + COLLECT_INTERVAL);
                    match entry {
                        WriterEntry::Line(line) => self.lines.push(line),
                        WriterEntry::Progress(record, elapsed_s) => self.progress = (record, elapsed_s),
                        WriterEntry::Identity(identity) => self.identity = Some(identity),
                        WriterEntry::Head(head) => self.journal.set_head(*head),
                        WriterEntry::Step(line) => self.steps.extend(line.as_bytes()),
                        WriterEntry::Flush(done) => waiting = Some(done),
                        WriterEntry::End(line, result) => return self.end(line, *result),
                    }
                    if waiting.is_none() && self.lines.len() < MAX_QUEUED_ENTRIES && Instant::now() < until {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if deadline.take().is_some() && !self.failed {
                self.write();
            }
            if let Some(done) = waiting.take() {
                let _ = done.try_send(());
            }
        }
    }

    /// Writes the collected lines. If the database can't be written, the session is stopped.
    fn write(&mut self) {
        if let Err(error) = self.try_write() {
            let why = error.to_string();
            tracing::error!(why, "the record of an evaluation can't be written");
            self.failed = true;
            self.notes.send(Note::Stop(StopCause::NotKept(why)));
        }
    }

    fn try_write(&mut self) -> Result<(), StoreError> {
        let records = self.data.records();
        if let Some(identity) = &self.identity {
            records.set_identity(self.number, identity)?;
            self.identity = None;
        }
        let (record, elapsed_s) = (self.progress.0.as_str(), self.progress.1);
        let journal = self.journal.take_pieces(&mut self.steps);
        let (place, events) = (self.next_line, self.lines.as_slice());
        records.add(self.number, Addition { place, events, record, elapsed_s, journal: &journal })?;
        self.next_line += self.lines.len() as u64;
        self.lines.clear();
        Ok(())
    }

    fn end(mut self, line: String, mut result: SessionResult) -> Result<(), RecordWriterError> {
        self.journal.take_pieces(&mut self.steps);
        let (identity_of_journal, journal) = self.journal.finish();
        result.report.journal = identity_of_journal;
        let Writer { data, number, next_line, mut lines, identity, .. } = self;
        lines.push(line);
        let rest = Unwritten { number, next_line, lines, identity, result, journal };
        rest.write(&data).map_err(|error| RecordWriterError::Store { error, rest: Box::new(rest) })
    }
}

#[cfg(test)]
#[path = "record_writer_tests.rs"]
mod tests;
