//! Records of evaluations: every session with its events.

use crate::journals::{self, JournalPiece};
use crate::open_error::OpenError;
use crate::settings::StoreError;
use chicane_wire::{Better, Outcome, RecordIdentity, Role, RunReport};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::sync::{Mutex, PoisonError};

/// Every column of a session except its number.
pub(crate) const COLUMNS: &str = "id, world, world_id, rev, command, time_limit_s, seed, better, sha256, started_at, ended_at, \
                       outcome, reason, record, elapsed_s, observations, wait_s, identity, report, role";

/// The data of a session at its start.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Id of the session.
    pub id: String,
    /// Name of the world.
    pub world: String,
    /// Id of the world, if it was published.
    pub world_id: Option<String>,
    /// Revision of the world, if it was published or built from a project.
    pub rev: Option<String>,
    /// The student's command. `None` if the session starts no program.
    pub command: Option<String>,
    /// Time limit in simulated seconds.
    pub time_limit_s: f64,
    /// Seed of every random stream.
    pub seed: u64,
    /// Whether a lower or a higher recorded value is better.
    pub better: Better,
    /// SHA-256 of the script, as hex digits.
    pub sha256: String,
    /// Start time, RFC 3339.
    pub started_at: String,
    /// The identity of the session: what is judged, and under which conditions.
    pub identity: RecordIdentity,
    /// Role of the token with which the session was started.
    pub role: Role,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionResult {
    /// End time, RFC 3339.
    pub ended_at: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason, as a text for people.
    pub reason: Option<String>,
    /// The last value that the script recorded, as JSON.
    pub record: String,
    /// Duration in simulated seconds.
    pub elapsed_s: f64,
    /// Number of observations that the script judged.
    pub observations: u64,
    /// How long the world waited for the script, in real seconds.
    pub wait_s: f64,
    /// The end of the student's program, the commands of others, the refused requests and the
    /// identity of the journal.
    pub report: RunReport,
}

/// A stored session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Number of the session. Each new session gets a larger number.
    pub number: i64,
    /// The session's data at its start.
    pub start: NewSession,
    /// The last stored value that the script recorded, as JSON.
    pub record: String,
    /// The last stored duration, in simulated seconds.
    pub elapsed_s: f64,
    /// How the session ended. `None` while it runs, and if its simulator was killed before the end
    /// was stored.
    pub result: Option<SessionResult>,
}

/// What is added to a session while it runs.
#[derive(Debug, Clone, Copy)]
pub struct Addition<'a> {
    /// Sequence number of the first event.
    pub place: u64,
    /// Events, each a JSON object.
    pub events: &'a [String],
    /// The value that the script recorded last, as JSON.
    pub record: &'a str,
    /// The current duration, in simulated seconds.
    pub elapsed_s: f64,
    /// Pieces of the journal.
    pub journal: &'a [JournalPiece],
}

/// The journal of a session and the files of its world, as they are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredRun {
    /// The whole journal, compressed; `None` if there is none.
    pub journal: Option<Vec<u8>>,
    /// Checksum and packed files of the world; `None` if they are not known.
    pub bundle: Option<(String, Vec<u8>)>,
}

/// The records of a data folder. All calls block. A write is on disk when its call returns.
#[derive(Debug)]
pub struct Records {
    connection: Mutex<Connection>,
}

impl Records {
    pub(crate) fn new(connection: Connection) -> Records {
        Records { connection: Mutex::new(connection) }
    }

    /// Opens the records of a data folder read-only. This also works while a simulator uses the
    /// folder.
    pub fn open(dir: &std::path::Path) -> Result<Records, OpenError> {
        crate::database::open_read_only(&dir.join("chicane.db")).map(Records::new)
    }

    /// Opens the records of a data folder to add sessions with [`Records::import`]. The folder and
    /// its database are created if necessary. Any number of processes can do this at the same time,
    /// also while a simulator uses the folder.
    pub fn open_shared(dir: &std::path::Path) -> Result<Records, OpenError> {
        let (dir, file) = crate::data::database_file(dir)?;
        crate::data::create_private(&dir).map_err(|e| crate::data::unwritable(&dir, &e))?;
        crate::database::open_shared(&file).map(Records::new)
    }

    /// Stores a new session and returns its number.
    pub fn begin(&self, session: &NewSession) -> Result<i64, StoreError> {
        self.with(|connection| insert(connection, session))
    }

    /// Replaces the identity of a session.
    pub fn set_identity(&self, number: i64, identity: &RecordIdentity) -> Result<(), StoreError> {
        self.with(|connection| {
            let sql = "UPDATE session SET identity = ?2 WHERE number = ?1";
            connection.execute(sql, params![number, json(identity)]).map(drop)
        })
    }

    /// Stores a complete session of another data folder with its events and its journal, in one
    /// transaction. The files of the session's world are stored before this transaction.
    pub fn import(
        &self,
        start: &NewSession,
        events: &[String],
        result: &SessionResult,
        run: &StoredRun,
    ) -> Result<(), StoreError> {
        if let Some((sha256, bytes)) = &run.bundle {
            self.keep_bundle(sha256, bytes)?;
        }
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let number = insert(&change, start)?;
            add_events(&change, number, 0, events)?;
            journals::replace(&change, number, run.journal.as_deref())?;
            set_result(&change, number, result)?;
            change.commit()
        })
    }

    /// Adds events and pieces of the journal to a session, and stores the recorded value and the
    /// duration so far, in one transaction.
    pub fn add(&self, number: i64, addition: Addition<'_>) -> Result<(), StoreError> {
        let Addition { place, events, record, elapsed_s, journal } = addition;
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            add_events(&change, number, place, events)?;
            journals::add(&change, number, journal)?;
            let so_far = "UPDATE session SET record = ?2, elapsed_s = ?3 WHERE number = ?1";
            change.execute(so_far, params![number, record, elapsed_s])?;
            change.commit()
        })
    }

    /// Stores the end of a session, its last events and its whole journal, in one transaction.
    pub fn end(
        &self,
        number: i64,
        place: u64,
        events: &[String],
        result: &SessionResult,
        journal: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            add_events(&change, number, place, events)?;
            journals::replace(&change, number, journal)?;
            set_result(&change, number, result)?;
            change.commit()
        })
    }

    /// The sessions that have no end yet.
    pub fn unfinished(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!("SELECT number, {COLUMNS} FROM session WHERE outcome IS NULL ORDER BY number");
            connection.prepare(&sql)?.query_map([], read)?.collect()
        })
    }

    /// The session with this id. If `id` is `None`, the newest session. With `by`, only sessions
    /// that were started with this role are found.
    pub fn session(&self, id: Option<&str>, by: Option<Role>) -> Result<Option<SessionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!(
                "SELECT number, {COLUMNS} FROM session
                 WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR role = ?2) ORDER BY number DESC LIMIT 1"
            );
            connection.query_row(&sql, [id, by.map(Role::name)], read).optional()
        })
    }

    /// Sessions, the newest first. The list can be restricted to one world, to sessions that were
    /// started with one role, and to sessions whose number is below a given number.
    pub fn sessions(
        &self,
        world: Option<&str>,
        by: Option<Role>,
        below: Option<i64>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!(
                "SELECT number, {COLUMNS} FROM session
                 WHERE (?1 IS NULL OR world = ?1) AND (?2 IS NULL OR role = ?2) AND (?3 IS NULL OR number < ?3)
                 ORDER BY number DESC LIMIT ?4"
            );
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let values = params![world, by.map(Role::name), below, limit];
            connection.prepare(&sql)?.query_map(values, read)?.collect()
        })
    }

    /// The events of a session in order, each a JSON object.
    pub fn events(&self, number: i64) -> Result<Vec<String>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT event FROM session_event WHERE session = ?1 ORDER BY place";
            connection.prepare(sql)?.query_map([number], |row| row.get(0))?.collect()
        })
    }

    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // A poisoned lock can be used, because a panic rolls the transaction back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|e| StoreError::Database(e.to_string()))
    }
}

fn add_events(change: &Transaction<'_>, number: i64, place: u64, events: &[String]) -> rusqlite::Result<()> {
    let mut add = change.prepare("INSERT INTO session_event (session, place, event) VALUES (?1, ?2, ?3)")?;
    for (place, event) in (place..).zip(events) {
        add.execute(params![number, place.cast_signed(), event])?;
    }
    Ok(())
}

/// Converts a stored word to its value. An unknown word is an error: a newer version wrote it, or
/// the database is damaged.
fn known<T>(column: &str, word: &str, value: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    value(word).ok_or_else(|| {
        let why = format!("{column} has the unknown value {word:?}");
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, why.into())
    })
}

/// Inserts a session and returns its number.
fn insert(connection: &Connection, session: &NewSession) -> rusqlite::Result<i64> {
    connection.execute(
        "INSERT INTO session (id, world, world_id, rev, command, time_limit_s, seed, better, sha256, started_at, identity, role)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            session.id,
            session.world,
            session.world_id,
            session.rev,
            session.command,
            session.time_limit_s,
            session.seed.cast_signed(),
            session.better.name(),
            session.sha256,
            session.started_at,
            json(&session.identity),
            session.role.name()
        ],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Stores how a session ended.
fn set_result(connection: &Connection, number: i64, result: &SessionResult) -> rusqlite::Result<()> {
    let sql = "UPDATE session SET ended_at = ?2, outcome = ?3, reason = ?4, record = ?5, elapsed_s = ?6, \
               observations = ?7, wait_s = ?8, report = ?9 WHERE number = ?1";
    let SessionResult { ended_at, outcome, reason, record, elapsed_s, observations, wait_s, report } = result;
    let (observations, outcome, report) = (observations.cast_signed(), outcome.name(), json(report));
    let values = params![number, ended_at, outcome, reason, record, elapsed_s, observations, wait_s, report];
    connection.execute(sql, values).map(drop)
}

fn json(value: &impl serde::Serialize) -> String {
    // Serialization fails only for maps whose keys are not text, and these types have no such maps.
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}

/// Reads a column of JSON. Damaged JSON is an error, because the column is part of the record.
fn from_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let outcome: Option<String> = row.get("outcome")?;
    let (record, elapsed_s): (String, f64) = (row.get("record")?, row.get("elapsed_s")?);
    let result = match outcome {
        None => None,
        Some(outcome) => Some(SessionResult {
            ended_at: row.get::<_, Option<String>>("ended_at")?.unwrap_or_default(),
            outcome: known("outcome", &outcome, Outcome::from_name)?,
            reason: row.get("reason")?,
            record: record.clone(),
            elapsed_s,
            observations: row.get::<_, i64>("observations")?.cast_unsigned(),
            wait_s: row.get("wait_s")?,
            report: from_json(row, "report")?,
        }),
    };
    Ok(SessionRow {
        number: row.get("number")?,
        start: NewSession {
            id: row.get("id")?,
            world: row.get("world")?,
            world_id: row.get("world_id")?,
            rev: row.get("rev")?,
            command: row.get("command")?,
            time_limit_s: row.get("time_limit_s")?,
            seed: row.get::<_, i64>("seed")?.cast_unsigned(),
            better: known("better", &row.get::<_, String>("better")?, Better::from_name)?,
            sha256: row.get("sha256")?,
            started_at: row.get("started_at")?,
            identity: from_json(row, "identity")?,
            role: known("role", &row.get::<_, String>("role")?, Role::from_name)?,
        },
        record,
        elapsed_s,
        result,
    })
}

#[cfg(test)]
mod tests;
