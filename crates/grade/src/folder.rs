//! The folder with the results of a class.
//!
//! ```text
//! plan.json       the plan
//! profile.json    the profile of the car
//! worlds/         the files of the worlds
//! submissions/    the unpacked submissions, one folder for each student
//! cache/          one folder for each finished unit, named after its hash
//! failures.json   for each unit without a result: its hash and the reason
//! runs/           the runs of this plan by student, world and seed, for `chicane verify`
//! report.html, grades.json, grades.csv, moodle.csv, canvas.csv, junit.xml, gradescope/
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why the folder can't be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file can't be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Another process uses this folder, to grade or to write a report.
    #[error(
        "another chicane grade or report uses {} at this moment: wait for its end, or choose another folder \
         with -o", .0.display()
    )]
    InUse(PathBuf),
    /// The folder has files, but no plan.
    #[error("{} has files, but no plan.json: choose a new or empty folder with -o", .0.display())]
    Foreign(PathBuf),
    /// There is no plan in the folder.
    #[error("{} has no plan.json: give the folder that chicane grade wrote", .0.display())]
    NoPlan(PathBuf),
}

/// The folder with the results. Only one process at a time uses it.
#[derive(Debug)]
pub struct ResultsFolder {
    path: PathBuf,
    /// The locked file [`LOCK`]. The operating system releases the lock when this process ends,
    /// even if it is killed.
    _lock: File,
}

impl ResultsFolder {
    /// Opens the folder to grade a class. Creates it if necessary.
    pub fn create(path: &Path) -> Result<ResultsFolder, FolderError> {
        let write = |source| FolderError::Write { path: path.to_owned(), source };
        std::fs::create_dir_all(path).map_err(write)?;
        let is_ours = |name: &std::ffi::OsStr| name == "plan.json" || name == LOCK;
        let mut entries = std::fs::read_dir(path).map_err(write)?.flatten().peekable();
        if entries.peek().is_some() && !entries.any(|entry| is_ours(&entry.file_name())) {
            return Err(FolderError::Foreign(path.to_owned()));
        }
        let folder = ResultsFolder::lock(path)?;
        folder.remove_unfinished()?;
        Ok(folder)
    }

    /// Opens the folder of a class that was graded before.
    pub fn open(path: &Path) -> Result<ResultsFolder, FolderError> {
        if !path.join("plan.json").is_file() {
            return Err(FolderError::NoPlan(path.to_owned()));
        }
        ResultsFolder::lock(path)
    }

    fn lock(path: &Path) -> Result<ResultsFolder, FolderError> {
        let file = path.join(LOCK);
        let write = |source| FolderError::Write { path: file.clone(), source };
        let lock = File::options().write(true).create(true).truncate(false).open(&file).map_err(write)?;
        match lock.try_lock() {
            Ok(()) => Ok(ResultsFolder { path: path.to_owned(), _lock: lock }),
            Err(std::fs::TryLockError::WouldBlock) => Err(FolderError::InUse(path.to_owned())),
            Err(std::fs::TryLockError::Error(error)) => Err(write(error)),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the plan.
    pub fn plan(&self) -> PathBuf {
        self.path.join("plan.json")
    }

    /// The folder of a finished unit.
    pub fn unit(&self, hash: &str) -> PathBuf {
        self.path.join("cache").join(hash)
    }

    /// The reasons why units have no result, by the hash of the unit. A file that can't be read
    /// counts as empty, because the reasons are only shown and change no grade.
    pub fn failures(&self) -> BTreeMap<String, String> {
        let read = std::fs::read(self.path.join(FAILURES));
        read.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Stores the reasons why units have no result.
    pub fn write_failures(&self, failures: &BTreeMap<String, String>) -> Result<(), FolderError> {
        let bytes = serde_json::to_vec_pretty(failures).unwrap_or_default();
        self.write(FAILURES, &bytes)
    }

    /// Removes the temporary files and folders that killed processes left behind in `cache`.
    fn remove_unfinished(&self) -> Result<(), FolderError> {
        let Ok(entries) = std::fs::read_dir(self.path.join("cache")) else { return Ok(()) };
        for entry in entries.flatten() {
            // The names of finished units are hashes, which have no dot.
            if entry.file_name().to_string_lossy().contains('.') {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Writes a file of the folder completely or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            make(parent)?;
        }
        write_whole(&path, bytes)
    }
}

/// The file whose lock shows that the folder is in use.
const LOCK: &str = ".lock";
const FAILURES: &str = "failures.json";

/// Creates a folder, and the folders above it.
pub(crate) fn make(path: &Path) -> Result<(), FolderError> {
    std::fs::create_dir_all(path).map_err(|source| FolderError::Write { path: path.to_owned(), source })
}

/// Removes a file or folder if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), FolderError> {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let removed = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| FolderError::Write { path: path.to_owned(), source }),
    }
}

/// Writes a temporary file beside `path` and renames it to `path`. After a power cut, `path`
/// therefore has either the old or the new content, and never a part of it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().map_err(|source| {
        let _ = std::fs::remove_file(&beside);
        FolderError::Write { path: path.to_owned(), source }
    })
}
