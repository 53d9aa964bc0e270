//! Saves the readable part of a damaged database.
//!
//! A copy of the damaged file is read table by table. SQLite fails when it reaches a damaged page.
//! Other queries, which start behind the page or at the other end of the table, then read the
//! remaining rows. The rows go to a new database, which replaces the damaged one. The damaged files
//! are kept in a folder beside it.
//!
//! The definitions of the tables have to be readable. If their pages are damaged, nothing is saved.

use crate::data::create_private;
use crate::database::{self, VERSION, version, with_ending};
use crate::installed_worlds::sync_folder;
use crate::records;
use crate::time;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, params_from_iter};
use std::fmt;
use std::path::{Path, PathBuf};

/// Maximum number of unreadable ranges of keys that are skipped in a table.
const MAX_HOLES: usize = 10_000;
/// The endings of the names of a database's files.
const ENDINGS: [&str; 3] = ["", "-wal", "-shm"];

/// A table that is saved.
struct Table {
    name: &'static str,
    kind: TableKind,
}

enum TableKind {
    /// Rows have a row id, so that damaged pages can be skipped.
    WithRowId,
    /// Rows are read in the order of these columns: ascending, and descending too if that fails.
    ByKey(&'static str),
    /// As `ByKey` with the column `place`, separately for each session of the new database.
    BySession,
}

/// The tables of the database. A table comes after the tables that it refers to.
const TABLES: [Table; 11] = [
    Table { name: "setting", kind: TableKind::ByKey("name") },
    Table { name: "light", kind: TableKind::ByKey("world, name") },
    Table { name: "session", kind: TableKind::WithRowId },
    Table { name: "session_event", kind: TableKind::BySession },
    Table { name: "session_journal", kind: TableKind::WithRowId },
    Table { name: "bundle", kind: TableKind::WithRowId },
    Table { name: "contestant", kind: TableKind::ByKey("key") },
    Table { name: "submission", kind: TableKind::WithRowId },
    Table { name: "submission_run", kind: TableKind::WithRowId },
    Table { name: "project", kind: TableKind::WithRowId },
    Table { name: "project_file", kind: TableKind::WithRowId },
];

/// What was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Salvaged {
    /// Names of the tables that have saved rows, each with the number of these rows.
    rows: Vec<(&'static str, i64)>,
    /// Tables of which a part could not be read.
    incomplete: Vec<&'static str>,
    /// The folder with the damaged files.
    aside: PathBuf,
}

impl fmt::Display for Salvaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<String> = self.rows.iter().map(|(name, rows)| format!("{rows} of {name}")).collect();
        let rows = if rows.is_empty() { "no rows".to_owned() } else { format!("rows: {}", rows.join(", ")) };
        write!(f, "a new database has what could be read ({rows})")?;
        if !self.incomplete.is_empty() {
            write!(f, ", incomplete are {}", self.incomplete.join(", "))?;
        }
        write!(f, "; the damaged files are in {}", self.aside.display())
    }
}

/// Why nothing was saved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SalvageError {
    #[error("the file is not a database of chicane")]
    NotOurs,
    #[error("its tables can't be read")]
    NoTables,
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> SalvageError + '_ {
    move |source| SalvageError::File { path: path.to_owned(), source }
}

/// Replaces a damaged database with a new database that has its readable rows. The caller holds the
/// lock of the data folder. If nothing can be saved, nothing is changed.
pub(crate) fn salvage(path: &Path) -> Result<Salvaged, SalvageError> {
    let (copy, new) = (with_ending(path, ".copy"), database::draft(path));
    let saved = save(path, &copy, &new);
    for ending in ENDINGS {
        let _ = std::fs::remove_file(with_ending(&copy, ending));
    }
    let placed = saved.and_then(|(rows, incomplete)| {
        let aside = keep_aside(path)?;
        // The old log is removed first. Otherwise SQLite could apply it to the new file.
        for ending in &ENDINGS[1..] {
            let _ = std::fs::remove_file(with_ending(path, ending));
        }
        std::fs::rename(&new, path).map_err(file(path))?;
        path.parent().map(sync_folder);
        Ok(Salvaged { rows, incomplete, aside })
    });
    for ending in ENDINGS {
        let _ = std::fs::remove_file(with_ending(&new, ending));
    }
    placed
}

/// Number of rows by table, and the incomplete tables.
type Saved = (Vec<(&'static str, i64)>, Vec<&'static str>);

/// Copies the readable rows of `path` to the new database `new`. The damaged file is read from a
/// copy, because SQLite would change the file when it applies the log.
fn save(path: &Path, copy: &Path, new: &Path) -> Result<Saved, SalvageError> {
    for ending in &ENDINGS[..2] {
        let (from, to) = (with_ending(path, ending), with_ending(copy, ending));
        if from.exists() {
            std::fs::copy(&from, &to).map_err(file(&from))?;
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let old = Connection::open_with_flags(copy, flags)?;
    if !(1..=VERSION as i64).contains(&version(&old)?) {
        return Err(SalvageError::NotOurs);
    }
    let made = database::open(new).map_err(|error| SalvageError::File {
        path: new.to_owned(),
        source: std::io::Error::other(error.to_string()),
    })?;
    // Foreign keys are not enforced. Otherwise `remove_unusable` could not delete a session that
    // has events.
    made.pragma_update(None, "foreign_keys", false)?;
    made.execute_batch("BEGIN")?;
    let (mut incomplete, mut readable) = (Vec::new(), 0);
    for table in &TABLES {
        // A table of a newer version does not exist in an older database.
        let known = columns(&made, table.name)?;
        let mut columns = columns(&old, table.name)?;
        columns.retain(|column| known.contains(column));
        if columns.is_empty() {
            continue;
        }
        readable += 1;
        let target = Target { old: &old, new: &made, table: table.name, columns };
        if !target.copy(&table.kind)? {
            incomplete.push(table.name);
        }
    }
    if readable == 0 {
        return Err(SalvageError::NoTables);
    }
    remove_unusable(&made)?;
    let rows = count_rows(&made)?;
    made.execute_batch("COMMIT")?;
    // Closing the connection moves the content of the log into the file.
    made.close().map_err(|(_, error)| error)?;
    std::fs::File::open(new).and_then(|new| new.sync_all()).map_err(file(new))?;
    Ok((rows, incomplete))
}

/// The columns of a table; none if there is no such table.
fn columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// One table and its columns, with the connections to the old and the new database. Its methods
/// copy the rows of this table.
struct Target<'a> {
    old: &'a Connection,
    new: &'a Connection,
    table: &'static str,
    columns: Vec<String>,
}

impl Target<'_> {
    /// Copies all rows that can be read. Returns false if some rows can't be read.
    fn copy(&self, kind: &TableKind) -> rusqlite::Result<bool> {
        match kind {
            TableKind::WithRowId => self.copy_by_row_id(),
            TableKind::ByKey(key) => self.copy_from_both_ends("", key),
            TableKind::BySession => {
                let mut sessions = self.new.prepare("SELECT number FROM session")?;
                let numbers: Vec<i64> =
                    sessions.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
                let mut complete = true;
                for number in numbers {
                    complete &= self.copy_from_both_ends(&format!("WHERE session = {number}"), "place")?;
                }
                Ok(complete)
            }
        }
    }

    /// Copies rows in the order of their row ids. Where SQLite fails, copying continues at the next
    /// readable row.
    fn copy_by_row_id(&self) -> rusqlite::Result<bool> {
        let (mut next, mut complete) = (i64::MIN, true);
        for _ in 0..MAX_HOLES {
            let (last, whole) = self.copy_rows(&format!("WHERE rowid >= {next} ORDER BY rowid"))?;
            if whole {
                return Ok(complete);
            }
            complete = false;
            let after = last.map_or(next, |last| last.saturating_add(1));
            match self.next_readable(after) {
                Some(found) => next = found,
                None => return Ok(false),
            }
        }
        Ok(false)
    }

    /// The first row id behind the damaged rows from `after` on. Steps that double each time find a
    /// readable row, and a bisection then finds the first readable row. `None` if no readable row
    /// follows.
    fn next_readable(&self, after: i64) -> Option<i64> {
        let after = after.max(0);
        let (mut step, mut bad) = (1_i64, after);
        let (mut good, mut found) = loop {
            let tried = after.checked_add(step)?;
            match self.row_id_from(tried) {
                Ok(Some(found)) => break (tried, found),
                // No row follows the damaged rows.
                Ok(None) => return None,
                Err(_) => bad = tried,
            }
            step = step.checked_mul(2)?;
        };
        while bad + 1 < good {
            let middle = bad + (good - bad) / 2;
            match self.row_id_from(middle) {
                Ok(row) => (good, found) = (middle, row.unwrap_or(found)),
                Err(_) => bad = middle,
            }
        }
        Some(found)
    }

    /// The first row id that is not below `from`; `None` if there is no such row. Fails if the row
    /// can't be read completely.
    fn row_id_from(&self, from: i64) -> rusqlite::Result<Option<i64>> {
        let columns = self.columns.join(", ");
        let sql =
            format!("SELECT rowid, {columns} FROM {} WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", self.table);
        let mut query = self.old.prepare(&sql)?;
        let mut rows = query.query([from])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        values(row, 1, self.columns.len())?;
        row.get(0).map(Some)
    }

    /// Copies rows in the order of their key. If SQLite can't read all of them, copies rows in the
    /// opposite order too, and returns false.
    fn copy_from_both_ends(&self, filter: &str, key: &str) -> rusqlite::Result<bool> {
        if self.copy_rows(&format!("{filter} ORDER BY {key}"))?.1 {
            return Ok(true);
        }
        let descending: Vec<String> = key.split(", ").map(|column| format!("{column} DESC")).collect();
        self.copy_rows(&format!("{filter} ORDER BY {}", descending.join(", ")))?;
        Ok(false)
    }

    /// Copies the rows of a query until it ends or fails. Returns the last row id, if the table has
    /// row ids, and whether the query ended.
    fn copy_rows(&self, rest: &str) -> rusqlite::Result<(Option<i64>, bool)> {
        let columns = self.columns.join(", ");
        let id = if rest.contains("rowid") { "rowid" } else { "0" };
        let places = vec!["?"; self.columns.len()].join(", ");
        let mut insert = self
            .new
            .prepare(&format!("INSERT OR IGNORE INTO {} ({columns}) VALUES ({places})", self.table))?;
        let Ok(mut query) = self.old.prepare(&format!("SELECT {id}, {columns} FROM {} {rest}", self.table))
        else {
            return Ok((None, false));
        };
        let Ok(mut rows) = query.query([]) else { return Ok((None, false)) };
        let mut last = None;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok((last, true)),
                Err(_) => return Ok((last, false)),
            };
            let Ok(found) = values(row, 1, self.columns.len()) else { return Ok((last, false)) };
            last = row.get(0).ok();
            // The new table refuses a row if the damage has changed the type of a column.
            let _ = insert.execute(params_from_iter(found));
        }
    }
}

/// The values of `count` columns of a row, from the column `first` on.
fn values(row: &Row<'_>, first: usize, count: usize) -> rusqlite::Result<Vec<Value>> {
    (first..first + count).map(|i| row.get(i)).collect()
}

/// Removes sessions that can't be decoded, and rows that refer to a row that was lost.
fn remove_unusable(new: &Connection) -> rusqlite::Result<()> {
    let mut numbers = new.prepare("SELECT number FROM session")?;
    let numbers: Vec<i64> = numbers.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let sql = format!("SELECT number, {} FROM session WHERE number = ?1", records::COLUMNS);
    for number in numbers {
        if new.query_row(&sql, [number], records::read).is_err() {
            new.execute("DELETE FROM session WHERE number = ?1", [number])?;
        }
    }
    new.execute_batch(
        "DELETE FROM session_event WHERE session NOT IN (SELECT number FROM session);
         DELETE FROM session_journal WHERE session NOT IN (SELECT number FROM session);
         DELETE FROM submission WHERE contestant NOT IN (SELECT key FROM contestant);
         DELETE FROM submission_run WHERE submission NOT IN (SELECT number FROM submission);
         DELETE FROM project_file WHERE project NOT IN (SELECT number FROM project);",
    )
}

/// The tables that have rows, each with the number of its rows.
fn count_rows(database: &Connection) -> rusqlite::Result<Vec<(&'static str, i64)>> {
    let mut counted = Vec::new();
    for table in &TABLES {
        let sql = format!("SELECT count(*) FROM {}", table.name);
        let rows: i64 = database.query_row(&sql, [], |row| row.get(0))?;
        if rows > 0 {
            counted.push((table.name, rows));
        }
    }
    Ok(counted)
}

/// Keeps the damaged files in a new folder beside them, and returns the folder. The database keeps
/// its name until the new one replaces it.
fn keep_aside(path: &Path) -> Result<PathBuf, SalvageError> {
    let stamp = time::now().replace(['-', ':'], "");
    let free = (1..).map(|i| match i {
        1 => with_ending(path, &format!(".damaged-{stamp}")),
        i => with_ending(path, &format!(".damaged-{stamp}-{i}")),
    });
    let aside =
        free.take(1000).find(|folder| !folder.exists()).unwrap_or_else(|| with_ending(path, ".damaged"));
    create_private(&aside).map_err(file(&aside))?;
    let name = path.file_name().map(Path::new).unwrap_or(path);
    for ending in &ENDINGS[..2] {
        let (from, to) = (with_ending(path, ending), aside.join(with_ending(name, ending)));
        if from.exists() && std::fs::hard_link(&from, &to).is_err() {
            std::fs::copy(&from, &to).map_err(file(&to))?;
        }
    }
    sync_folder(&aside);
    Ok(aside)
}

#[cfg(test)]
mod tests;
