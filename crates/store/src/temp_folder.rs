//! A temporary folder for a test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A temporary folder. Dropping it removes the folder with all its files.
pub(crate) struct TempFolder(PathBuf);

impl TempFolder {
    /// Creates a folder that no other test uses.
    pub(crate) fn new() -> TempFolder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("chicane-store-{}-{number}", std::process::id()));
        // An earlier process with the same id may have been killed before it could remove its
        // folder, so an existing folder is removed.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a new folder");
        TempFolder(path)
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
