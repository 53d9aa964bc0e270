//! Records of evaluations: every session that ever was, with its story.

use crate::settings::StoreError;
use chicane_wire::{Better, Outcome};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::sync::{Mutex, PoisonError};

/// Every column of a session but its number.
const COLUMNS: &str = "id, world, world_id, rev, command, time_limit_s, seed, better, sha256, started_at, ended_at, \
                       outcome, reason, record, elapsed_s, observations, wait_s";

/// A session that begins.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: String,
    /// Name of the world.
    pub world: String,
    /// Id of the published world.
    pub world_id: Option<String>,
    /// Its revision.
    pub rev: Option<String>,
    /// The student's command.
    pub command: Option<String>,
    /// Simulated seconds.
    pub time_limit_s: f64,
    /// Of every random stream.
    pub seed: u64,
    /// `lower` or `higher`.
    pub better: Better,
    /// Fingerprint of the script.
    pub sha256: String,
    /// RFC 3339.
    pub started_at: String,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionResult {
    /// RFC 3339.
    pub ended_at: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reason: Option<String>,
    /// JSON.
    pub record: String,
    /// Simulated seconds.
    pub elapsed_s: f64,
    /// How often the script judged.
    pub observations: u64,
    /// How long the world waited for it, in real seconds.
    pub wait_s: f64,
}

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Grows with every session.
    pub number: i64,
    /// What it began with.
    pub start: NewSession,
    /// JSON; the last one that was kept.
    pub record: String,
    /// Simulated seconds, the last that were kept.
    pub elapsed_s: f64,
    /// How it ended; `None` while it goes on.
    pub result: Option<SessionResult>,
}

/// The records of a data folder. All calls block; a write is on the disk when its call returns.
#[derive(Debug)]
pub struct Records {
    connection: Mutex<Connection>,
}

impl Records {
    pub(crate) fn new(connection: Connection) -> Records {
        Records { connection: Mutex::new(connection) }
    }

    /// Opens the records of a data folder to read them, also while a simulator uses it.
    pub fn open(dir: &std::path::Path) -> Result<Records, crate::data::OpenError> {
        crate::database::open_to_read(&dir.join("chicane.db")).map(Records::new)
    }

    /// A session begins; its number.
    pub fn begin(&self, session: &NewSession) -> Result<i64, StoreError> {
        self.with(|connection| {
            connection.execute(
                "INSERT INTO session (id, world, world_id, rev, command, time_limit_s, seed, better, sha256, started_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
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
                    session.started_at
                ],
            )?;
            Ok(connection.last_insert_rowid())
        })
    }

    /// Adds to the story of a session, from this place on, and says how things stand.
    pub fn add(
        &self,
        number: i64,
        place: u64,
        events: &[String],
        record: &str,
        elapsed_s: f64,
    ) -> Result<(), StoreError> {
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            add_events(&change, number, place, events)?;
            let so_far = "UPDATE session SET record = ?2, elapsed_s = ?3 WHERE number = ?1";
            change.execute(so_far, params![number, record, elapsed_s])?;
            change.commit()
        })
    }

    /// A session ended, with the last of its story: both are kept, or neither is.
    pub fn end(
        &self,
        number: i64,
        place: u64,
        events: &[String],
        result: &SessionResult,
    ) -> Result<(), StoreError> {
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            add_events(&change, number, place, events)?;
            let sql = "UPDATE session SET ended_at = ?2, outcome = ?3, reason = ?4, record = ?5, elapsed_s = ?6, \
                       observations = ?7, wait_s = ?8 WHERE number = ?1";
            let SessionResult { ended_at, outcome, reason, record, elapsed_s, observations, wait_s } = result;
            let observations = observations.cast_signed();
            let outcome = outcome.name();
            let values = params![number, ended_at, outcome, reason, record, elapsed_s, observations, wait_s];
            change.execute(sql, values)?;
            change.commit()
        })
    }

    /// Sessions that were never ended.
    pub fn unfinished(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!("SELECT number, {COLUMNS} FROM session WHERE outcome IS NULL ORDER BY number");
            connection.prepare(&sql)?.query_map([], read)?.collect()
        })
    }

    /// The session of this id, or the last one.
    pub fn session(&self, id: Option<&str>) -> Result<Option<SessionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!(
                "SELECT number, {COLUMNS} FROM session WHERE ?1 IS NULL OR id = ?1 ORDER BY number DESC LIMIT 1"
            );
            connection.query_row(&sql, [id], read).optional()
        })
    }

    /// Sessions from the newest on: of one world or of all, below a number or from the top.
    pub fn sessions(
        &self,
        world: Option<&str>,
        below: Option<i64>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!(
                "SELECT number, {COLUMNS} FROM session
                 WHERE (?1 IS NULL OR world = ?1) AND (?2 IS NULL OR number < ?2) ORDER BY number DESC LIMIT ?3"
            );
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            connection.prepare(&sql)?.query_map(params![world, below, limit], read)?.collect()
        })
    }

    /// The story of a session: JSON objects in order.
    pub fn events(&self, number: i64) -> Result<Vec<String>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT event FROM session_event WHERE session = ?1 ORDER BY place";
            connection.prepare(sql)?.query_map([number], |row| row.get(0))?.collect()
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        // Whoever panicked while holding it had his transaction rolled back.
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

/// The value of a stored word. A word that this version does not know is an error, because a newer
/// version wrote it.
fn known<T>(column: &str, word: &str, value: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    value(word).ok_or_else(|| {
        let why = format!("{column} has the unknown value {word:?}");
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, why.into())
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
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
        },
        record,
        elapsed_s,
        result,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::scratch::Scratch;

    fn records(scratch: &Scratch) -> Records {
        Records::new(database::open(&scratch.path().join("chicane.db")).expect("opens"))
    }

    fn session(id: &str, world: &str) -> NewSession {
        NewSession {
            id: id.to_owned(),
            world: world.to_owned(),
            world_id: None,
            rev: None,
            command: Some("python3 run.py".to_owned()),
            time_limit_s: 180.0,
            seed: (1 << 53) - 1,
            better: Better::Lower,
            sha256: "ab".to_owned(),
            started_at: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    fn result(outcome: Outcome) -> SessionResult {
        SessionResult {
            ended_at: "2026-01-01T00:01:00Z".to_owned(),
            outcome,
            reason: None,
            record: "12.5".to_owned(),
            elapsed_s: 30.0,
            observations: 1500,
            wait_s: 0.5,
        }
    }

    #[test]
    fn a_session_is_there_from_its_beginning_to_its_end() {
        let scratch = Scratch::new();
        let number = {
            let records = records(&scratch);
            let number = records.begin(&session("a", "oval")).expect("begun");
            let lines = ["{\"k\":1}".to_owned(), "{\"k\":2}".to_owned()];
            records.add(number, 0, &lines, "3.5", 4.0).expect("added");
            records.add(number, 2, &["{\"k\":3}".to_owned()], "4.5", 5.0).expect("added");
            number
        };
        let records = records(&scratch);
        let left = records.unfinished().expect("read");
        assert_eq!(left.len(), 1, "it was never ended");
        assert_eq!((left[0].record.as_str(), left[0].elapsed_s), ("4.5", 5.0));
        assert_eq!(records.events(number).expect("read"), ["{\"k\":1}", "{\"k\":2}", "{\"k\":3}"]);
        // A place that is taken: nothing of it is kept.
        let last = ["{\"k\":4}".to_owned(), "{\"k\":5}".to_owned()];
        assert!(records.end(number, 2, &last, &result(Outcome::Stopped)).is_err());
        assert_eq!(
            (records.unfinished().expect("read").len(), records.events(number).expect("read").len()),
            (1, 3)
        );
        records.end(number, 3, &last, &result(Outcome::Stopped)).expect("ended");
        assert_eq!(records.events(number).expect("read").len(), 5);
        assert!(records.unfinished().expect("read").is_empty());
        let row = records.session(Some("a")).expect("read").expect("there");
        assert_eq!((row.start, row.result), (session("a", "oval"), Some(result(Outcome::Stopped))));
    }

    #[test]
    fn the_newest_come_first_and_pages_follow_each_other() {
        let scratch = Scratch::new();
        let records = records(&scratch);
        for k in 0..10 {
            let world = if k % 2 == 0 { "oval" } else { "field" };
            records.begin(&session(&k.to_string(), world)).expect("begun");
        }
        let ids = |rows: &[SessionRow]| rows.iter().map(|r| r.start.id.clone()).collect::<Vec<_>>();
        let first = records.sessions(None, None, 4).expect("read");
        assert_eq!(ids(&first), ["9", "8", "7", "6"]);
        let next = records.sessions(None, Some(first[3].number), 4).expect("read");
        assert_eq!(ids(&next), ["5", "4", "3", "2"]);
        assert_eq!(ids(&records.sessions(Some("oval"), None, 2).expect("read")), ["8", "6"]);
        assert_eq!(records.session(None).expect("read").expect("there").start.id, "9");
        assert_eq!(records.session(Some("nobody")), Ok(None));
    }

    #[test]
    fn an_id_is_there_once() {
        let scratch = Scratch::new();
        let records = records(&scratch);
        records.begin(&session("a", "oval")).expect("begun");
        assert!(records.begin(&session("a", "oval")).is_err());
    }
}
