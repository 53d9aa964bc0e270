//! A folder that stays open, so that it is still reached after a parent folder was renamed or
//! replaced.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open folder. Clones share the descriptor.
#[derive(Debug, Clone)]
pub struct HeldFolder {
    path: PathBuf,
    folder: Arc<File>,
}

/// The path of a data folder no longer leads to the folder that was opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the data folder {} was replaced while the simulator was running; stop it and check the folder",
    path.display()
)]
pub struct FolderReplaced {
    /// The path of the data folder.
    pub path: PathBuf,
}

impl HeldFolder {
    /// Opens a folder. `path` is absolute.
    pub(crate) fn open(path: &Path) -> std::io::Result<HeldFolder> {
        Ok(HeldFolder { path: path.to_owned(), folder: Arc::new(File::open(path)?) })
    }

    /// The path under which the folder was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the file `name` in this folder. On Linux, the path leads through the open
    /// descriptor, so it reaches the folder wherever the folder was moved to. Such a path is valid
    /// in this process only, and only while a clone of this value exists. Without `/proc`, the
    /// result is `name` joined to the path that was given to `open`.
    pub fn join(&self, name: &str) -> PathBuf {
        self.through_descriptor().unwrap_or_else(|| self.path.clone()).join(name)
    }

    fn through_descriptor(&self) -> Option<PathBuf> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let link = PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()));
            link.exists().then_some(link)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Fails if the path does not lead to the open folder any more. Never fails on systems other
    /// than Unix.
    pub fn check(&self) -> Result<(), FolderReplaced> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let id = |about: std::fs::Metadata| (about.dev(), about.ino());
            let (now, held) = (std::fs::metadata(&self.path).map(id), self.folder.metadata().map(id));
            if now.ok() != held.ok() {
                return Err(FolderReplaced { path: self.path.clone() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_folder::TempFolder;

    #[test]
    fn a_renamed_parent_does_not_lead_to_another_folder() {
        let scratch = TempFolder::new();
        let (parent, away) = (scratch.path().join("parent"), scratch.path().join("away"));
        let path = parent.join("data");
        std::fs::create_dir_all(&path).expect("made");
        let held = HeldFolder::open(&path).expect("opens");
        assert_eq!(held.check(), Ok(()));
        std::fs::rename(&parent, &away).expect("renamed");
        assert_eq!(held.check(), Err(FolderReplaced { path: path.clone() }), "the folder is gone");
        std::fs::create_dir_all(&path).expect("made");
        assert_eq!(held.check(), Err(FolderReplaced { path: path.clone() }), "another folder is there");
        std::fs::write(held.join("file"), "text").expect("written");
        assert!(away.join("data/file").is_file() && !path.join("file").exists());
        std::fs::remove_dir_all(&parent).expect("removed");
        std::fs::rename(&away, &parent).expect("renamed back");
        assert_eq!(held.check(), Ok(()));
    }
}
