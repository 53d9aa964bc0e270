//! A bundle on disk, for tests and benchmarks.

use chicane_world::{Assets, Bundle, World};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A folder with `worlds/`, `models/`, `meshes/`, …
pub struct FolderBundle {
    root: PathBuf,
}

impl FolderBundle {
    /// A bundle below a folder.
    pub fn new(root: impl Into<PathBuf>) -> FolderBundle {
        FolderBundle { root: root.into() }
    }

    fn walk(&self, folder: &Path, paths: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.walk(&path, paths);
            } else if let Some(p) = path.strip_prefix(&self.root).ok().and_then(Path::to_str) {
                paths.push(p.replace('\\', "/"));
            }
        }
    }
}

impl Bundle for FolderBundle {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        std::fs::read(self.root.join(path)).ok().map(Cow::Owned)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let mut paths = Vec::new();
        self.walk(&self.root.join(folder), &mut paths);
        paths.sort();
        paths
    }
}

/// Loads a world that ships with the project, such as `oval`.
pub fn shipped_world(name: &str) -> World {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds").join(name);
    World::load(&Assets::of(&FolderBundle::new(root))).unwrap_or_else(|e| panic!("{name}: {e}"))
}
