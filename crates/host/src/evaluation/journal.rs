//! The journal of a session. While the session runs, the journal is stored in pieces. At the end,
//! the whole journal is compressed.

use chicane_journal::{Head, Journal, Sink};
use chicane_store::{JournalPart, JournalPiece, StoredJournal, Sum, run_file};
use chicane_wire::JournalIdentity;
use std::sync::Arc;

/// Number of events of a session after which only required events, such as a change of the phase,
/// are stored.
const MAX_SESSION_LINES: usize = 100_000;
/// Size of the events of a session, in bytes, above which only required events, such as a change of
/// the phase, are stored.
const MAX_SESSION_BYTES: usize = 16 << 20;
/// The problem that the record of a run names if the journal of the run was too long to be kept.
const TOO_LONG: &str = "the journal exceeded 64 MiB, so this run can't be verified or replayed";

/// Decides which events of a session are stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventLimit {
    /// Number of events so far, including those that were left out.
    lines: usize,
    /// Size of all events so far, bytes.
    bytes: usize,
    /// Whether an event was left out.
    is_full: bool,
}

impl EventLimit {
    /// Whether an event was left out.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether an event is stored. An event beyond the limits is left out, unless it is `required`.
    pub fn admits(&mut self, line: &str, required: bool) -> bool {
        self.lines += 1;
        self.bytes += line.len();
        if required {
            return true;
        }
        self.is_full |= self.lines > MAX_SESSION_LINES || self.bytes > MAX_SESSION_BYTES;
        !self.is_full
    }
}

/// The journal of a session so far.
#[derive(Debug)]
pub(super) struct JournalSoFar {
    sink: Arc<Sink>,
    head: Option<Head>,
    /// Whether `take_pieces` has returned the head.
    has_taken_head: bool,
    changes: Vec<u8>,
    steps: Vec<u8>,
}

impl JournalSoFar {
    /// A journal without a head. The sim thread writes to `sink`.
    pub(super) fn new(sink: Arc<Sink>) -> JournalSoFar {
        JournalSoFar { sink, head: None, has_taken_head: false, changes: Vec::new(), steps: Vec::new() }
    }

    /// Sets the head.
    pub(super) fn set_head(&mut self, head: Head) {
        self.head = Some(head);
    }

    /// Takes the pieces that were not taken before: the head, the changes and the steps. `steps`
    /// are the new steps of the session. If the journal is too long, there are no pieces.
    pub(super) fn take_pieces(&mut self, steps: &mut Vec<u8>) -> Vec<JournalPiece> {
        let (changes, steps) = (self.sink.take(), std::mem::take(steps));
        if self.sink.is_full() {
            (self.changes, self.steps) = (Vec::new(), Vec::new());
            return Vec::new();
        }
        self.changes.extend_from_slice(&changes);
        self.steps.extend_from_slice(&steps);
        let head = self.head.as_ref().filter(|_| !self.has_taken_head);
        let head = head.and_then(|head| serde_json::to_vec(head).ok()).unwrap_or_default();
        self.has_taken_head |= !head.is_empty();
        let pieces =
            [(JournalPart::Head, head), (JournalPart::Changes, changes), (JournalPart::Steps, steps)];
        let pieces = pieces.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        pieces.map(|(part, bytes)| JournalPiece { part, bytes }).collect()
    }

    /// The identity of the whole journal, and its compressed bytes. If the journal is too long,
    /// there are no bytes, and the identity says why. Both are `None` without a head, because the
    /// session then ended before its simulation was created.
    pub(super) fn finish(&mut self) -> (Option<JournalIdentity>, Option<Vec<u8>>) {
        if self.sink.is_full() {
            let problem = Some(TOO_LONG.to_owned());
            return (Some(JournalIdentity { sha256: String::new(), bytes: 0, problem }), None);
        }
        let Some(head) = self.head.take() else { return (None, None) };
        let (changes, steps) = (std::mem::take(&mut self.changes), std::mem::take(&mut self.steps));
        whole(&Journal { head, changes, steps })
    }
}

/// The identity of a whole journal, and its compressed bytes; both `None` if it can't be encoded.
fn whole(journal: &Journal) -> (Option<JournalIdentity>, Option<Vec<u8>>) {
    let Ok(bytes) = journal.encode() else { return (None, None) };
    let identity =
        JournalIdentity { sha256: Sum::of(&bytes).hex(), bytes: bytes.len() as u64, problem: None };
    (Some(identity), Some(run_file::deflate(&bytes)))
}

/// The identity and the compressed bytes of the journal of a session that a killed simulator left
/// open. Both are `None` if no pieces of the journal are stored, or if its head can't be read.
pub(super) fn of_killed(stored: StoredJournal) -> (Option<JournalIdentity>, Option<Vec<u8>>) {
    match stored {
        StoredJournal::Parts { head, changes, steps } => match serde_json::from_slice(&head) {
            Ok(head) => whole(&Journal { head, changes, steps }),
            Err(_) => (None, None),
        },
        StoredJournal::None | StoredJournal::Whole(_) => (None, None),
    }
}
