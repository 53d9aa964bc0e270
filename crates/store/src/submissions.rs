//! Submissions of the leaderboard: who handed in what, and the results.
//!
//! The uploaded files themselves are in a folder of the data folder. This module stores only their
//! names and sizes.

use crate::settings::StoreError;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const COLUMNS: &str = "submission.number, submission.id, submission.contestant, contestant.name, \
     contestant.pseudonym, submission.file, submission.bytes, submission.received_at, submission.ended_at, \
     submission.failure";
const FROM: &str = "FROM submission JOIN contestant ON contestant.key = submission.contestant";

/// A submission that is handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubmission {
    /// Id of the submission.
    pub id: String,
    /// The key of the student: equal for names that people can't tell apart, such as `Ada` and
    /// `ADA`.
    pub key: String,
    /// Name of the student. The first name that is stored for a key is kept.
    pub name: String,
    /// Pseudonyms to choose from. The first pseudonym that no other student has is stored for a new
    /// student.
    pub pseudonyms: Vec<String>,
    /// Name of the uploaded file.
    pub file: String,
    /// Size of the uploaded file, bytes.
    pub bytes: u64,
    /// When the submission was handed in, RFC 3339.
    pub received_at: String,
}

/// A stored submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionRow {
    /// Number of the submission. Each new one gets a larger number.
    pub number: i64,
    /// Id of the submission.
    pub id: String,
    /// The key of the student.
    pub key: String,
    /// Name of the student.
    pub name: String,
    /// Pseudonym of the student.
    pub pseudonym: String,
    /// Name of the uploaded file.
    pub file: String,
    /// Size of the uploaded file, bytes.
    pub bytes: u64,
    /// When the submission was handed in, RFC 3339.
    pub received_at: String,
    /// When all runs of the submission were over, or when it was found that the submission can't be
    /// judged, RFC 3339; `None` before that.
    pub ended_at: Option<String>,
    /// Why the submission can't be judged; `None` if it can.
    pub failure: Option<String>,
}

/// The stored result of a submission in one world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionRunRow {
    /// Number of the submission.
    pub submission: i64,
    /// The key of the student.
    pub key: String,
    /// Name of the world.
    pub world: String,
    /// SHA-256 of the world's files, hex.
    pub world_sha256: String,
    /// Seed of the run.
    pub seed: u64,
    /// End of the run, RFC 3339.
    pub ended_at: String,
    /// Id of the session, if it is stored.
    pub session: Option<String>,
    /// The result, as JSON.
    pub result: String,
}

/// The submissions of a data folder. All calls block. A write is on disk when its call returns.
#[derive(Debug)]
pub struct Submissions {
    connection: Mutex<Connection>,
}

impl Submissions {
    pub(crate) fn new(connection: Connection) -> Submissions {
        Submissions { connection: Mutex::new(connection) }
    }

    /// Stores a submission. Returns `None` if a new student would need a pseudonym and all of them
    /// are taken.
    pub fn add(&self, new: &NewSubmission) -> Result<Option<SubmissionRow>, StoreError> {
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let known = "SELECT 1 FROM contestant WHERE key = ?1";
            let is_known = change.query_row(known, [&new.key], |_| Ok(())).optional()?.is_some();
            let add = "INSERT OR IGNORE INTO contestant (key, name, pseudonym) VALUES (?1, ?2, ?3)";
            if !is_known {
                let mut added = 0;
                for pseudonym in &new.pseudonyms {
                    added = change.execute(add, params![new.key, new.name, pseudonym])?;
                    if added > 0 {
                        break;
                    }
                }
                if added == 0 {
                    return Ok(None);
                }
            }
            change.execute(
                "INSERT INTO submission (id, contestant, file, bytes, received_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![new.id, new.key, new.file, new.bytes.cast_signed(), new.received_at],
            )?;
            let sql = format!("SELECT {COLUMNS} {FROM} WHERE submission.number = ?1");
            let row = change.query_row(&sql, [change.last_insert_rowid()], read)?;
            change.commit()?;
            Ok(Some(row))
        })
    }

    /// The submission with this id.
    pub fn find(&self, id: &str) -> Result<Option<SubmissionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!("SELECT {COLUMNS} {FROM} WHERE submission.id = ?1");
            connection.query_row(&sql, [id], read).optional()
        })
    }

    /// The submissions that have no end yet, the oldest first.
    pub fn waiting(&self) -> Result<Vec<SubmissionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} {FROM} WHERE submission.ended_at IS NULL ORDER BY submission.number"
            );
            connection.prepare(&sql)?.query_map([], read)?.collect()
        })
    }

    /// The newest submissions, the newest first.
    pub fn newest(&self, limit: usize) -> Result<Vec<SubmissionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!("SELECT {COLUMNS} {FROM} ORDER BY submission.number DESC LIMIT ?1");
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            connection.prepare(&sql)?.query_map([limit], read)?.collect()
        })
    }

    /// The submissions whose runs are over or that can't be judged, the oldest first.
    pub fn ended(&self) -> Result<Vec<SubmissionRow>, StoreError> {
        self.with(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} {FROM} WHERE submission.ended_at IS NOT NULL ORDER BY submission.number"
            );
            connection.prepare(&sql)?.query_map([], read)?.collect()
        })
    }

    /// Stores the result of a run. If a result for the same submission, world and seed is stored
    /// already, the stored result is kept.
    pub fn add_run(&self, run: &SubmissionRunRow) -> Result<(), StoreError> {
        self.with(|connection| {
            let sql = "INSERT OR IGNORE INTO submission_run \
                       (submission, world, world_sha256, seed, ended_at, session, result) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let SubmissionRunRow { submission, world, world_sha256, seed, ended_at, session, result, .. } =
                run;
            let values =
                params![submission, world, world_sha256, seed.cast_signed(), ended_at, session, result];
            connection.execute(sql, values).map(drop)
        })
    }

    /// The results of one submission, or of all submissions if `submission` is `None`, in the order
    /// in which they were stored.
    pub fn runs(&self, submission: Option<i64>) -> Result<Vec<SubmissionRunRow>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT submission_run.*, submission.contestant FROM submission_run \
                       JOIN submission ON submission.number = submission_run.submission \
                       WHERE ?1 IS NULL OR submission_run.submission = ?1 ORDER BY submission_run.number";
            connection.prepare(sql)?.query_map([submission], read_run)?.collect()
        })
    }

    /// Stores that all runs of a submission are over, or why it can't be judged.
    pub fn end(&self, number: i64, ended_at: &str, failure: Option<&str>) -> Result<(), StoreError> {
        self.with(|connection| {
            let sql = "UPDATE submission SET ended_at = ?2, failure = ?3 WHERE number = ?1";
            connection.execute(sql, params![number, ended_at, failure]).map(drop)
        })
    }

    /// Removes a submission and its results. The student keeps name and pseudonym.
    pub fn remove(&self, number: i64) -> Result<(), StoreError> {
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            change.execute("DELETE FROM submission_run WHERE submission = ?1", [number])?;
            change.execute("DELETE FROM submission WHERE number = ?1", [number])?;
            change.commit()
        })
    }

    /// Names and pseudonyms of all students by their keys.
    pub fn contestants(&self) -> Result<BTreeMap<String, (String, String)>, StoreError> {
        self.with(|connection| {
            let mut query = connection.prepare("SELECT key, name, pseudonym FROM contestant")?;
            query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.collect()
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        // A poisoned lock can be used, because a panic rolls the transaction back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|e| StoreError::Database(e.to_string()))
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SubmissionRow> {
    Ok(SubmissionRow {
        number: row.get(0)?,
        id: row.get(1)?,
        key: row.get(2)?,
        name: row.get(3)?,
        pseudonym: row.get(4)?,
        file: row.get(5)?,
        bytes: row.get::<_, i64>(6)?.cast_unsigned(),
        received_at: row.get(7)?,
        ended_at: row.get(8)?,
        failure: row.get(9)?,
    })
}

fn read_run(row: &Row<'_>) -> rusqlite::Result<SubmissionRunRow> {
    Ok(SubmissionRunRow {
        submission: row.get("submission")?,
        key: row.get("contestant")?,
        world: row.get("world")?,
        world_sha256: row.get("world_sha256")?,
        seed: row.get::<_, i64>("seed")?.cast_unsigned(),
        ended_at: row.get("ended_at")?,
        session: row.get("session")?,
        result: row.get("result")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::temp_folder::TempFolder;

    fn new(id: &str, key: &str, name: &str, pseudonyms: &[&str]) -> NewSubmission {
        NewSubmission {
            id: id.to_owned(),
            key: key.to_owned(),
            name: name.to_owned(),
            pseudonyms: pseudonyms.iter().map(|&name| name.to_owned()).collect(),
            file: "upload.zip".to_owned(),
            bytes: 7,
            received_at: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn a_student_keeps_the_first_name_and_the_first_free_pseudonym() {
        let scratch = TempFolder::new();
        let all = Submissions::new(database::open(&scratch.path().join("chicane.db")).expect("opens"));
        let add = |new: &NewSubmission| all.add(new).expect("stored");
        let first = add(&new("a", "ada", "Ada", &["Red Fox", "Blue Owl"])).expect("a row");
        let other = add(&new("b", "bob", "Bob", &["Red Fox", "Blue Owl"])).expect("a row");
        let again = add(&new("c", "ada", "ADA", &["Green Cat"])).expect("a row");
        assert_eq!((first.pseudonym.as_str(), other.pseudonym.as_str()), ("Red Fox", "Blue Owl"));
        assert_eq!((again.name.as_str(), again.pseudonym.as_str()), ("Ada", "Red Fox"));
        assert_eq!(add(&new("d", "eve", "Eve", &["Red Fox", "Blue Owl"])), None, "no pseudonym is free");
        assert_eq!(all.find("d").expect("read"), None, "nothing of it is stored");
        assert!(all.add(&new("a", "ada", "Ada", &[])).is_err(), "an id is used once");
    }

    #[test]
    fn results_are_stored_once_and_in_order() {
        let scratch = TempFolder::new();
        let path = scratch.path().join("chicane.db");
        let all = Submissions::new(database::open(&path).expect("opens"));
        let row = all.add(&new("a", "ada", "Ada", &["Red Fox"])).expect("stored").expect("a row");
        let run = |world: &str, result: &str| SubmissionRunRow {
            submission: row.number,
            key: "ada".to_owned(),
            world: world.to_owned(),
            world_sha256: "0".to_owned(),
            seed: u64::MAX >> 11,
            ended_at: "2026-01-01T00:00:01Z".to_owned(),
            session: Some("s".to_owned()),
            result: result.to_owned(),
        };
        for stored in [run("oval", "1"), run("town", "2"), run("oval", "3")] {
            all.add_run(&stored).expect("stored");
        }
        assert_eq!(all.runs(Some(row.number)).expect("read"), [run("oval", "1"), run("town", "2")]);
        assert_eq!(all.waiting().expect("read"), std::slice::from_ref(&row));
        all.end(row.number, "2026-01-01T00:00:02Z", None).expect("stored");
        assert_eq!((all.waiting().expect("read").len(), all.ended().expect("read").len()), (0, 1));
        all.remove(row.number).expect("removed");
        assert_eq!((all.find("a").expect("read"), all.runs(None).expect("read")), (None, Vec::new()));
        let later = all.add(&new("b", "ada", "Ada", &[])).expect("stored").expect("a row");
        assert!(later.number > row.number && later.pseudonym == "Red Fox", "{later:?}");
    }
}
