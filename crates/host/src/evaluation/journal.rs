//! Writes a session's story to the database as it goes on: a crash loses a fraction of a second.
//!
//! A thread of its own collects what comes for a moment and writes it in one transaction, so that nobody who judges
//! waits for a disk. What is kept of a session is bounded; what comes past that is counted as left out.

use chicane_session::{Note, Notes, StopCause};
use chicane_store::{Data, SessionResult};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long lines are collected.
const COLLECT_INTERVAL: Duration = Duration::from_millis(200);
/// Lines that wait to be written; whoever writes more waits.
const MAX_QUEUED_ENTRIES: usize = 4096;
/// Lines that are kept of a session.
const MAX_SESSION_LINES: usize = 100_000;
/// Bytes that are kept of a session.
const MAX_SESSION_BYTES: usize = 16 << 20;

enum JournalEntry {
    /// A line of the story.
    Line(String),
    /// How things stand: record and simulated seconds.
    Progress(String, f64),
    /// Whoever waits for what came so far to be on disk.
    Flush(SyncSender<()>),
    /// It is over: the last line, and how it ended.
    End(String, SessionResult),
}

/// The way to the disk.
pub(super) struct Journal {
    entries: SyncSender<JournalEntry>,
    thread: JoinHandle<Result<(), String>>,
    lines: usize,
    bytes: usize,
    /// Something was left out.
    full: bool,
}

impl Journal {
    /// Begins to write for a session.
    pub(super) fn start(data: Arc<Data>, number: i64, notes: Notes<Note>) -> std::io::Result<Journal> {
        let (entries, queue) = sync_channel(MAX_QUEUED_ENTRIES);
        let thread = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let written = write(&data, number, &queue);
            if let Err(why) = &written {
                tracing::error!(why, "the record of an evaluation can't be written");
                notes.send(Note::Stop(StopCause::NotKept(why.clone())));
            }
            written
        })?;
        Ok(Journal { entries, thread, lines: 0, bytes: 0, full: false })
    }

    /// Adds a line. What is past the bound is left out, unless it must be kept. False for the first that is left out.
    pub(super) fn add_line(&mut self, line: String, must: bool) -> bool {
        self.lines += 1;
        self.bytes += line.len();
        if !must && (self.full || self.lines > MAX_SESSION_LINES || self.bytes > MAX_SESSION_BYTES) {
            return std::mem::replace(&mut self.full, true);
        }
        // A writer that failed has said so.
        let _ = self.entries.send(JournalEntry::Line(line));
        true
    }

    /// Says how things stand.
    pub(super) fn set_progress(&mut self, record: String, elapsed_s: f64) {
        let _ = self.entries.send(JournalEntry::Progress(record, elapsed_s));
    }

    /// Waits until what came so far is on disk. A writer that failed has ended the session.
    pub(super) fn flush(&self) {
        let (done, settled) = sync_channel(1);
        if self.entries.send(JournalEntry::Flush(done)).is_ok() {
            let _ = settled.recv();
        }
    }

    /// Ends it, with its last line: all is on disk when this returns.
    pub(super) fn end(self, line: String, result: SessionResult) -> Result<(), String> {
        let _ = self.entries.send(JournalEntry::End(line, result));
        drop(self.entries);
        self.thread.join().unwrap_or_else(|_| Err("the writer failed".to_owned()))
    }
}

fn write(data: &Data, number: i64, queue: &Receiver<JournalEntry>) -> Result<(), String> {
    let records = data.records();
    // The first line, that it began, is there already.
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
                    JournalEntry::Flush(done) => waiting = Some(done),
                    // Together, or not at all: a story that ends is one of a session that did.
                    JournalEntry::End(line, result) => {
                        lines.push(line);
                        return records.end(number, next_line, &lines, &result).map_err(|e| e.to_string());
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
            records.add(number, next_line, &lines, &progress.0, progress.1).map_err(|e| e.to_string())?;
            next_line += lines.len() as u64;
            lines.clear();
        }
        if let Some(done) = waiting.take() {
            let _ = done.try_send(());
        }
    }
}
