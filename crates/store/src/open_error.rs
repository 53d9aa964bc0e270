//! Why a data folder can't be opened.

use std::path::PathBuf;

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
        /// The error of the operating system.
        reason: String,
    },
    /// Another process holds the folder.
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
    /// The file is not a database, or is damaged.
    #[error(
        "{} is not a database that chicane can read: move it away and start again; {reason}",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        reason: String,
    },
    /// The database was written by a newer version.
    #[error(
        "{} was made by a newer chicane (database version {found}, this one knows {known}): \
         start that one, or choose another folder with --data-dir",
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
