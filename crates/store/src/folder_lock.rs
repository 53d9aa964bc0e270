//! An exclusive lock on a folder, among all processes of a machine.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of attempts to remove a folder, if other owners create files in it meanwhile.
const REMOVE_ATTEMPTS: usize = 100;

/// The lock of a folder. It is released on drop.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
    folder: PathBuf,
}

impl FolderLock {
    /// Takes the lock. Creates the folder if necessary. Returns `None` while another owner has the
    /// lock, or if another owner removes the folder during this call.
    pub(crate) fn try_take(folder: &Path) -> std::io::Result<Option<FolderLock>> {
        match std::fs::create_dir_all(folder) {
            // `create_dir_all` also fails with this error if it finds the folder, and another owner
            // removes the folder before its type is read.
            Err(e) if e.kind() == ErrorKind::AlreadyExists && !is_file(folder) => Ok(None),
            Err(e) => Err(e),
            Ok(()) => FolderLock::try_take_existing(folder),
        }
    }

    /// Takes the lock of a folder that exists. Returns `None` while another owner has the lock, and
    /// if the folder does not exist.
    pub(crate) fn try_take_existing(folder: &Path) -> std::io::Result<Option<FolderLock>> {
        let path = folder.join("lock");
        let file = match File::options().write(true).create(true).truncate(false).open(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
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
        Ok(Some(FolderLock { file, folder: folder.to_owned() }))
    }

    /// Removes the folder and releases its lock. The folder is renamed first: removing it in place
    /// would delete the lock file before the folder, and another owner could create and take a new
    /// lock file in the folder that is being removed.
    pub(crate) fn remove_folder(self) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = self.folder.file_name().unwrap_or_default().to_owned();
        name.push(format!("-removed-{}-{number}", std::process::id()));
        let renamed = self.folder.with_file_name(name);
        let removed = if std::fs::rename(&self.folder, &renamed).is_ok() { &renamed } else { &self.folder };
        // Another owner that found the folder under its old name may create a lock file in the
        // folder while the folder is being removed.
        for _ in 0..REMOVE_ATTEMPTS {
            match std::fs::remove_dir_all(removed) {
                Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => {}
                _ => return,
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_folder::TempFolder;

    #[test]
    fn a_removed_folder_is_taken_anew_and_its_old_lock_file_is_worth_nothing() {
        let scratch = TempFolder::new();
        let folder = scratch.path().join("world");
        let lock = FolderLock::try_take(&folder).expect("taken").expect("free");
        let old = File::options().write(true).open(folder.join("lock")).expect("a lock file");
        lock.remove_folder();
        assert!(FolderLock::try_take_existing(&folder).expect("asked").is_none(), "there is no folder");
        old.try_lock().expect("nobody has the old file");
        let lock = FolderLock::try_take(&folder).expect("taken").expect("free");
        assert!(FolderLock::try_take(&folder).expect("asked").is_none());
        drop(lock);
        assert!(FolderLock::try_take(&folder).expect("asked").is_some());
    }

    #[test]
    fn a_path_that_cannot_be_a_folder_is_an_error() {
        let scratch = TempFolder::new();
        let file = scratch.path().join("file");
        std::fs::write(&file, "text").expect("written");
        assert!(FolderLock::try_take(&file).is_err());
        assert!(FolderLock::try_take(&file.join("below")).is_err());
    }

    /// Regression test: installing a world failed with "No such file or directory" when another
    /// installation removed the staging folder at the same moment.
    #[test]
    fn owners_who_remove_the_folder_do_not_fail_others_and_exclude_each_other() {
        let scratch = TempFolder::new();
        let folder = scratch.path().join("world");
        let owners = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut taken = 0;
                    while taken < 500 {
                        let Some(lock) = FolderLock::try_take(&folder).expect("no error") else { continue };
                        taken += 1;
                        assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0, "two owners");
                        std::fs::write(folder.join("file"), "text").expect("the folder exists");
                        owners.fetch_sub(1, Ordering::SeqCst);
                        lock.remove_folder();
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(scratch.path()).expect("a folder").count(), 0);
    }
}
