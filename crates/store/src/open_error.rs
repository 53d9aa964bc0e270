//! Why a data folder can't be opened.

use std::path::PathBuf;

/// Version of this program.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// Why a data folder can't be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The folder, or a file in it, can't be created or written.
    #[error(
        "can't write {}: {reason}; make it writable, or choose another folder with --data-dir",
        path.display()
    )]
    Unwritable {
        /// The folder or file.
        path: PathBuf,
        /// The reason, usually the error of the operating system or of SQLite.
        reason: String,
    },
    /// The folder is locked, usually by another process.
    #[error(
        "data folder {} is in use by another chicane{}; stop it, or choose another with --data-dir",
        dir.display(), named(*pid)
    )]
    InUse {
        /// The folder.
        dir: PathBuf,
        /// The process that holds the folder, if the lock file names a process.
        pid: Option<u32>,
    },
    /// There is no database.
    #[error(
        "there is no database {}: give the data folder of a simulator with --data-dir",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is empty. A simulator never leaves such a file behind, so its content was lost.
    #[error(
        "{} has 0 bytes, so settings and records were lost: restore a backup with `chicane restore FILE \
         --replace`, or remove the file to start without them",
        path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a database, or is damaged.
    #[error(
        "{} is not a database that chicane can read: restore a backup with `chicane restore FILE \
         --replace`, or move the file away and start again; {reason}",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        reason: String,
    },
    /// The database was written by an older version. It is opened read-only, so it can't be
    /// updated.
    #[error(
        "{} was made by an older chicane (database version {found}, chicane {OWN} uses {known}): \
         start `chicane serve` once with this folder, which updates it",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: i64,
        /// The version that this program uses.
        known: usize,
    },
    /// The database was written by a newer version.
    #[error(
        "{} was made by a newer chicane (database version {found}, chicane {OWN} knows versions up to \
         {known}): install that chicane, or choose another folder with --data-dir",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: i64,
        /// The newest version that this program knows.
        known: usize,
    },
}

fn named(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}
