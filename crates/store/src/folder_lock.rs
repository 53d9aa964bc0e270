//! An exclusive lock on a folder, among all processes of a machine.

use std::fs::File;
use std::path::Path;

/// The lock of a folder. It is released on drop.
#[derive(Debug)]
pub(crate) struct FolderLock(File);

impl FolderLock {
    /// Takes the lock. Creates the folder if necessary. Returns `None` while another owner has the
    /// lock.
    pub(crate) fn try_take(folder: &Path) -> std::io::Result<Option<FolderLock>> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join("lock");
        let file = File::options().write(true).create(true).truncate(false).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(e)) => return Err(e),
        }
        // The previous owner may have removed the folder after `file` was opened. Then `file` is
        // not the lock file of the folder any more.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let inode = |m: std::fs::Metadata| (m.dev(), m.ino());
            let current = std::fs::metadata(&path).map(inode).ok();
            if current != file.metadata().map(inode).ok() {
                return Ok(None);
            }
        }
        Ok(Some(FolderLock(file)))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
