//! The worlds that are part of the program. The build script writes the table.

use chicane_world::Bundle;
use std::borrow::Cow;

/// Paths and bytes, by path.
type Files = &'static [(&'static str, &'static [u8])];

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// 12 hex digits that change when any built-in file changes.
pub(crate) const REV: &str = ASSETS_REV;

/// The files of one built-in world.
pub(crate) struct BuiltIn(Files);

impl BuiltIn {
    /// All of them with their names.
    pub(crate) fn all() -> impl Iterator<Item = (&'static str, BuiltIn)> {
        WORLDS.iter().map(|&(name, files)| (name, BuiltIn(files)))
    }
}

impl Bundle for BuiltIn {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        let at = self.0.binary_search_by_key(&path, |(path, _)| path).ok()?;
        Some(Cow::Borrowed(self.0[at].1))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.0.iter().map(|(path, _)| *path).filter(|p| p.starts_with(folder)).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FolderBundle;
    use std::path::Path;

    #[test]
    fn the_table_is_the_folder() {
        let names: Vec<_> = BuiltIn::all().map(|(name, _)| name).collect();
        assert_eq!(names, ["field", "oval", "technical"]);
        for (name, built_in) in BuiltIn::all() {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds").join(name);
            let folder = FolderBundle::new(root);
            let paths = built_in.list("");
            assert!(paths.is_sorted(), "{paths:?}");
            assert!(paths.contains(&format!("worlds/{name}.world")), "{paths:?}");
            for path in &paths {
                assert_eq!(built_in.read(path), folder.read(path), "{name}/{path}");
            }
            assert_eq!(built_in.list("worlds/"), folder.list("worlds/"));
            assert_eq!(built_in.read("worlds/none.world"), None);
            assert_eq!(built_in.read("worlds"), None);
        }
    }

    #[test]
    fn the_rev_is_twelve_hex_digits() {
        assert_eq!(REV.len(), 12);
        assert!(REV.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{REV}");
    }
}
