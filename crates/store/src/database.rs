//! The SQLite database of a data folder. It is checked and migrated when it is opened.

use crate::open_error::OpenError;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::{Duration, Instant};

/// Migration k turns a database of version k into version k + 1. Existing migrations never change.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE setting (name TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE light (
        world TEXT NOT NULL,
        name TEXT NOT NULL,
        red INTEGER NOT NULL CHECK (red IN (0, 1)),
        PRIMARY KEY (world, name)
    ) STRICT, WITHOUT ROWID;
",
    "
    CREATE TABLE session (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        world TEXT NOT NULL,
        world_id TEXT,
        rev TEXT,
        command TEXT,
        time_limit_s REAL NOT NULL,
        seed INTEGER NOT NULL,
        better TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        started_at TEXT NOT NULL,
        ended_at TEXT,
        outcome TEXT,
        reason TEXT,
        record TEXT NOT NULL DEFAULT 'null',
        elapsed_s REAL NOT NULL DEFAULT 0,
        observations INTEGER NOT NULL DEFAULT 0,
        wait_s REAL NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX session_world ON session (world, number);
    CREATE TABLE session_event (
        session INTEGER NOT NULL REFERENCES session (number),
        place INTEGER NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (session, place)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE session ADD COLUMN identity TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE session ADD COLUMN report TEXT NOT NULL DEFAULT '{}';
",
    "ALTER TABLE session ADD COLUMN role TEXT NOT NULL DEFAULT 'teacher'",
    "
    CREATE TABLE session_journal (
        session INTEGER NOT NULL REFERENCES session (number),
        place INTEGER NOT NULL,
        part INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (session, place)
    ) STRICT;
    CREATE TABLE bundle (sha256 TEXT NOT NULL PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
",
    "
    CREATE TABLE contestant (
        key TEXT NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        pseudonym TEXT NOT NULL UNIQUE
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE submission (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        contestant TEXT NOT NULL REFERENCES contestant (key),
        file TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        received_at TEXT NOT NULL,
        ended_at TEXT,
        failure TEXT
    ) STRICT;
    CREATE INDEX submission_waiting ON submission (number) WHERE ended_at IS NULL;
    CREATE TABLE submission_run (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        submission INTEGER NOT NULL REFERENCES submission (number),
        world TEXT NOT NULL,
        world_sha256 TEXT NOT NULL,
        seed INTEGER NOT NULL,
        ended_at TEXT NOT NULL,
        session TEXT,
        result TEXT NOT NULL,
        UNIQUE (submission, world, world_sha256, seed)
    ) STRICT;
",
    "
    CREATE TABLE project (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        document TEXT NOT NULL,
        revision INTEGER NOT NULL,
        updated_at TEXT NOT NULL,
        deleted INTEGER,
        driven_as TEXT
    ) STRICT;
    CREATE TABLE project_file (
        project INTEGER NOT NULL REFERENCES project (number),
        name TEXT NOT NULL,
        bytes BLOB NOT NULL,
        width INTEGER,
        height INTEGER,
        PRIMARY KEY (project, name)
    ) STRICT;
",
];
/// How long to wait if another program has the file locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a process that does not hold the data folder waits for the processes that write to the
/// database. Each of them writes for milliseconds.
const SHARED_BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// Time between two attempts to change the journal mode.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Opens the database, or creates it. A file that can't be used is not changed.
pub(crate) fn open(path: &Path) -> Result<Connection, OpenError> {
    open_within(path, BUSY_TIMEOUT, true)
}

/// Opens the database, or creates it, while other processes may use it. Its content is not checked,
/// because that would take long in a folder with many records.
pub(crate) fn open_shared(path: &Path) -> Result<Connection, OpenError> {
    open_within(path, SHARED_BUSY_TIMEOUT, false)
}

fn open_within(path: &Path, busy_timeout: Duration, check: bool) -> Result<Connection, OpenError> {
    let failed = |e: Error| explain(path, &e);
    let damaged = |reason: String| OpenError::Damaged { path: path.to_owned(), reason };
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(busy_timeout).map_err(failed)?;

    // The file is not written before all of these checks pass.
    let found = version(&connection).map_err(failed)?;
    let done = usize::try_from(found).map_err(|_| damaged(format!("its version is {found}")))?;
    if done > MIGRATIONS.len() {
        return Err(OpenError::Newer { path: path.to_owned(), found, known: MIGRATIONS.len() });
    }
    if check {
        let verdict: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
        if verdict != "ok" {
            return Err(damaged(verdict.replace('\n', " ")));
        }
    }
    if connection.is_readonly("main").map_err(failed)? {
        let reason = "the file is read-only".to_owned();
        return Err(OpenError::Unwritable { path: path.to_owned(), reason });
    }

    set_up(&connection, busy_timeout).map_err(failed)?;
    migrate(&mut connection, done).map_err(failed)?;
    Ok(connection)
}

/// Opens an existing database of the current version, read-only.
pub(crate) fn open_read_only(path: &Path) -> Result<Connection, OpenError> {
    let failed = |e: Error| explain(path, &e);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    let found = version(&connection).map_err(failed)?;
    if found == MIGRATIONS.len() as i64 {
        return Ok(connection);
    }
    let reason = format!("it has version {found} and not {}: start `chicane serve` once", MIGRATIONS.len());
    Err(OpenError::Damaged { path: path.to_owned(), reason })
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Configures the connection so that a finished write survives a kill and a power cut.
fn set_up(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    // If the file system does not support WAL, SQLite keeps the old journal mode. That mode is as
    // safe.
    use_wal(connection, busy_timeout)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // On macOS a plain fsync does not flush the drive's own cache. On other systems this setting
    // has no effect.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)
}

/// Changes the journal mode to WAL. While another process creates the same database, SQLite refuses
/// the change at once and does not apply the busy timeout, so the change is tried again.
fn use_wal(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    let deadline = Instant::now() + busy_timeout;
    loop {
        let mode: rusqlite::Result<String> =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode.map_err(|error| (error.sqlite_error_code(), error)) {
            Ok(_) => return Ok(()),
            Err((Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _))
                if Instant::now() < deadline =>
            {
                std::thread::sleep(RETRY_INTERVAL);
            }
            Err((_, error)) => return Err(error),
        }
    }
}

/// Runs the missing migrations, each in a transaction. `done` of them were run before.
fn migrate(connection: &mut Connection, done: usize) -> rusqlite::Result<()> {
    for (k, step) in MIGRATIONS.iter().enumerate().skip(done) {
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have run this migration after `done` was read.
        if version(&change)? > k as i64 {
            continue;
        }
        change.execute_batch(step)?;
        change.pragma_update(None, "user_version", k as i64 + 1)?;
        change.commit()?;
    }
    Ok(())
}

/// Distinguishes errors of the disk or its permissions from a damaged file.
fn explain(path: &Path, e: &Error) -> OpenError {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, PermissionDenied, ReadOnly,
        SystemIoFailure,
    };
    let (path, reason) = (path.to_owned(), e.to_string());
    match e.sqlite_error_code() {
        Some(
            CannotOpen | DatabaseBusy | DatabaseLocked | DiskFull | OutOfMemory | PermissionDenied | ReadOnly
            | SystemIoFailure,
        ) => OpenError::Unwritable { path, reason },
        _ => OpenError::Damaged { path, reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_folder::TempFolder;

    #[test]
    fn a_new_database_has_wal_full_sync_and_strict_tables() {
        let scratch = TempFolder::new();
        let connection = open(&scratch.path().join("chicane.db")).expect("opens");
        let text = |sql: &str| -> String { connection.query_row(sql, [], |row| row.get(0)).expect("a row") };
        assert_eq!(text("PRAGMA journal_mode"), "wal");
        assert_eq!(text("SELECT CAST(synchronous AS TEXT) FROM pragma_synchronous"), "2", "FULL");
        assert_eq!(version(&connection), Ok(MIGRATIONS.len() as i64));
        let loose = "SELECT group_concat(name || ' ') FROM pragma_table_list
                     WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND NOT strict";
        let loose: Option<String> = connection.query_row(loose, [], |row| row.get(0)).expect("a row");
        assert_eq!(loose, None, "every table is strict");
    }

    #[test]
    fn garbage_counts_as_damaged_and_is_not_changed() {
        let long: Vec<u8> = (0..20_000u32).map(|i| (i * i % 251) as u8).collect();
        // A single byte is not tested, because SQLite takes such a file for an empty database.
        for garbage in [b"xx".as_slice(), b"not a database\n", &long] {
            let scratch = TempFolder::new();
            let path = scratch.path().join("chicane.db");
            std::fs::write(&path, garbage).expect("written");
            let e = open(&path).expect_err("garbage opens");
            assert!(matches!(e, OpenError::Damaged { .. }), "{e:?}");
            let expected = format!(
                "{} is not a database that chicane can read: move it away and start again; \
                 file is not a database",
                path.display()
            );
            assert_eq!(e.to_string(), expected);
            assert!(std::fs::read(&path).expect("still there") == garbage, "it was changed");
        }
    }

    #[test]
    fn damage_inside_is_found_when_opened() {
        let scratch = TempFolder::new();
        let path = scratch.path().join("chicane.db");
        drop(open(&path).expect("opens"));
        let mut bytes = std::fs::read(&path).expect("read");
        bytes[4096..4160].fill(0xa5);
        std::fs::write(&path, &bytes).expect("written");
        let e = open(&path).expect_err("a damaged database opens");
        assert!(matches!(e, OpenError::Damaged { .. }), "{e:?}");
        assert_eq!(e.to_string().lines().count(), 1, "{e}");
        assert!(std::fs::read(&path).expect("still there") == bytes, "it was changed");
    }

    #[test]
    fn a_database_of_another_program_is_not_changed() {
        let scratch = TempFolder::new();
        let path = scratch.path().join("chicane.db");
        let other = Connection::open(&path).expect("opens");
        other.execute_batch("CREATE TABLE setting (a); INSERT INTO setting VALUES (7)").expect("made");
        drop(other);
        let e = open(&path).expect_err("it opens");
        assert!(matches!(e, OpenError::Damaged { .. }), "{e:?}");
        let other = Connection::open(&path).expect("opens");
        assert_eq!(other.query_row("SELECT a FROM setting", [], |row| row.get(0)), Ok(7));
        assert_eq!(version(&other), Ok(0));
    }

    #[test]
    fn an_unknown_version_is_refused() {
        for (found, newer) in [(MIGRATIONS.len() as i64 + 1, true), (i64::from(i32::MAX), true), (-1, false)]
        {
            let scratch = TempFolder::new();
            let path = scratch.path().join("chicane.db");
            let connection = open(&path).expect("opens");
            connection.pragma_update(None, "user_version", found).expect("set");
            drop(connection);
            let before = std::fs::read(&path).expect("read");
            let e = open(&path).expect_err("it opens");
            assert_eq!(matches!(e, OpenError::Newer { .. }), newer, "{e:?}");
            let says = if newer { "was made by a newer chicane" } else { "is not a database" };
            assert!(e.to_string().contains(says), "{e}");
            assert!(std::fs::read(&path).expect("still there") == before, "it was changed");
        }
    }

    #[test]
    fn a_folder_in_place_of_the_file_counts_as_unwritable() {
        let scratch = TempFolder::new();
        let path = scratch.path().join("chicane.db");
        std::fs::create_dir(&path).expect("made");
        let e = open(&path).expect_err("a folder opens");
        assert!(matches!(e, OpenError::Unwritable { .. }), "{e:?}");
    }
}
