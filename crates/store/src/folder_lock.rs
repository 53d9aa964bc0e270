//! The sole right to work on a folder, among all processes of a machine.

use std::fs::File;
use std::path::Path;

/// A claim on a folder, which is made if it is not there.
#[derive(Debug)]
pub(crate) struct Claim(File);

impl Claim {
    /// The claim, or `None` while somebody else has it.
    pub(crate) fn try_take(folder: &Path) -> std::io::Result<Option<Claim>> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join("lock");
        let file = File::options().write(true).create(true).truncate(false).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(e)) => return Err(e),
        }
        // Who had it before may have removed the folder: then this is the lock of nothing.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let inode = |m: std::fs::Metadata| (m.dev(), m.ino());
            let there = std::fs::metadata(&path).map(inode).ok();
            if there != file.metadata().map(inode).ok() {
                return Ok(None);
            }
        }
        Ok(Some(Claim(file)))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
