//! The worlds that are part of the program: builder projects, each built on first use.

use chicane_builder::{Files, Project, build};
use chicane_world::{Bundle, MemoryBundle};
use std::borrow::Cow;
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// A built-in world.
pub struct BuiltIn {
    name: &'static str,
    project: &'static [u8],
    files: OnceLock<MemoryBundle>,
}

/// The picture files beside the projects.
struct Pictures;

impl Files for Pictures {
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        BuiltIn::project_file(name).map(Cow::Borrowed)
    }
}

impl BuiltIn {
    /// Revision of the built-in worlds, 12 hex digits. The revision changes when a built-in file or
    /// the code that builds the worlds changes.
    pub const REV: &str = ASSETS_REV;

    /// All built-in worlds, sorted by name.
    pub fn all() -> impl Iterator<Item = BuiltIn> {
        PROJECTS.iter().map(|&(name, project)| BuiltIn { name, project, files: OnceLock::new() })
    }

    /// Name of the world.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The project document.
    pub fn project(&self) -> &'static [u8] {
        self.project
    }

    /// The content of a picture file beside the projects, such as `pictures/water.png`; `None` if
    /// there is no such picture.
    pub fn project_file(name: &str) -> Option<&'static [u8]> {
        PICTURES.iter().find(|(path, _)| *path == name).map(|(_, bytes)| *bytes)
    }

    /// Display name.
    pub fn display(&self) -> String {
        Project::read(self.project).map_or_else(|_| self.name.to_owned(), |p| p.display_name)
    }

    /// Files of the world.
    pub fn files(&self) -> &MemoryBundle {
        self.files.get_or_init(|| {
            // No failure is expected, because a test builds all built-in worlds. After a failure
            // the world has no files, so loading it returns an error.
            let failed = |error: &dyn std::fmt::Display| {
                tracing::error!(world = self.name, %error, "a built-in world can't be built");
                MemoryBundle::default()
            };
            match Project::read(self.project) {
                Ok(project) => build(&project, &Pictures).unwrap_or_else(|e| failed(&e)),
                Err(e) => failed(&e),
            }
        })
    }
}

impl Bundle for BuiltIn {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        Bundle::read(self.files(), path)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        Bundle::list(self.files(), folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_the_projects_of_the_folder() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds");
        let mut on_disk: Vec<String> = std::fs::read_dir(root)
            .expect("a folder")
            .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
            .filter_map(|n| n.strip_suffix(".json").map(str::to_owned))
            .collect();
        on_disk.sort();
        assert_eq!(BuiltIn::all().map(|b| b.name().to_owned()).collect::<Vec<_>>(), on_disk);
    }

    #[test]
    fn every_project_builds_and_has_its_file_name_as_name() {
        for world in BuiltIn::all() {
            let project = Project::read(world.project).expect("a project");
            assert_eq!(project.name.as_str(), world.name());
            let made = build(&project, &Pictures).unwrap_or_else(|e| panic!("{}: {e}", world.name()));
            assert!(made.files == world.files().files, "{}", world.name());
            let file = format!("worlds/{}.world", world.name());
            assert!(world.read(&file).is_some());
            assert_eq!(world.list("worlds/"), [file]);
            assert_eq!(world.read("worlds"), None);
        }
    }

    #[test]
    fn the_rev_is_twelve_hex_digits() {
        assert_eq!(BuiltIn::REV.len(), 12);
        assert!(BuiltIn::REV.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{}", BuiltIn::REV);
    }
}
