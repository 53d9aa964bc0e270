//! Bundles on disk.

use chicane_world::{Assets, Bundle, World};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Files larger than this are not read: no world may hold one.
const MAX_FILE: u64 = 64 << 20;
/// Files listed in a folder; more are not looked at.
const MAX_FILES: usize = 10_000;
/// Folders inside folders.
const MAX_DEPTH: usize = 16;

struct FolderBundle {
    root: PathBuf,
}

impl FolderBundle {
    fn walk(&self, folder: &Path, depth: usize, paths: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if paths.len() >= MAX_FILES {
                return;
            }
            let path = entry.path();
            // A link could lead out of the bundle.
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

/// Loads the world of a folder.
pub(crate) fn load(folder: &str) -> Result<World, String> {
    let root = PathBuf::from(folder);
    if !root.is_dir() {
        return Err(format!("{folder} is not a folder; a world's folder holds worlds/<name>.world"));
    }
    World::load(&Assets::of(&FolderBundle { root })).map_err(|e| e.to_string())
}
