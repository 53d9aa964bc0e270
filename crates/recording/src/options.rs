//! The options of recordings: folder and limits.

use crate::folder::{self, FolderError};
use std::path::PathBuf;

/// Where recordings are written, and how much space they may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingOptions {
    /// Folder of the files. [`RecordingOptions::prepare`] or the first recording creates it.
    pub folder: PathBuf,
    /// Size at which the next file is begun, bytes.
    pub max_file_bytes: u64,
    /// Maximum size of all recordings in the folder, bytes. The oldest files are removed first.
    pub max_folder_bytes: u64,
    /// A recording ends if the disk has less free space than this, bytes.
    pub min_free_bytes: u64,
}

impl RecordingOptions {
    /// Default of `max_file_bytes`: 1 GiB.
    pub const MAX_FILE_BYTES: u64 = 1 << 30;
    /// Default of `max_folder_bytes`: 10 GiB.
    pub const MAX_FOLDER_BYTES: u64 = 10 << 30;
    /// Default of `min_free_bytes`: 256 MiB.
    pub const MIN_FREE_BYTES: u64 = 256 << 20;

    /// The default limits. A relative path of the folder is resolved against the working directory.
    pub fn new(folder: impl Into<PathBuf>) -> RecordingOptions {
        let folder = folder.into();
        RecordingOptions {
            folder: std::path::absolute(&folder).unwrap_or(folder),
            max_file_bytes: RecordingOptions::MAX_FILE_BYTES,
            max_folder_bytes: RecordingOptions::MAX_FOLDER_BYTES,
            min_free_bytes: RecordingOptions::MIN_FREE_BYTES,
        }
    }

    /// Creates the folder if it is missing. Fails if the folder can't be created or read.
    pub fn prepare(&self) -> Result<(), FolderError> {
        folder::create_folder(self)
    }
}
