//! A bundle in a folder on disk.

use crate::MAX_FILE;
use chicane_world::Bundle;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Maximum number of files that are listed. Further files are left out of the list.
const MAX_FILES: usize = 10_000;
/// Maximum nesting depth of the folders that are searched, below the listed folder.
const MAX_DEPTH: usize = 16;

/// A folder with `worlds/`, `models/`, `meshes/` and so on. Links inside the folder are not
/// followed.
#[derive(Debug, Clone)]
pub struct FolderBundle {
    root: PathBuf,
}

impl FolderBundle {
    /// The bundle in a folder.
    pub fn new(root: impl Into<PathBuf>) -> FolderBundle {
        FolderBundle { root: root.into() }
    }

    fn walk(&self, folder: &Path, depth: usize, paths: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if paths.len() >= MAX_FILES {
                return;
            }
            let path = entry.path();
            // Links are skipped, because a link could lead out of the bundle.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < MAX_DEPTH {
                self.walk(&path, depth + 1, paths);
            } else if kind.is_file() {
                paths.extend(path.strip_prefix(&self.root).ok().and_then(Path::to_str).map(str::to_owned));
            }
        }
    }
}

impl Bundle for FolderBundle {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        let mut whole = self.root.clone();
        for part in path.split('/') {
            whole.push(part);
            let kind = std::fs::symlink_metadata(&whole).ok()?;
            // A link could lead out of the bundle. A file of a world must not be larger than
            // `MAX_FILE`.
            if kind.is_symlink() || kind.len() > MAX_FILE {
                return None;
            }
        }
        std::fs::read(whole).ok().map(Cow::Owned)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let mut paths = Vec::new();
        self.walk(&self.root.join(folder), 0, &mut paths);
        paths.sort();
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_and_read_but_links_are_not_followed() {
        let root = std::env::temp_dir().join(format!("chicane-folder-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("worlds/deep")).expect("a folder");
        std::fs::write(root.join("worlds/b.world"), "b").expect("written");
        std::fs::write(root.join("worlds/deep/a.txt"), "a").expect("written");
        std::fs::write(root.join("secret"), "s").expect("written");
        std::os::unix::fs::symlink(root.join("secret"), root.join("worlds/link")).expect("linked");
        std::os::unix::fs::symlink(&root, root.join("worlds/loop")).expect("linked");
        let bundle = FolderBundle::new(&root);
        let listed = bundle.list("worlds/");
        let (read, linked, looped) =
            (bundle.read("worlds/b.world"), bundle.read("worlds/link"), bundle.read("worlds/loop/secret"));
        std::fs::remove_dir_all(&root).expect("removed");
        assert_eq!(listed, ["worlds/b.world", "worlds/deep/a.txt"]);
        assert_eq!(read.as_deref(), Some(b"b".as_slice()));
        assert_eq!((linked, looped), (None, None));
    }
}
