//! Journals of sessions, and the files of the worlds of these sessions.
//!
//! While a session runs, its journal is stored in pieces, together with the events. When the
//! session ends, one compressed piece replaces all pieces of the journal, and the events stay. The
//! files of a world are stored once, by their checksum.

use crate::records::Records;
use crate::settings::StoreError;
use rusqlite::{OptionalExtension, Transaction, params};

/// The part of a journal (see the crate `journal`) that a piece belongs to. The numbers are stored
/// in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalPart {
    /// The head.
    Head = 0,
    /// The stream of the simulation.
    Changes = 1,
    /// The stream of the session.
    Steps = 2,
    /// The whole journal, compressed.
    Whole = 3,
}

/// A piece of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalPiece {
    /// The part that the bytes are appended to.
    pub part: JournalPart,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A journal as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredJournal {
    /// The session has no journal.
    None,
    /// The whole journal, compressed.
    Whole(Vec<u8>),
    /// The parts so far, because the end of the session is not stored.
    Parts {
        /// The head.
        head: Vec<u8>,
        /// The stream of the simulation.
        changes: Vec<u8>,
        /// The stream of the session.
        steps: Vec<u8>,
    },
}

impl Records {
    /// The journal of a session.
    pub fn journal(&self, number: i64) -> Result<StoredJournal, StoreError> {
        let pieces: Vec<(i64, Vec<u8>)> = self.with(|connection| {
            let sql = "SELECT part, bytes FROM session_journal WHERE session = ?1 ORDER BY place";
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            connection.prepare(sql)?.query_map([number], read)?.collect()
        })?;
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for (part, bytes) in pieces {
            match usize::try_from(part).ok().and_then(|part| parts.get_mut(part)) {
                Some(so_far) => so_far.extend(bytes),
                None => return Ok(StoredJournal::Whole(bytes)),
            }
        }
        let [head, changes, steps] = parts;
        let is_there = !head.is_empty();
        Ok(if is_there { StoredJournal::Parts { head, changes, steps } } else { StoredJournal::None })
    }

    /// The files of a world with this checksum, as [`crate::run_file::pack`] packed them; `None` if
    /// they are not stored.
    pub fn bundle(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT bytes FROM bundle WHERE sha256 = ?1";
            connection.query_row(sql, [sha256], |row| row.get(0)).optional()
        })
    }

    /// Whether the files of a world with this checksum are stored.
    pub fn has_bundle(&self, sha256: &str) -> Result<bool, StoreError> {
        self.with(|connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM bundle WHERE sha256 = ?1)";
            connection.query_row(sql, [sha256], |row| row.get(0))
        })
    }

    /// Stores the files of a world, unless they are stored already.
    pub fn keep_bundle(&self, sha256: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.with(|connection| {
            let sql = "INSERT OR IGNORE INTO bundle (sha256, bytes) VALUES (?1, ?2)";
            connection.execute(sql, params![sha256, bytes]).map(drop)
        })
    }
}

/// Appends pieces to the journal of a session.
pub(crate) fn add(change: &Transaction<'_>, number: i64, pieces: &[JournalPiece]) -> rusqlite::Result<()> {
    let mut add = change.prepare(
        "INSERT INTO session_journal (session, place, part, bytes)
         SELECT ?1, COALESCE(MAX(place), -1) + 1, ?2, ?3 FROM session_journal WHERE session = ?1",
    )?;
    for JournalPiece { part, bytes } in pieces {
        add.execute(params![number, *part as i64, bytes])?;
    }
    Ok(())
}

/// Replaces the pieces of a session's journal with the whole journal. If `whole` is `None`, the
/// pieces are only removed.
pub(crate) fn replace(change: &Transaction<'_>, number: i64, whole: Option<&[u8]>) -> rusqlite::Result<()> {
    change.execute("DELETE FROM session_journal WHERE session = ?1", [number])?;
    let Some(whole) = whole else { return Ok(()) };
    let piece = JournalPiece { part: JournalPart::Whole, bytes: whole.to_vec() };
    add(change, number, &[piece])
}
