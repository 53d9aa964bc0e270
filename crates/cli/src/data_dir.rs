//! The data folder: settings, records, installed worlds, and the CDN folder of the simulator.

use crate::file_error::FileError;
use chicane_store::create_private;
use std::path::{Path, PathBuf};

/// Why there is no data folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataDirError {
    #[error("The platform's folder for application data is unknown. Give --data-dir")]
    Unknown,
    #[error(transparent)]
    File(#[from] FileError),
}

/// Returns the given data folder, or the platform's default folder if none is given.
pub(crate) fn resolve(given: Option<&Path>) -> Result<PathBuf, DataDirError> {
    if let Some(folder) = given {
        return Ok(folder.to_owned());
    }
    chicane_store::default_data_folder().ok_or(DataDirError::Unknown)
}

/// Returns the given data folder. If none is given, returns the folder of `CHICANE_DATA_DIR`, or
/// the platform's default folder if this variable is missing or empty.
pub(crate) fn resolve_or_environment(given: Option<&Path>) -> Result<PathBuf, DataDirError> {
    let variable = std::env::var_os("CHICANE_DATA_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
    resolve(given.or(variable.as_deref()))
}

/// Like [`resolve`], but returns an absolute path.
pub(crate) fn resolve_absolute(given: Option<&Path>) -> Result<PathBuf, DataDirError> {
    let folder = resolve(given)?;
    Ok(std::path::absolute(&folder).map_err(FileError::read(&folder))?)
}

/// Creates the data folder if it does not exist. Only its owner can read a new folder.
pub(crate) fn create(folder: &Path) -> Result<(), DataDirError> {
    Ok(create_private(folder).map_err(FileError::write(folder))?)
}
