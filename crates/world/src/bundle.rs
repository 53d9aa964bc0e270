//! Access to the files of a world: the files of its bundle, and the shared assets, which ship with
//! the simulator. A file of the bundle takes precedence over a shared asset with the same path.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A folder of files, read as bytes. Paths are relative, `/`-separated and normalised. A path never
/// contains `.`, `..`, an empty segment, a backslash or a leading `/`.
pub trait Bundle {
    /// The bytes of a file; `None` if the file is missing or unreadable.
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>>;

    /// All paths below a folder, sorted. The folder ends with `/`, as in `"worlds/"`.
    fn list(&self, folder: &str) -> Vec<String>;
}

/// A bundle in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryBundle {
    /// The bytes of each file, by path.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl MemoryBundle {
    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), bytes.into());
    }
}

impl Bundle for MemoryBundle {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        self.files.get(path).map(|b| Cow::Borrowed(b.as_slice()))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.files.keys().filter(|p| p.starts_with(folder)).cloned().collect()
    }
}

/// A bundle and, optionally, the shared assets. All paths in world files are resolved with this
/// type.
#[derive(Clone, Copy)]
pub struct Assets<'a> {
    bundle: &'a dyn Bundle,
    shared: Option<&'a dyn Bundle>,
}

impl<'a> Assets<'a> {
    /// Creates assets from a bundle alone.
    pub fn of(bundle: &'a dyn Bundle) -> Assets<'a> {
        Assets { bundle, shared: None }
    }

    /// Creates assets from a bundle and shared assets. If both contain a file, the file of the
    /// bundle is used.
    pub fn with_shared(bundle: &'a dyn Bundle, shared: &'a dyn Bundle) -> Assets<'a> {
        Assets { bundle, shared: Some(shared) }
    }

    /// The bundle itself, without the shared assets.
    pub fn bundle(&self) -> &'a dyn Bundle {
        self.bundle
    }

    /// Reads a file from the bundle, else from the shared assets. Returns the normalised path and
    /// the bytes of the file. `path` may contain `..`. If there is no such file, the path that the
    /// file has in an imported world is tried (see [`bundle_path`]). The result is `None` if `path`
    /// leaves the root or the file does not exist.
    pub fn read(&self, path: &str) -> Option<(String, Cow<'a, [u8]>)> {
        let path = normalise(path)?;
        let find = |path: &str| self.bundle.read(path).or_else(|| self.shared.and_then(|s| s.read(path)));
        if let Some(bytes) = find(&path) {
            return Some((path, bytes));
        }
        let imported = bundle_path(&path);
        if imported == path {
            return None;
        }
        find(&imported).map(|bytes| (imported, bytes))
    }
}

/// The top-level folders that a bundle may have.
const FOLDERS: [&str; 6] = ["worlds", "models", "meshes", "routes", "track_iconography", "evaluations"];

/// The path that an imported file gets in a bundle. A bundle has only the folders in `FOLDERS`, so
/// a file from any other folder goes below `models`. A name in the path consists of ASCII letters,
/// digits, dots, dashes and underscores, so any other character becomes an underscore. A name that
/// starts with a dot or a dash gets an underscore in front.
pub fn bundle_path(path: &str) -> String {
    let plain = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let mut name: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
        if name.starts_with(['.', '-']) {
            name.insert(0, '_');
        }
        name
    };
    let names: Vec<String> = path.split('/').map(plain).collect();
    let joined = names.join("/");
    let in_bundle = names.len() > 1 && FOLDERS.contains(&names[0].as_str());
    if in_bundle { joined } else { format!("models/{joined}") }
}

/// Resolves `.` and `..` in a relative path. The result is `None` for a path that would leave the
/// root, is absolute, has more than 1024 bytes, or contains a backslash, a colon or a NUL. It is
/// also `None` if no name remains, as for an empty path or `.`.
pub fn normalise(path: &str) -> Option<String> {
    if path.starts_with('/') || path.len() > 1024 || path.contains(['\\', '\0', ':']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalise_refuses_paths_that_leave_the_root() {
        assert_eq!(normalise("meshes/a/../textures/./x.png").as_deref(), Some("meshes/textures/x.png"));
        for bad in ["../x", "a/../../x", "/etc/passwd", "a\\b", "", ".", "c:/x", "a\0b"] {
            assert_eq!(normalise(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_path_of_an_imported_file_is_found_too() {
        assert_eq!(bundle_path("models/my desk/a (1).dae"), "models/my_desk/a__1_.dae");
        assert_eq!(bundle_path("media/.hidden/ä.png"), "models/media/_.hidden/_.png");
        assert_eq!(bundle_path("worlds"), "models/worlds");
        for plain in ["models/a/model.sdf", "meshes/x.dae"] {
            assert_eq!(bundle_path(plain), plain);
        }
        let mut own = MemoryBundle::default();
        own.insert("models/my_desk/a.dae", "imported");
        own.insert("models/media/t.png", "picture");
        let assets = Assets::of(&own);
        assert_eq!(assets.read("models/my desk/a.dae").expect("found").0, "models/my_desk/a.dae");
        assert_eq!(assets.read("models/x/../../media/t.png").expect("found").0, "models/media/t.png");
        assert!(assets.read("models/my desk/b.dae").is_none());
    }

    #[test]
    fn the_bundle_takes_precedence_over_the_shared_assets() {
        let (mut own, mut shared) = (MemoryBundle::default(), MemoryBundle::default());
        shared.insert("a", "shared");
        shared.insert("b", "shared");
        own.insert("a", "own");
        let assets = Assets::with_shared(&own, &shared);
        assert_eq!(assets.read("a").expect("a").1.as_ref(), b"own");
        assert_eq!(assets.read("x/../b").expect("b").1.as_ref(), b"shared");
        assert!(assets.read("c").is_none());
    }
}
