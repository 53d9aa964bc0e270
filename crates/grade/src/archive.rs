//! Unpacks untrusted zip files.
//!
//! [`unpack`] trusts nothing that the archive says: it checks each part of a name, counts the bytes
//! while it writes the files, and creates symbolic links last, so that no file is written through a
//! link.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

/// The compression ratio is checked only for archives that unpack to more than this many bytes,
/// because a smaller archive does no harm.
const RATIO_FROM: u64 = 8 << 20;
/// Highest ratio of unpacked to packed bytes. Source code and data reach about 20.
const MAX_RATIO: u64 = 200;
/// Maximum number of parts of a path, including the name of the file.
const MAX_DEPTH: usize = 32;
/// Longest name of a file or folder, in bytes.
const MAX_PART: usize = 255;
/// Longest path, in bytes.
const MAX_PATH: usize = 1000;
/// Longest target of a symbolic link, in bytes.
const MAX_LINK: u64 = 1000;
/// Number of bytes at the end of an archive that are searched for its end record, which has the
/// number of entries. The record is 22 bytes long, and a comment of up to 64 KiB may follow it.
const END_BYTES: u64 = (64 << 10) + 22;

/// The limits of an archive or a folder.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Highest number of entries: files, folders and links.
    pub entries: usize,
    /// Highest number of bytes of all files together.
    pub bytes: u64,
}

/// The limits of one submission.
pub const SUBMISSION: Limits = Limits { entries: 10_000, bytes: 256 << 20 };
/// The limits of an archive with all submissions.
pub const CLASS: Limits = Limits { entries: 60_000, bytes: 8 << 30 };

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The archive can't be read.
    #[error("the zip file is broken: {0}")]
    Broken(String),
    /// An entry needs a password.
    #[error("the zip file needs a password: upload it without one")]
    Encrypted,
    /// The archive has too many entries.
    #[error("the zip file has more than {0} files")]
    TooMany(usize),
    /// The unpacked files are too large.
    #[error("the zip file unpacks to more than {} MiB", .0 >> 20)]
    TooLarge(u64),
    /// The archive is a zip bomb.
    #[error("the zip file unpacks to more than {MAX_RATIO} times its size, so it is a zip bomb")]
    Bomb,
    /// The path of an entry leads out of the folder, or can't be the name of a file.
    #[error("the zip file has an entry with the unsafe name {0:?}")]
    Name(String),
    /// Two entries have the same path.
    #[error("the zip file has two entries with the name {0:?}")]
    Twice(String),
    /// A symbolic link leads out of the folder.
    #[error("the symbolic link {0:?} leads out of the submission")]
    Link(String),
    /// A file can't be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// The path of an entry that was not unpacked, relative to the folder, and the reason. If the name
/// of the entry is unsafe, the path ends before the first unsafe part. It is possible that the
/// folder has no file with this path.
pub type LeftOut = (PathBuf, ArchiveError);

/// Unpacks a zip file into a folder, which must not exist.
pub fn unpack(file: &Path, folder: &Path, limits: Limits) -> Result<(), ArchiveError> {
    unpack_entries(file, folder, limits, false).map(drop)
}

/// Unpacks a zip file with the submissions of a class. Returns the entries that were left out. An
/// entry with a password, an unsafe name, a name that occurs twice, or a link that leads out of the
/// folder is not an error of the whole archive, because the submission of one student must not stop
/// the other submissions.
pub fn unpack_class(file: &Path, folder: &Path, limits: Limits) -> Result<Vec<LeftOut>, ArchiveError> {
    unpack_entries(file, folder, limits, true)
}

fn unpack_entries(
    file: &Path,
    folder: &Path,
    limits: Limits,
    leaves_out: bool,
) -> Result<Vec<LeftOut>, ArchiveError> {
    let broken = |error: std::io::Error| ArchiveError::Broken(error.to_string());
    let mut reader = File::open(file).map_err(broken)?;
    let packed = reader.metadata().map_err(broken)?.len();
    if packed > limits.bytes {
        return Err(ArchiveError::TooLarge(limits.bytes));
    }
    check_count(&mut reader, packed, limits.entries)
        .map_err(broken)?
        .then_some(())
        .ok_or(ArchiveError::TooMany(limits.entries))?;
    let mut archive = zip::ZipArchive::new(std::io::BufReader::new(reader)).map_err(broken_zip)?;
    if archive.len() > limits.entries {
        return Err(ArchiveError::TooMany(limits.entries));
    }
    let mut unpacking = Unpacking {
        folder: folder.to_owned(),
        bytes: 0,
        limit: limits.bytes,
        bomb: (packed.saturating_mul(MAX_RATIO)).max(RATIO_FROM),
        links: Vec::new(),
        made: BTreeSet::new(),
        entries: limits.entries,
        leaves_out,
        left_out: Vec::new(),
    };
    unpacking.make_folder(Path::new(""))?;
    for i in 0..archive.len() {
        let name = archive.name_for_index(i).and_then(Result::ok).unwrap_or_default().into_owned();
        let added = archive.by_index(i).map_err(broken_zip).and_then(|entry| unpacking.add(entry));
        unpacking.tolerate(|| safe_start(&name), added)?;
    }
    unpacking.make_links()?;
    Ok(unpacking.left_out)
}

/// Whether each end record of this file gives a number of entries of at most `max`. This check
/// takes place before the zip reader opens the archive, because the zip reader then allocates
/// memory for this number of entries.
fn check_count(file: &mut File, size: u64, max: usize) -> std::io::Result<bool> {
    let length = size.min(END_BYTES);
    file.seek(SeekFrom::Start(size - length))?;
    let mut end = Vec::new();
    file.take(length).read_to_end(&mut end)?;
    let counts = end.windows(12).filter(|w| w.starts_with(b"PK\x05\x06"));
    let fits = counts.map(|w| usize::from(u16::from_le_bytes([w[10], w[11]]))).all(|count| count <= max);
    file.seek(SeekFrom::Start(0))?;
    Ok(fits)
}

fn broken_zip(error: zip::result::ZipError) -> ArchiveError {
    match error {
        zip::result::ZipError::UnsupportedArchive(why) if why.to_lowercase().contains("password") => {
            ArchiveError::Encrypted
        }
        error => ArchiveError::Broken(error.to_string()),
    }
}

/// The state of unpacking one archive.
struct Unpacking {
    folder: PathBuf,
    bytes: u64,
    limit: u64,
    /// The archive is a zip bomb if it unpacks to more bytes than this.
    bomb: u64,
    links: Vec<(PathBuf, String)>,
    /// Folders that were created.
    made: BTreeSet<PathBuf>,
    entries: usize,
    /// Whether a bad entry is left out. Otherwise a bad entry is an error of the archive.
    leaves_out: bool,
    left_out: Vec<LeftOut>,
}

impl Unpacking {
    fn add<R: Read>(&mut self, mut entry: zip::read::ZipFile<'_, R>) -> Result<(), ArchiveError> {
        let name = entry.name().map_err(broken_zip)?.into_owned();
        let path = safe_path(&name).ok_or_else(|| ArchiveError::Name(shortened(&name)))?;
        if entry.encrypted() {
            return Err(ArchiveError::Encrypted);
        }
        if entry.is_dir() {
            return self.make_folder(&path);
        }
        self.make_folder(path.parent().unwrap_or(Path::new("")))?;
        if entry.is_symlink() {
            let mut target = String::new();
            entry
                .by_ref()
                .take(MAX_LINK + 1)
                .read_to_string(&mut target)
                .map_err(|_| ArchiveError::Link(shortened(&name)))?;
            self.links.push((path, target));
            return Ok(());
        }
        let executable = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
        self.write(&path, &mut entry, executable)
    }

    fn make_folder(&mut self, path: &Path) -> Result<(), ArchiveError> {
        if !self.made.insert(path.to_owned()) {
            return Ok(());
        }
        // The folders are counted too, because one entry with a path of many parts makes many
        // folders.
        if self.made.len() > self.entries {
            return Err(ArchiveError::TooMany(self.entries));
        }
        if let Some(parent) = path.parent() {
            self.make_folder(parent)?;
        }
        let whole = self.folder.join(path);
        match std::fs::create_dir(&whole) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(ArchiveError::Twice(shortened(&path.display().to_string())))
            }
            made => made.map_err(|source| ArchiveError::Write { path: whole, source }),
        }
    }

    fn write(&mut self, path: &Path, entry: &mut impl Read, executable: bool) -> Result<(), ArchiveError> {
        let whole = self.folder.join(path);
        let failed = |source| ArchiveError::Write { path: whole.clone(), source };
        let mut out = match new_file(&whole, executable) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(ArchiveError::Twice(shortened(&path.display().to_string())));
            }
            made => made.map_err(failed)?,
        };
        let mut piece = vec![0; 64 << 10];
        loop {
            let read = entry.read(&mut piece).map_err(|error| ArchiveError::Broken(error.to_string()))?;
            if read == 0 {
                break;
            }
            self.bytes += read as u64;
            if self.bytes > self.bomb {
                return Err(ArchiveError::Bomb);
            }
            if self.bytes > self.limit {
                return Err(ArchiveError::TooLarge(self.limit));
            }
            out.write_all(&piece[..read]).map_err(failed)?;
        }
        set_time(&out).map_err(failed)
    }

    fn make_links(&mut self) -> Result<(), ArchiveError> {
        for (path, target) in std::mem::take(&mut self.links) {
            let made = self.make_link(&path, &target);
            self.tolerate(|| path, made)?;
        }
        Ok(())
    }

    fn make_link(&self, path: &Path, target: &str) -> Result<(), ArchiveError> {
        let shown = || shortened(&path.display().to_string());
        if !stays_inside(path, Path::new(target)) {
            return Err(ArchiveError::Link(shown()));
        }
        let whole = self.folder.join(path);
        match std::os::unix::fs::symlink(target, &whole) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(ArchiveError::Twice(shown()))
            }
            made => made.map_err(|source| ArchiveError::Write { path: whole, source }),
        }
    }

    /// Returns the outcome of an entry. If `leaves_out` is true and the error concerns only this
    /// entry (a password, a link that leads out, an unsafe or repeated name), this function adds
    /// the error to `left_out` and returns `Ok`.
    fn tolerate(
        &mut self,
        path: impl FnOnce() -> PathBuf,
        outcome: Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        use ArchiveError::{Encrypted, Link, Name, Twice};
        match outcome {
            Err(error @ (Encrypted | Link(_) | Name(_) | Twice(_))) if self.leaves_out => {
                self.left_out.push((path(), error));
                Ok(())
            }
            outcome => outcome,
        }
    }
}

/// Creates a file, and fails if it exists.
pub(crate) fn new_file(path: &Path, executable: bool) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mode = if executable { 0o755 } else { 0o644 };
    File::options().write(true).create_new(true).mode(mode).open(path)
}

/// Sets the modification time of a file to a fixed time. A program can read the times of its files.
/// With the real times, the same submission could behave differently in two runs.
pub(crate) fn set_time(file: &File) -> std::io::Result<()> {
    let fixed = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(946_684_800);
    file.set_modified(fixed)
}

/// The path of an entry; `None` if it is unsafe. Backslashes count as slashes, because some
/// programs on Windows write them.
fn safe_path(name: &str) -> Option<PathBuf> {
    let name = name.replace('\\', "/");
    let is_unsafe = |part: &str| {
        part == ".." || part.len() > MAX_PART || part.chars().any(char::is_control) || part.contains(':')
    };
    if name.starts_with('/') || name.len() > MAX_PATH || name.split('/').any(is_unsafe) {
        return None;
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    (!parts.is_empty() && parts.len() <= MAX_DEPTH).then(|| parts.iter().collect())
}

/// The leading parts of a path, before the first part that is unsafe.
fn safe_start(name: &str) -> PathBuf {
    let name = name.replace('\\', "/");
    let parts = name.split('/').filter(|part| !part.is_empty() && *part != ".").take(MAX_DEPTH);
    parts.map_while(safe_path).collect()
}

/// Whether a symbolic link at `path` (relative to the root) stays below the root. Parts `..` are
/// allowed at the beginning of the target only: after the name of another link, `..` would mean the
/// folder above the target of that other link.
pub(crate) fn stays_inside(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    let mut is_down = false;
    if target.as_os_str().is_empty() || target.as_os_str().len() as u64 > MAX_LINK {
        return false;
    }
    target.components().all(|part| match part {
        Component::ParentDir if !is_down && depth > 0 => {
            depth -= 1;
            true
        }
        Component::Normal(_) => {
            is_down = true;
            true
        }
        Component::CurDir => true,
        _ => false,
    })
}

fn shortened(name: &str) -> String {
    let short: String = name.chars().take(80).collect();
    if short.len() < name.len() { short + "…" } else { short }
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
