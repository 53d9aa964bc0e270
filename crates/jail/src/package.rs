//! The Python package `chicane`, which is part of this program, so that student programs in a
//! closed box can import it without an installation.

use std::io;
use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/chicane_package.rs"));

/// Name of the package.
pub const NAME: &str = "chicane";

/// Writes the package into a folder, as a subfolder with its name.
pub fn write(folder: &Path) -> io::Result<()> {
    let package = folder.join(NAME);
    std::fs::create_dir(&package)?;
    for (path, bytes) in FILES {
        let path = package.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// All files below a folder of the repository, except caches and the native module.
    fn files(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("UTF-8");
            if name == "__pycache__" || name.starts_with('.') || name.ends_with(".so") {
                continue;
            }
            if entry.path().is_dir() {
                files(&entry.path(), &format!("{prefix}{name}/"), found);
            } else {
                found.insert(format!("{prefix}{name}"), std::fs::read(entry.path()).expect("a file"));
            }
        }
    }

    #[test]
    fn no_file_of_the_package_is_missing() {
        let mut expected = BTreeMap::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/src/chicane");
        files(&root, "", &mut expected);
        let embedded: BTreeMap<String, Vec<u8>> =
            FILES.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
        assert!(embedded.contains_key("__init__.py") && embedded.contains_key("gym/env.py"));
        assert_eq!(embedded.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        assert!(embedded == expected, "a file of the package is out of date: touch crates/jail/build.rs");
    }
}
