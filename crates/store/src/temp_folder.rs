//! A folder of a test's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Removed with everything in it when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new folder that no other test has.
    pub(crate) fn new() -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("chicane-store-{}-{number}", std::process::id()));
        // A process of the same number may have been killed before it could clear up.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a new folder");
        Scratch(path)
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
