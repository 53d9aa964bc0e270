//! Writes a backup of a data folder to one file, also while a simulator uses the folder.
//!
//! ```text
//! "CHICANE BACKUP 1\n", then the deflated parts, then the SHA-256 checksum of all bytes before it
//! part: length of the name (32 bits), name, length of the content (64 bits), content
//! end:  a part with an empty name and no content
//! ```
//! All lengths are little-endian. The first part is [`ABOUT`], and the second part is the database.
//! Every other part is a file of the data folder, named by its path in the folder.
//!
//! SQLite copies the database in one read transaction, before the other files are read. A simulator
//! writes a file before the database row that names the file, so the backup contains every file
//! that its database names. Files of worlds never change, and the document that makes a world
//! complete is read before the files of the world. Therefore a backup contains every world
//! completely or not at all.

use crate::data::database_file;
use crate::database::{self, with_ending};
use crate::installed_worlds::sync_folder;
use crate::known_folders::DATABASE;
use crate::open_error::OpenError;
use crate::sum::RunningSum;
use crate::time;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The first bytes of a backup.
pub(crate) const MAGIC: &[u8] = b"CHICANE BACKUP 1\n";
/// Name of the part that describes the backup.
pub(crate) const ABOUT: &str = "backup.json";
/// Folders of a data folder that are backed up.
pub(crate) const FOLDERS: [&str; 3] = ["cdn", "worlds", "leaderboard"];
/// Subfolders that are not backed up, because a simulator removes them at its start.
const SKIPPED: [&str; 1] = ["leaderboard/scratch"];
/// Largest number of files of a backup.
pub(crate) const MAX_FILES: usize = 1_000_000;
/// Maximum number of attempts to read the folder of a world, if files in it disappear during the
/// backup.
const MAX_ATTEMPTS: u32 = 5;
/// Maximum depth of folders that are searched. Deeper folders are left out.
const MAX_DEPTH: usize = 24;
/// Documents that make a world complete. They are read before the files of their folder.
const DOCUMENTS: [&str; 3] = ["installed.json", "meta.json", "manifest.json"];
/// Largest size of one of the [`DOCUMENTS`], bytes.
const MAX_DOCUMENT: u64 = 16 << 20;

/// The content of the part [`ABOUT`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// Version of the program that wrote the backup.
    pub(crate) chicane: String,
    /// Version of the database.
    pub(crate) database: i64,
    /// Time of the backup, RFC 3339.
    pub(crate) created_at: String,
}

/// The summary of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSummary {
    /// Number of files besides the database.
    pub files: usize,
    /// Size of the backup in bytes.
    pub bytes: u64,
    /// Time of the backup, RFC 3339.
    pub created_at: String,
    /// Version of the program that wrote the backup.
    pub chicane: String,
    /// The SHA-256 checksum at the end of the backup, as hex digits.
    pub sha256: String,
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database can't be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database could not be copied.
    #[error("the database can't be copied: {0}")]
    Copy(String),
    /// A file of the data folder can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The backup can't be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The backup.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file exists already at the path of the new backup.
    #[error("{} exists already: name a new file, or remove it first", .0.display())]
    Exists(PathBuf),
    /// The folder has too many files.
    #[error("the data folder has more than {MAX_FILES} files")]
    TooManyFiles,
    /// The written backup can't be read back.
    #[error("the backup was written, but can't be read back: {0}")]
    Unverified(String),
}

/// Writes a backup of a data folder to a new file. The file appears when it is complete and was
/// read back. Blocks.
pub fn backup(dir: &Path, to: &Path) -> Result<BackupSummary, BackupError> {
    if to.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let part = with_ending(to, &format!(".part-{}", std::process::id()));
    let snapshot = with_ending(to, &format!(".part-{}-db", std::process::id()));
    let _ = std::fs::remove_file(&snapshot);
    let written = write_and_check(dir, &part, &snapshot);
    let _ = std::fs::remove_file(&snapshot);
    let placed = written.and_then(|summary| {
        // A link is tried first because, unlike a rename, it does not replace a file that another
        // process has just written. The rename is for file systems without hard links.
        let placed = std::fs::hard_link(&part, to).or_else(|error| match error.kind() {
            ErrorKind::AlreadyExists => Err(error),
            _ => std::fs::rename(&part, to),
        });
        placed.map_err(|source| BackupError::Write { path: to.to_owned(), source })?;
        to.parent().map(sync_folder);
        Ok(summary)
    });
    let _ = std::fs::remove_file(&part);
    placed
}

fn write_and_check(dir: &Path, part: &Path, snapshot: &Path) -> Result<BackupSummary, BackupError> {
    let (dir, database) = database_file(dir)?;
    let version = copy_database(&database, snapshot)?;
    let about =
        About { chicane: env!("CARGO_PKG_VERSION").to_owned(), database: version, created_at: time::now() };
    let unwritable = |source| BackupError::Write { path: part.to_owned(), source };
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    // Only the owner may read a backup, because it contains the programs and the records of
    // students.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(part).map_err(unwritable)?;
    let mut writer = PartWriter::new(BufWriter::new(file), part)?;
    let about = serde_json::to_vec(&about).map_err(|e| unwritable(e.into()))?;
    writer.bytes(ABOUT, &about)?;
    writer.file(DATABASE, snapshot)?;
    for folder in FOLDERS {
        writer.folder(&dir, folder, 0)?;
    }
    writer.finish()?;
    crate::restore::check_backup(part).map_err(|error| BackupError::Unverified(error.to_string()))
}

/// Copies the database as it is at one moment. Returns its version.
fn copy_database(database: &Path, snapshot: &Path) -> Result<i64, BackupError> {
    let copy = |e: rusqlite::Error| BackupError::Copy(e.to_string());
    let (connection, version) = database::open_any_version(database)?;
    let name = snapshot.to_str().ok_or_else(|| BackupError::Copy("the path is not UTF-8".to_owned()))?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(copy)?;
    // `VACUUM INTO` copies rows without checking their values. This check finds damaged values that
    // break the types or constraints of a table.
    let (copied, _) = database::open_any_version(snapshot)?;
    let verdict: String = copied.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(copy)?;
    if verdict != "ok" {
        return Err(BackupError::Copy(verdict.replace('\n', " ")));
    }
    Ok(version)
}

/// Writes the parts of a backup.
struct PartWriter<'a> {
    out: DeflateEncoder<Summing<BufWriter<File>>>,
    path: &'a Path,
    files: usize,
    /// Whether a file or folder disappeared after it was listed.
    vanished: bool,
}

impl<'a> PartWriter<'a> {
    fn new(file: BufWriter<File>, path: &'a Path) -> Result<PartWriter<'a>, BackupError> {
        let mut file = Summing { to: file, sum: RunningSum::default() };
        file.write_all(MAGIC).map_err(|source| BackupError::Write { path: path.to_owned(), source })?;
        // Pictures and journals are compressed already, so a fast compression is enough.
        Ok(PartWriter {
            out: DeflateEncoder::new(file, Compression::fast()),
            path,
            files: 0,
            vanished: false,
        })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        let written = self.out.write_all(bytes);
        written.map_err(|source| BackupError::Write { path: self.path.to_owned(), source })
    }

    fn head(&mut self, name: &str, length: u64) -> Result<(), BackupError> {
        self.put(&(name.len() as u32).to_le_bytes())?;
        self.put(name.as_bytes())?;
        self.put(&length.to_le_bytes())
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), BackupError> {
        self.head(name, bytes.len() as u64)?;
        self.put(bytes)
    }

    /// Adds a file.
    fn file(&mut self, name: &str, from: &Path) -> Result<(), BackupError> {
        let unreadable = |source| BackupError::Read { path: from.to_owned(), source };
        let file = File::open(from).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        self.head(name, length)?;
        let mut file = BufReader::new(file).take(length);
        let mut buffer = vec![0; 256 << 10];
        let mut left = length;
        while left > 0 {
            let count = match file.read(&mut buffer) {
                Ok(0) => return Err(unreadable(ErrorKind::UnexpectedEof.into())),
                Ok(count) => count,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(unreadable(e)),
            };
            self.put(&buffer[..count])?;
            left -= count as u64;
        }
        Ok(())
    }

    /// Adds the files of a folder, which may not exist. If a file of a world disappears meanwhile,
    /// the world was replaced or removed, and the folder of the world is read again. The backup
    /// then also contains files of the first attempt. They do no harm in a restored folder, because
    /// no document names them.
    fn folder(&mut self, dir: &Path, name: &str, depth: usize) -> Result<(), BackupError> {
        let path = dir.join(name);
        for _ in 0..MAX_ATTEMPTS {
            let documents = documents(&path)?;
            let vanished = std::mem::take(&mut self.vanished);
            self.files(dir, name, depth)?;
            if !self.vanished || documents.is_empty() {
                self.vanished |= vanished;
                for (document, bytes) in documents {
                    self.count()?;
                    self.bytes(&format!("{name}/{document}"), &bytes)?;
                }
                return Ok(());
            }
        }
        Err(BackupError::Read { path, source: io::Error::other("the world changes all the time") })
    }

    /// Adds the files and subfolders of a folder, except its documents and lock files. Links are
    /// left out, because a simulator creates none.
    fn files(&mut self, dir: &Path, name: &str, depth: usize) -> Result<(), BackupError> {
        let path = dir.join(name);
        let unreadable = |source| BackupError::Read { path: path.clone(), source };
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                self.vanished = depth > 0;
                return Ok(());
            }
            Err(e) => return Err(unreadable(e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            // A file whose name is not UTF-8 is left out. A simulator creates no such file, so the
            // file belongs to another program.
            if let Some(inner) = entry.file_name().to_str() {
                names.push((inner.to_owned(), kind));
            }
        }
        names.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (inner, kind) in names {
            let whole = format!("{name}/{inner}");
            if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&whole.as_str()) {
                self.folder(dir, &whole, depth + 1)?;
            } else if kind.is_file() && !DOCUMENTS.contains(&inner.as_str()) && inner != "lock" {
                self.count()?;
                match self.file(&whole, &dir.join(&whole)) {
                    Err(BackupError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {
                        self.vanished = true;
                    }
                    result => result?,
                }
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), BackupError> {
        self.files += 1;
        if self.files > MAX_FILES { Err(BackupError::TooManyFiles) } else { Ok(()) }
    }

    /// Writes the end and the checksum, and flushes the file to disk.
    fn finish(mut self) -> Result<(), BackupError> {
        self.head("", 0)?;
        let path = self.path;
        let finish = |out: DeflateEncoder<Summing<BufWriter<File>>>| {
            let Summing { mut to, sum } = out.finish()?;
            to.write_all(sum.end().bytes())?;
            to.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        };
        finish(self.out).map_err(|source| BackupError::Write { path: path.to_owned(), source })
    }
}

/// The documents of a folder with their content.
fn documents(folder: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, BackupError> {
    let mut found = Vec::new();
    for document in DOCUMENTS {
        let path = folder.join(document);
        let read = File::open(&path).and_then(|file| {
            let mut bytes = Vec::new();
            file.take(MAX_DOCUMENT + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > MAX_DOCUMENT { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
        });
        match read {
            Ok(bytes) => found.push((document, bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(BackupError::Read { path, source }),
        }
    }
    Ok(found)
}

/// Computes the checksum of everything that is written.
struct Summing<W> {
    to: W,
    sum: RunningSum,
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.sum.add(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
