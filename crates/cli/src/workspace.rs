//! The working folder of student programs.

use std::path::{Path, PathBuf};

/// Why student programs can't run in a folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkspaceError {
    #[error("--workspace {} is not a folder", .0.display())]
    NotAFolder(PathBuf),
}

/// The absolute path of a workspace. Returns an error if the folder does not exist.
pub(crate) fn resolve(given: &Path) -> Result<PathBuf, WorkspaceError> {
    let folder = std::path::absolute(given).ok().filter(|folder| folder.is_dir());
    folder.ok_or_else(|| WorkspaceError::NotAFolder(given.to_owned()))
}
