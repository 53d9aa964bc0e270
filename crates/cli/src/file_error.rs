//! Errors about files and folders.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("can't read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("can't write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl FileError {
    /// Adds the path to a read error.
    pub(crate) fn read(path: impl AsRef<Path>) -> impl Fn(io::Error) -> FileError {
        move |source| FileError::Read { path: path.as_ref().to_owned(), source }
    }

    /// Adds the path to a write error.
    pub(crate) fn write(path: impl AsRef<Path>) -> impl Fn(io::Error) -> FileError {
        move |source| FileError::Write { path: path.as_ref().to_owned(), source }
    }
}
