//! The temporary data folder of a command, such as an evaluation. The command removes its folder at
//! its end. A later command removes the folders of killed commands.

use crate::file_error::FileError;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PREFIX: &str = "chicane-evaluate-";
/// The file whose lock shows that the evaluation still runs.
const LOCK: &str = "evaluation.lock";
/// Folders that were changed within this time are kept, because an evaluation that is starting may
/// not have locked its folder yet.
const KEEP: Duration = Duration::from_secs(60);

/// A temporary folder that is removed on drop.
pub(crate) struct TempFolder {
    path: PathBuf,
    /// The operating system unlocks the file when this process ends.
    _lock: File,
}

impl TempFolder {
    pub(crate) fn new() -> Result<TempFolder, FileError> {
        let parent = std::env::temp_dir();
        remove_leftovers(&parent);
        // Other users can write to the parent folder. Therefore the name is random, and an existing
        // folder is refused. Otherwise these users could control the data of the simulator.
        let number =
            getrandom::u64().map_err(|error| FileError::write(&parent)(std::io::Error::other(error)))?;
        let path = parent.join(format!("{PREFIX}{number:016x}"));
        DirBuilder::new().mode(0o700).create(&path).map_err(FileError::write(&path))?;
        let file = path.join(LOCK);
        let lock = File::create_new(&file).and_then(|lock| lock.lock().map(|()| lock));
        Ok(TempFolder { path, _lock: lock.map_err(FileError::write(&file))? })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders that killed evaluations of this user have left.
fn remove_leftovers(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let named = entry.file_name().to_str().is_some_and(is_name);
        // For a symbolic link, this is the metadata of the link itself, so a link to a folder is
        // skipped.
        let Some(found) =
            entry.metadata().ok().filter(|found| named && found.is_dir() && found.uid() == user)
        else {
            continue;
        };
        let age = found.modified().ok().and_then(|changed| changed.elapsed().ok());
        if age.is_some_and(|age| age > KEEP) && !is_locked(&entry.path().join(LOCK)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a name has the form that [`TempFolder::new`] gives to its folders.
fn is_name(name: &str) -> bool {
    let number = name.strip_prefix(PREFIX);
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Whether a running evaluation has locked this file.
fn is_locked(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn folders_of_killed_evaluations_are_removed_and_others_are_kept() {
        let parent = std::env::temp_dir().join(format!("chicane-leftovers-{}", std::process::id()));
        std::fs::create_dir_all(&parent).expect("a folder");
        let make = |name: &str, locked: bool, old: bool| {
            let folder = parent.join(name);
            std::fs::create_dir_all(folder.join("data")).expect("a folder");
            let lock = File::create(folder.join(LOCK)).expect("a file");
            if locked {
                lock.lock().expect("locked");
            }
            if old {
                let changed = SystemTime::now() - 2 * KEEP;
                File::open(&folder).and_then(|folder| folder.set_modified(changed)).expect("changed");
            }
            lock
        };
        let [killed, starting, running, link] =
            [1, 2, 3, 4].map(|number: u64| format!("{PREFIX}{number:016x}"));
        let other = format!("{PREFIX}test");
        let locks = [
            make(&killed, false, true),
            make(&starting, false, false),
            make(&running, true, true),
            make(&other, false, true),
        ];
        std::os::unix::fs::symlink("/", parent.join(&link)).expect("linked");
        remove_leftovers(&parent);
        let entries = std::fs::read_dir(&parent).expect("a folder").flatten();
        let mut left: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect();
        left.sort();
        drop(locks);
        std::fs::remove_dir_all(&parent).expect("removed");
        assert_eq!(left, [starting, running, link, other]);
    }
}
