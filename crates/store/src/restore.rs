//! Checks a backup and restores a data folder from it.
//!
//! The checksum of the whole file is checked before a byte is restored. The folder is written under
//! another name and renamed when it is complete, so that a failure leaves the old folder as it was.

use crate::backup::{ABOUT, About, BackupSummary, FOLDERS, MAGIC, MAX_FILES};
use crate::data::{DataLock, create_private};
use crate::database::{self, with_ending};
use crate::held_folder::HeldFolder;
use crate::installed_worlds::sync_folder;
use crate::known_folders::DATABASE;
use crate::open_error::OpenError;
use crate::sum::{RunningSum, Sum};
use crate::time;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

/// Size of the checksum at the end, bytes.
const SUM: u64 = 32;
/// Largest length of a name, bytes.
const MAX_NAME: u32 = 4096;
/// Largest size of the part that describes the backup, bytes.
const MAX_ABOUT: u64 = 64 << 10;

/// Why a data folder was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The backup can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The backup.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file does not begin like a backup.
    #[error("{} is not a backup of this version of chicane", .0.display())]
    Kind(PathBuf),
    /// The checksum is wrong.
    #[error("{} is damaged or incomplete: its checksum is wrong. Use another backup", .0.display())]
    Sum(PathBuf),
    /// The parts of the backup are invalid.
    #[error("{} can't be restored: {reason}", path.display())]
    Invalid {
        /// The backup.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The data folder has files.
    #[error(
        "{} is not empty: choose a new folder with --data-dir, or keep the old folder aside with --replace",
        .0.display()
    )]
    NotEmpty(PathBuf),
    /// The folder to replace is not a data folder.
    #[error("{} has no {DATABASE}, so it is not a data folder, and --replace does not move it away", .0.display())]
    NotADataFolder(PathBuf),
    /// A file or folder can't be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The data folder is in use, or the restored database can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The summary of the backup.
    pub summary: BackupSummary,
    /// The data folder that was replaced, under its new name.
    pub replaced: Option<PathBuf>,
}

fn write_error(path: &Path) -> impl Fn(io::Error) -> RestoreError + '_ {
    move |source| RestoreError::Write { path: path.to_owned(), source }
}

/// Checks a backup completely: its checksum, and every part. Blocks.
pub fn check_backup(file: &Path) -> Result<BackupSummary, RestoreError> {
    let backup = Backup::open(file)?;
    let about = read_parts(&backup, &mut |_, content, length| {
        let copied = io::copy(content, &mut io::sink())?;
        if copied == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    })?;
    Ok(backup.summary(about))
}

/// Restores a data folder that does not exist or is empty. With `replace`, a data folder with files
/// is renamed, and the restored folder takes its place. Blocks.
pub fn restore(file: &Path, dir: &Path, replace: bool) -> Result<Restored, RestoreError> {
    let dir = std::path::absolute(dir).map_err(write_error(dir))?;
    let is_used = match std::fs::read_dir(&dir) {
        Ok(mut entries) => entries.next().is_some(),
        Err(e) if e.kind() == ErrorKind::NotFound => false,
        Err(e) => return Err(write_error(&dir)(e)),
    };
    if is_used && !replace {
        return Err(RestoreError::NotEmpty(dir));
    }
    if is_used && !dir.join(DATABASE).exists() {
        return Err(RestoreError::NotADataFolder(dir));
    }
    // The lock can't be taken while a simulator uses the folder.
    let lock = if is_used {
        Some(DataLock::take(&HeldFolder::open(&dir).map_err(write_error(&dir))?)?)
    } else {
        None
    };
    let staged = with_ending(&dir, &format!(".restoring-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&staged);
    let summary = unpack(file, &staged).inspect_err(|_| {
        let _ = std::fs::remove_dir_all(&staged);
    })?;
    let moved = move_away(&dir, is_used).and_then(|aside| {
        std::fs::rename(&staged, &dir).map_err(|error| {
            // The old folder gets its name back.
            if let Some(aside) = &aside {
                let _ = std::fs::rename(aside, &dir);
            }
            write_error(&dir)(error)
        })?;
        Ok(aside)
    });
    let replaced = moved.inspect_err(|_| {
        let _ = std::fs::remove_dir_all(&staged);
    })?;
    dir.parent().map(sync_folder);
    drop(lock);
    Ok(Restored { summary, replaced })
}

/// Renames a data folder that has files, and returns its new name. Removes an empty folder, and
/// returns `None`.
fn move_away(dir: &Path, is_used: bool) -> Result<Option<PathBuf>, RestoreError> {
    if !is_used {
        return match std::fs::remove_dir(dir) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(write_error(dir)(e)),
            _ => Ok(None),
        };
    }
    let stamp = time::now().replace(['-', ':'], "");
    let names = (1..=1000).map(|i| match i {
        1 => with_ending(dir, &format!(".replaced-{stamp}")),
        i => with_ending(dir, &format!(".replaced-{stamp}-{i}")),
    });
    let mut free = names.filter(|name| name.symlink_metadata().is_err());
    let aside = free.next().ok_or_else(|| write_error(dir)(ErrorKind::AlreadyExists.into()))?;
    std::fs::rename(dir, &aside).map_err(write_error(&aside))?;
    Ok(Some(aside))
}

/// Writes the files of a backup to a new folder, and checks the database.
fn unpack(file: &Path, to: &Path) -> Result<BackupSummary, RestoreError> {
    let backup = Backup::open(file)?;
    create_private(to).map_err(write_error(to))?;
    let mut failed = None;
    let about = read_parts(&backup, &mut |name, content, length| {
        let path = to.join(name);
        let written = write_file(&path, content, length);
        if let Err(error) = &written
            && error.kind() != ErrorKind::InvalidData
        {
            failed = Some(write_error(&path)(io::Error::new(error.kind(), error.to_string())));
        }
        written
    });
    let about = match (about, failed) {
        (Err(_), Some(failed)) => return Err(failed),
        (about, _) => about?,
    };
    // The database may be of an older version. The next simulator that opens the folder updates it.
    let (database, _) = database::open_any_version(&to.join(DATABASE))?;
    let verdict = database.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match verdict {
        Ok(verdict) if verdict == "ok" => {}
        Ok(reason) => return Err(backup.invalid(format!("its database is damaged: {reason}"))),
        Err(error) => return Err(backup.invalid(format!("its database is damaged: {error}"))),
    }
    // Closing the connection removes the files that SQLite needs while a database is open.
    drop(database);
    sync_folder(to);
    Ok(backup.summary(about))
}

fn write_file(path: &Path, content: &mut dyn Read, length: u64) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private(folder)?;
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let copied = io::copy(content, &mut file)?;
    if copied != length {
        return Err(io::Error::new(ErrorKind::InvalidData, "a part is incomplete"));
    }
    file.flush()?;
    file.sync_all()
}

/// A backup whose checksum is right.
struct Backup<'a> {
    path: &'a Path,
    /// Size of the file, bytes.
    bytes: u64,
    sum: Sum,
}

impl Backup<'_> {
    fn open(path: &Path) -> Result<Backup<'_>, RestoreError> {
        let unreadable = |source| RestoreError::Read { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(RestoreError::Kind(path.to_owned()));
        }
        let mut magic = vec![0; MAGIC.len()];
        match file.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => {}
            Ok(()) => return Err(RestoreError::Kind(path.to_owned())),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                return Err(RestoreError::Kind(path.to_owned()));
            }
            Err(e) => return Err(unreadable(e)),
        }
        let length = about.len().checked_sub(SUM).filter(|length| *length >= MAGIC.len() as u64);
        let length = length.ok_or_else(|| RestoreError::Sum(path.to_owned()))?;
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        let mut sum = RunningSum::default();
        let mut buffer = vec![0; 256 << 10];
        let mut content = (&mut file).take(length);
        loop {
            match content.read(&mut buffer).map_err(unreadable)? {
                0 => break,
                count => sum.add(&buffer[..count]),
            }
        }
        let mut stored = [0; SUM as usize];
        file.read_exact(&mut stored).map_err(unreadable)?;
        let sum = sum.end();
        if *sum.bytes() != stored {
            return Err(RestoreError::Sum(path.to_owned()));
        }
        Ok(Backup { path, bytes: about.len(), sum })
    }

    fn invalid(&self, reason: impl Into<String>) -> RestoreError {
        RestoreError::Invalid { path: self.path.to_owned(), reason: reason.into() }
    }

    fn summary(&self, (about, files): (About, usize)) -> BackupSummary {
        BackupSummary {
            files,
            bytes: self.bytes,
            created_at: about.created_at,
            chicane: about.chicane,
            sha256: self.sum.hex(),
        }
    }
}

/// Reads the parts of a backup. Calls `each` with the name, the content and the length of every
/// file. Returns the description, and the number of files besides the database.
fn read_parts(
    backup: &Backup<'_>,
    each: &mut dyn FnMut(&str, &mut dyn Read, u64) -> io::Result<()>,
) -> Result<(About, usize), RestoreError> {
    let unreadable = |source| RestoreError::Read { path: backup.path.to_owned(), source };
    let broken = |error: io::Error| backup.invalid(format!("a part can't be read: {error}"));
    let mut file = File::open(backup.path).map_err(unreadable)?;
    file.seek(SeekFrom::Start(MAGIC.len() as u64)).map_err(unreadable)?;
    let length = backup.bytes - SUM - MAGIC.len() as u64;
    let mut parts = DeflateDecoder::new(BufReader::new(file).take(length));
    let (mut about, mut files, mut has_database) = (None, 0, false);
    loop {
        let (name, length) = read_head(&mut parts).map_err(broken)?;
        let mut content = (&mut parts).take(length);
        match name.as_str() {
            "" if length == 0 => break,
            ABOUT if about.is_none() && length <= MAX_ABOUT => {
                let mut bytes = Vec::new();
                content.read_to_end(&mut bytes).map_err(broken)?;
                let read: Result<About, _> = serde_json::from_slice(&bytes);
                about = Some(read.map_err(|error| backup.invalid(format!("{ABOUT}: {error}")))?);
            }
            _ if about.is_none() => return Err(backup.invalid(format!("{ABOUT} is missing"))),
            _ if !is_allowed(&name) => {
                return Err(backup.invalid(format!("it has the file {name:?}, which no data folder has")));
            }
            _ => {
                has_database |= name == DATABASE;
                files += usize::from(name != DATABASE);
                if files > MAX_FILES {
                    return Err(backup.invalid(format!("it has more than {MAX_FILES} files")));
                }
                each(&name, &mut content, length).map_err(broken)?;
            }
        }
    }
    match about {
        Some(about) if has_database => Ok((about, files)),
        _ => Err(backup.invalid(format!("it has no {DATABASE}"))),
    }
}

/// Reads the name of a part and the length of its content.
fn read_head(parts: &mut impl Read) -> io::Result<(String, u64)> {
    let mut length = [0; 4];
    parts.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_NAME {
        return Err(io::Error::new(ErrorKind::InvalidData, "a name is too long"));
    }
    let mut name = vec![0; length as usize];
    parts.read_exact(&mut name)?;
    let name = String::from_utf8(name).map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
    let mut length = [0; 8];
    parts.read_exact(&mut length)?;
    Ok((name, u64::from_le_bytes(length)))
}

/// Whether a file of a data folder may have this path. A backup from somebody else must not write
/// other files.
fn is_allowed(name: &str) -> bool {
    if name == DATABASE {
        return true;
    }
    let mut parts = Path::new(name).components();
    let first = parts.next().and_then(|part| part.as_os_str().to_str());
    first.is_some_and(|first| FOLDERS.contains(&first))
        && !name.contains(['\0', '\\'])
        && !name.split('/').any(|part| part.is_empty() || part == ".")
        && parts.clone().next().is_some()
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests;
