//! The SQLite database of a data folder. [`open`] checks and migrates the database.

use crate::installed_worlds::sync_folder;
use crate::open_error::OpenError;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, TransactionBehavior};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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
/// How long a connection waits if another process has the file locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection waits for other connections that write to a shared database. Each write
/// takes milliseconds.
const SHARED_BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// Size of the header of a database file, bytes.
const HEADER_BYTES: u64 = 100;
/// Time between two attempts to change the journal mode.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The version of the databases that this program writes.
pub(crate) const VERSION: usize = MIGRATIONS.len();

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
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => create(path)?,
        Ok(file) if file.is_file() && file.len() == 0 => {
            return Err(OpenError::Empty { path: path.to_owned() });
        }
        // A file that is shorter than the header is not a database. SQLite itself would take a file
        // of one byte for an empty database.
        Ok(file) if file.is_file() && file.len() < HEADER_BYTES => {
            return Err(damaged("file is not a database".to_owned()));
        }
        // SQLite reports other errors.
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
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

/// Creates an empty database of the current version. The file appears under its name when it is
/// complete. Therefore a process that is killed meanwhile leaves no empty file behind, which the
/// next start would refuse. If two processes create the same database at once, one of the two files
/// is kept.
fn create(path: &Path) -> Result<(), OpenError> {
    let failed = |e: Error| explain(path, &e);
    let unwritable =
        |e: std::io::Error| OpenError::Unwritable { path: path.to_owned(), reason: e.to_string() };
    let draft = draft(path);
    let _ = std::fs::remove_file(&draft);
    let mut connection = Connection::open(&draft).map_err(failed)?;
    let made = set_up(&connection, BUSY_TIMEOUT).and_then(|()| migrate(&mut connection, 0));
    // Closing the last connection moves the content of the WAL into the file.
    let closed = made.and_then(|()| connection.close().map_err(|(_, error)| error));
    let placed = closed.map_err(failed).and_then(|()| {
        File::open(&draft).and_then(|file| file.sync_all()).map_err(unwritable)?;
        match std::fs::hard_link(&draft, path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            // The link failed although no file of this name exists, so the file system probably has
            // no hard links. The file is renamed instead.
            Err(_) if !path.exists() => std::fs::rename(&draft, path).map_err(unwritable),
            Err(error) => Err(unwritable(error)),
        }
    });
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(with_ending(&draft, ending));
    }
    placed?;
    path.parent().map(sync_folder);
    Ok(())
}

/// A path beside `path` that no other thread or process uses.
pub(crate) fn draft(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    with_ending(path, &format!(".new-{}-{count}", std::process::id()))
}

/// A path with a text after its file name.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Opens an existing database of the current version, read-only.
pub(crate) fn open_read_only(path: &Path) -> Result<Connection, OpenError> {
    let (connection, found) = open_any_version(path)?;
    if found < VERSION as i64 {
        return Err(OpenError::Older { path: path.to_owned(), found, known: VERSION });
    }
    Ok(connection)
}

/// Opens an existing database of this or an older version, read-only. Returns its version too.
pub(crate) fn open_any_version(path: &Path) -> Result<(Connection, i64), OpenError> {
    let failed = |e: Error| explain(path, &e);
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(OpenError::Missing { path: path.to_owned() });
        }
        Ok(file) if file.is_file() && file.len() == 0 => {
            return Err(OpenError::Empty { path: path.to_owned() });
        }
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    let found = version(&connection).map_err(failed)?;
    if found > VERSION as i64 {
        return Err(OpenError::Newer { path: path.to_owned(), found, known: VERSION });
    }
    if found < 1 {
        let reason = format!("its version is {found}");
        return Err(OpenError::Damaged { path: path.to_owned(), reason });
    }
    Ok((connection, found))
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Configures the connection so that a finished write survives a kill and a power cut.
fn set_up(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    // If the file system does not support WAL, SQLite keeps the old journal mode. The old mode is
    // just as safe.
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

/// Runs the missing migrations, each in a transaction. `done` is the number of migrations that were
/// run before.
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

/// Distinguishes a damaged file from other errors, for instance of the disk or its permissions.
pub(crate) fn explain(path: &Path, e: &Error) -> OpenError {
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
        for garbage in [b"x".as_slice(), b"xx", b"not a database\n", &long] {
            let scratch = TempFolder::new();
            let path = scratch.path().join("chicane.db");
            std::fs::write(&path, garbage).expect("written");
            let e = open(&path).expect_err("garbage opens");
            assert!(matches!(e, OpenError::Damaged { .. }), "{e:?}");
            let expected = format!(
                "{} is not a database that chicane can read: restore a backup with `chicane restore FILE \
                 --replace`, or move the file away and start again; file is not a database",
                path.display()
            );
            assert_eq!(e.to_string(), expected);
            assert!(std::fs::read(&path).expect("still there") == garbage, "it was changed");
        }
    }

    #[test]
    fn an_empty_file_was_taken_for_a_new_database() {
        let scratch = TempFolder::new();
        let path = scratch.path().join("chicane.db");
        std::fs::write(&path, "").expect("written");
        for opened in [open(&path), open_shared(&path), open_read_only(&path)] {
            let e = opened.expect_err("an empty file opens");
            assert_eq!(e, OpenError::Empty { path: path.clone() });
            assert!(e.to_string().contains("0 bytes") && e.to_string().contains("chicane restore"), "{e}");
        }
        assert_eq!(std::fs::metadata(&path).expect("still there").len(), 0);
    }

    #[test]
    fn a_new_database_appears_complete_and_without_leftovers() {
        let scratch = TempFolder::new();
        let path = scratch.path().join("chicane.db");
        std::thread::scope(|scope| {
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(|| open_shared(&path).map(drop))).collect();
            for thread in opened {
                assert_eq!(thread.join().expect("no panic"), Ok(()));
            }
        });
        assert_eq!(version(&open(&path).expect("opens")), Ok(VERSION as i64));
        let left = std::fs::read_dir(scratch.path()).expect("a folder").flatten().map(|e| e.file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("new")).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn a_read_only_database_of_another_version_was_called_damaged() {
        let scratch = TempFolder::new();
        let path = scratch.path().join("chicane.db");
        assert_eq!(open_read_only(&path).map(drop), Err(OpenError::Missing { path: path.clone() }));
        for (found, says) in [(2, "made by an older chicane (database version 2"), (99, "newer chicane")] {
            let connection = open(&path).expect("opens");
            connection.pragma_update(None, "user_version", found).expect("set");
            drop(connection);
            let e = open_read_only(&path).expect_err("it opens").to_string();
            assert!(e.contains(says) && e.contains(env!("CARGO_PKG_VERSION")), "{e}");
            Connection::open(&path)
                .and_then(|c| c.pragma_update(None, "user_version", VERSION as i64))
                .expect("set");
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
