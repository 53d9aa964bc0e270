//! The folder of the recordings: names of files, removal of old files, and free space.
//!
//! The name of a file is `<number>-<world>-<start>s.mcap`, where the start is in simulated seconds.
//! The number is one more than the largest number in the folder, so the names sort in the order of
//! the recordings. If the largest possible number is taken, the number is one more than a smaller
//! number in the folder. A file is never overwritten, and a file that is being written is locked.
//! Only unlocked files with a name of this form are removed. Therefore several simulators can share
//! a folder, and other files in it are safe.

use crate::options::RecordingOptions;
use chicane_world::readings::TICK_S;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum length of the part of a file name that comes from the name of a world, in characters.
const MAX_WORLD_CHARS: usize = 64;
/// Maximum number of recordings in the folder. It matters for a program that respawns the car
/// repeatedly, because each respawn begins a new small file.
const MAX_FILES: usize = 10_000;
/// Largest number in the name of a recording. A file with a larger number was not made by this
/// program and is ignored. Otherwise a file with the largest possible number would leave no number
/// for the next recording.
const MAX_NUMBER: u64 = 999_999_999_999;
/// Maximum number of names that are tried for a new file. A name fails if another simulator has
/// created a file with this name first.
const MAX_NAME_ATTEMPTS: usize = 100;

/// A failure of the recordings' folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// The folder can't be created or read.
    #[error("the folder of recordings {folder} can't be used: {reason}; choose another one with --record")]
    Folder {
        /// The folder.
        folder: String,
        /// The error of the operating system.
        reason: String,
    },
    /// A file can't be created.
    #[error("a file can't be created in the folder of recordings {folder}: {reason}")]
    Create {
        /// The folder.
        folder: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The disk has too little free space.
    #[error(
        "the disk of {folder} has only {free_mib} MiB of free space, and a recording needs {needed_mib} MiB; \
         remove files or choose another folder with --record"
    )]
    NearlyFull {
        /// The folder.
        folder: String,
        /// Free space, MiB.
        free_mib: u64,
        /// Required free space, MiB.
        needed_mib: u64,
    },
}

/// A recording in the folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct StoredFile {
    number: u64,
    path: PathBuf,
    bytes: u64,
}

/// A new file. It is locked until it is closed, unless the file system has no locks.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) name: String,
    pub(crate) file: File,
}

/// Creates the folder if it is missing, removes the oldest recordings if the folder exceeds its
/// limits, and creates the file of a recording that begins at `tick`.
pub(crate) fn create_file(
    options: &RecordingOptions,
    world: &str,
    tick: u64,
) -> Result<NewFile, FolderError> {
    let folder = &options.folder;
    let stored = prepare(options)?;
    enforce_limits(options, None)?;
    let failed = |e: io::Error| FolderError::Create { folder: shown(folder), reason: e.to_string() };
    let first = next_number(&stored);
    let start = format!("{:.3}", tick as f64 * TICK_S);
    for number in (first..=MAX_NUMBER).take(MAX_NAME_ATTEMPTS) {
        let name = format!("{number:06}-{}-{start}s.mcap", safe_name(world));
        match OpenOptions::new().write(true).create_new(true).open(folder.join(&name)) {
            Ok(file) => {
                // A file system without locks is not an error, because the lock only protects the
                // file from other simulators.
                let _ = file.try_lock();
                return Ok(NewFile { name, file });
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(failed(e)),
        }
    }
    Err(failed(io::Error::other("other simulators took all numbers")))
}

/// The number of the next file: one more than the largest number in the folder whose successor is
/// free and at most `MAX_NUMBER`, or 1 if there is no such number. A larger number would not be
/// recognized as the number of a recording, so its file would never be removed.
fn next_number(stored: &[StoredFile]) -> u64 {
    let taken: BTreeSet<u64> = stored.iter().map(|file| file.number).collect();
    let mut next = taken.iter().rev().map(|number| number + 1);
    next.find(|number| *number <= MAX_NUMBER && !taken.contains(number)).unwrap_or(1)
}

/// Creates the folder if it is missing, and checks that it can be read.
pub(crate) fn create_folder(options: &RecordingOptions) -> Result<(), FolderError> {
    prepare(options).map(drop)
}

fn prepare(options: &RecordingOptions) -> Result<Vec<StoredFile>, FolderError> {
    let folder = &options.folder;
    let failed = |e: io::Error| FolderError::Folder { folder: shown(folder), reason: e.to_string() };
    fs::create_dir_all(folder).map_err(failed)?;
    stored_files(folder).map_err(failed)
}

/// Removes the oldest unlocked recordings until the folder is within its limits, then checks the
/// free space of the disk. `current` is the file that is being written: its name, and its size in
/// bytes; `None` before a file is created.
pub(crate) fn enforce_limits(
    options: &RecordingOptions,
    current: Option<(&str, u64)>,
) -> Result<(), FolderError> {
    let folder = &options.folder;
    let failed = |e: io::Error| FolderError::Folder { folder: shown(folder), reason: e.to_string() };
    let mut stored = stored_files(folder).map_err(failed)?;
    let mut bytes = 0;
    if let Some((name, current_bytes)) = current {
        stored.retain(|file| !file.path.ends_with(name));
        bytes = current_bytes;
    }
    stored.sort();
    bytes = stored.iter().map(|file| file.bytes).fold(bytes, u64::saturating_add);
    let mut files = stored.len() + 1;
    for file in stored {
        if bytes <= options.max_folder_bytes && files <= MAX_FILES {
            break;
        }
        if remove_unlocked(&file.path) {
            tracing::info!(file = %file.path.display(), "the oldest recording was removed to make space");
            (bytes, files) = (bytes.saturating_sub(file.bytes), files - 1);
        }
    }
    match free_bytes(folder) {
        Some(free) if free < options.min_free_bytes => Err(FolderError::NearlyFull {
            folder: shown(folder),
            free_mib: free >> 20,
            needed_mib: options.min_free_bytes >> 20,
        }),
        _ => Ok(()),
    }
}

/// Removes a file unless another simulator is writing it. Returns whether the file was removed.
fn remove_unlocked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let is_locked = matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock));
    drop(file);
    !is_locked && fs::remove_file(path).is_ok()
}

/// The recordings in a folder. Links, folders and files with other names are left out.
fn stored_files(folder: &Path) -> io::Result<Vec<StoredFile>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(number) = entry.file_name().to_str().and_then(number_of) else { continue };
        // The metadata of an entry does not follow links. A file that disappeared meanwhile is
        // skipped.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() {
            all.push(StoredFile { number, path: entry.path(), bytes: metadata.len() });
        }
    }
    Ok(all)
}

/// The number in the name of a recording; `None` if the name is not the name of a recording.
fn number_of(name: &str) -> Option<u64> {
    let (number, rest) = name.strip_suffix("s.mcap")?.split_once('-')?;
    let (world, start) = rest.rsplit_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = start.split_once('.')?;
    let fits = number.len() >= 6 && !world.is_empty() && fraction.len() == 3;
    if !(fits && digits(number) && digits(whole) && digits(fraction)) {
        return None;
    }
    number.parse::<u64>().ok().filter(|number| *number <= MAX_NUMBER)
}

/// The first `MAX_WORLD_CHARS` characters of the name of a world, as a part of a file name. A
/// character that is not an ASCII letter, a digit, `_`, `.` or `-` is replaced by `_`, and dots at
/// the beginning are removed. If no character is left, the part is `world`.
fn safe_name(world: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String =
        world.chars().take(MAX_WORLD_CHARS).map(|c| if is_kept(c) { c } else { '_' }).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "world".to_owned() } else { name.to_owned() }
}

/// Free space for this user on the disk of a folder, bytes; `None` if it is unknown.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}

#[cfg(test)]
mod tests;
