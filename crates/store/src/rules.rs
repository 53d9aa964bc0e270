//! The rules for the files of a published world: paths, number and sizes.

use chicane_bundles::MAX_FILE;
use std::collections::BTreeMap;

/// The folders of a bundle. All files are below one of them.
pub(crate) const FOLDERS: [&str; 6] =
    ["worlds", "models", "meshes", "routes", "track_iconography", "evaluations"];
/// Limit of the number of files of a world.
pub(crate) const MAX_FILES: usize = 2_000;
/// Limit of the total size of all files in bytes.
pub const MAX_TOTAL: u64 = 256 << 20;
/// Maximum length of a path, bytes.
pub(crate) const MAX_PATH: usize = 255;
/// Maximum depth of a path: the number of names that slashes separate.
const MAX_DEPTH: usize = 16;

/// Why a set of files can't be a world.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A limit is exceeded.
    #[error("{0}")]
    TooLarge(String),
    /// A rule is broken.
    #[error("{0}")]
    Rule(String),
}

/// The path of a file in a bundle. It is below one of the folders (`FOLDERS`), and can't lead out
/// of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePath(String);

impl FilePath {
    /// Checks a path.
    pub fn parse(text: &str) -> Result<FilePath, Unfit> {
        let wrong = |why: &str| Err(Unfit::Rule(format!("path {} {why}", quoted(text))));
        if text.len() > MAX_PATH {
            return wrong("is longer than 255 characters");
        }
        let names: Vec<&str> = text.split('/').collect();
        if !FOLDERS.contains(&names[0]) || names.len() < 2 {
            return wrong(
                "is not below worlds/, models/, meshes/, routes/, track_iconography/ or evaluations/",
            );
        }
        if names.len() > MAX_DEPTH {
            return wrong("has more than 16 levels");
        }
        if !names.iter().all(|name| is_plain(name)) {
            return wrong(
                "has a name with characters other than A-Z a-z 0-9 _ . - or with . or - at its start",
            );
        }
        Ok(FilePath(text.to_owned()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for FilePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a name matches `[A-Za-z0-9_][A-Za-z0-9._-]*`.
fn is_plain(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut bytes = name.bytes();
    bytes.next().is_some_and(letter) && bytes.all(|b| letter(b) || b == b'.' || b == b'-')
}

/// Quotes an untrusted text for a message. The text is shortened, and its control characters are
/// escaped.
pub(crate) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(80).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{more}")
}

/// Checks the number of files, and that no two paths clash on a common file system.
pub(crate) fn check_paths<'a>(paths: impl Iterator<Item = &'a FilePath>) -> Result<(), Unfit> {
    // Paths with the same key clash on some systems: some file systems ignore case, and some drop
    // dots at the end of a name.
    let key = |path: &str| {
        let names = path.split('/').map(|name| name.trim_end_matches('.').to_ascii_lowercase());
        names.collect::<Vec<_>>().join("/")
    };
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (i, path) in paths.enumerate() {
        if i >= MAX_FILES {
            return Err(Unfit::TooLarge("the world has more than 2000 files".to_owned()));
        }
        if let Some(other) = seen.insert(key(path.as_str()), path.as_str()) {
            let (a, b) = (quoted(other), quoted(path.as_str()));
            return Err(Unfit::Rule(format!("paths {a} and {b} differ only in capitals or dots")));
        }
    }
    for (name, path) in &seen {
        for (i, _) in name.match_indices('/') {
            if let Some(file) = seen.get(&name[..i]) {
                let (file, path) = (quoted(file), quoted(path));
                return Err(Unfit::Rule(format!("path {file} is a file, but also the folder of {path}")));
            }
        }
    }
    Ok(())
}

/// Checks the sizes of files.
pub(crate) fn check_sizes<'a>(sizes: impl Iterator<Item = (&'a FilePath, u64)>) -> Result<(), Unfit> {
    let mut total: u64 = 0;
    for (path, size) in sizes {
        if size > MAX_FILE {
            return Err(Unfit::TooLarge(format!("{path} is larger than 64 MiB")));
        }
        total += size;
        if total > MAX_TOTAL {
            return Err(Unfit::TooLarge("the world is larger than 256 MiB".to_owned()));
        }
    }
    Ok(())
}

/// The stem of the only world file, `worlds/<stem>.world`.
pub(crate) fn world_stem<'a>(paths: impl Iterator<Item = &'a FilePath>) -> Result<String, Unfit> {
    let stem = |path: &'a FilePath| {
        let stem = path.as_str().strip_prefix("worlds/")?.strip_suffix(".world")?;
        (!stem.contains('/')).then_some(stem)
    };
    let mut stems = paths.filter_map(stem);
    match (stems.next(), stems.next()) {
        (Some(stem), None) => Ok(stem.to_owned()),
        (None, _) => Err(Unfit::Rule("there is no world file, worlds/<name>.world".to_owned())),
        (Some(a), Some(b)) => Err(Unfit::Rule(format!(
            "there is more than one world file: worlds/{a}.world and worlds/{b}.world"
        ))),
    }
}

/// The path of a file after its world was renamed. Files that are found by the name of the world,
/// such as its route, are renamed with it. Other files keep their path, because the world file
/// refers to that path.
pub(crate) fn renamed(path: &FilePath, stem: &str, name: &str) -> FilePath {
    let named = [
        (format!("worlds/{stem}.world"), format!("worlds/{name}.world")),
        (format!("routes/{stem}.npy"), format!("routes/{name}.npy")),
        (format!("evaluations/{stem}.json"), format!("evaluations/{name}.json")),
        (format!("evaluations/{stem}.py"), format!("evaluations/{name}.py")),
        (format!("track_iconography/{stem}.png"), format!("track_iconography/{name}.png")),
    ];
    let other = named.into_iter().find(|(from, _)| from == path.as_str());
    other.map_or_else(|| path.clone(), |(_, to)| FilePath(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(of: &[&str]) -> Vec<FilePath> {
        of.iter().map(|p| FilePath::parse(p).expect("a path")).collect()
    }

    #[test]
    fn paths_outside_of_the_folders_are_refused() {
        for good in [
            "worlds/a.world",
            "models/a/model.config",
            "meshes/a/textures/field.png",
            "routes/_-..x",
            "meshes/A",
        ] {
            assert!(FilePath::parse(good).is_ok(), "{good}");
        }
        let long = format!("meshes/{}", "a".repeat(300));
        let deep = format!("meshes{}", "/a".repeat(20));
        for bad in [
            "",
            "/",
            "worlds",
            "worlds/",
            "worlds//a",
            "/worlds/a",
            "other/a",
            "Worlds/a",
            "worlds/../a",
            "worlds/..",
            "worlds/./a",
            "worlds/.hidden",
            "worlds/-a",
            "worlds/a b",
            "worlds/ä",
            "worlds/a\\b",
            "worlds/a\0b",
            "worlds/a\nb",
            "worlds/c:x",
            "worlds/%2e%2e/a",
            "meta.json",
            "../worlds/a",
            "C:/worlds/a",
            &long,
            &deep,
        ] {
            assert!(matches!(FilePath::parse(bad), Err(Unfit::Rule(_))), "{bad:?}");
        }
    }

    #[test]
    fn paths_that_some_file_systems_confuse_are_refused() {
        for bad in [
            &["meshes/a.dae", "meshes/A.dae"][..],
            &["meshes/a/x", "meshes/A/x"],
            &["meshes/a", "meshes/a"],
            &["meshes/a.", "meshes/a"],
            &["meshes/a", "meshes/a/b"],
            &["meshes/A/b/c", "meshes/a"],
        ] {
            assert!(matches!(check_paths(paths(bad).iter()), Err(Unfit::Rule(_))), "{bad:?}");
        }
        let good = paths(&["meshes/a/x", "meshes/a/y", "meshes/ab", "models/a/x"]);
        assert_eq!(check_paths(good.iter()), Ok(()));
    }

    #[test]
    fn number_and_size_of_files_are_limited() {
        let many: Vec<FilePath> = (0..=MAX_FILES).map(|i| FilePath(format!("meshes/{i}"))).collect();
        assert_eq!(check_paths(many[1..].iter()), Ok(()));
        assert!(matches!(check_paths(many.iter()), Err(Unfit::TooLarge(_))));
        let path = &many[0];
        assert_eq!(check_sizes([(path, MAX_FILE); 4].into_iter()), Ok(()));
        assert!(matches!(check_sizes([(path, MAX_FILE); 5].into_iter()), Err(Unfit::TooLarge(_))));
        assert!(matches!(check_sizes([(path, MAX_FILE + 1)].into_iter()), Err(Unfit::TooLarge(_))));
        assert!(matches!(check_sizes([(path, u64::MAX)].into_iter()), Err(Unfit::TooLarge(_))));
    }

    #[test]
    fn only_files_with_the_name_of_the_world_are_renamed() {
        let all =
            paths(&["worlds/a.world", "routes/a.npy", "routes/b.npy", "meshes/a/a.dae", "evaluations/a.py"]);
        assert_eq!(world_stem(all.iter()).as_deref(), Ok("a"));
        let to: Vec<String> = all.iter().map(|p| renamed(p, "a", "n").to_string()).collect();
        assert_eq!(
            to,
            ["worlds/n.world", "routes/n.npy", "routes/b.npy", "meshes/a/a.dae", "evaluations/n.py"]
        );
        assert!(world_stem(all[1..].iter()).is_err());
        assert!(world_stem(paths(&["worlds/a.world", "worlds/b.world"]).iter()).is_err());
        assert!(world_stem(paths(&["worlds/a/b.world"]).iter()).is_err());
    }
}
