//! New projects: empty, from a shipped world, random, from a document, or as a copy.

use crate::error::StudioError;
use crate::picture;
use crate::studio::Studio;
use chicane_builder::project::WorldName;
use chicane_builder::{Project, RandomTrackOptions, random};
use chicane_store::{BuiltIn, NewFile};
use chicane_wire::{CreateProject, ProjectId, ProjectView, RandomTrack};
use serde_json::json;

/// Name of an empty project if the request has no name.
const NEW_NAME: &str = "new_world";
/// Longest display name, in characters.
const MAX_DISPLAY: usize = 100;

impl Studio {
    /// Creates a new project.
    pub fn create(&self, request: &CreateProject) -> Result<ProjectView, StudioError> {
        match request {
            CreateProject::Empty(name) => self.add(&empty(name.as_deref().unwrap_or(NEW_NAME))?, &[]),
            CreateProject::World(name) => {
                let (project, files) = shipped(name)?;
                self.add(&project, &files)
            }
            CreateProject::Random(options) => self.add(&random_track(options)?, &[]),
            CreateProject::Document(document) => self.add(&Project::from_value(document)?, &[]),
            CreateProject::Project(id) => self.copy(id),
        }
    }

    fn copy(&self, id: &ProjectId) -> Result<ProjectView, StudioError> {
        let (_, mut project) = self.project(id)?;
        let name: String = project.name.as_str().chars().take(59).collect();
        project.name = WorldName::parse(&format!("{name}_copy")).ok_or(StudioError::Name)?;
        let display: String = project.display_name.chars().take(MAX_DISPLAY - 5).collect();
        project.display_name = format!("{display} copy");
        let mut files = Vec::new();
        for file in self.projects().files(id.as_str())? {
            let bytes = self.projects().file(id.as_str(), &file.name)?.ok_or(StudioError::NoFile)?;
            files.push(NewFile { name: file.name, bytes, size: file.size });
        }
        self.add(&project, &files)
    }
}

/// A plain loop on a field of 8 m × 6 m.
fn empty(name: &str) -> Result<Project, StudioError> {
    let name = WorldName::parse(name).ok_or(StudioError::Name)?;
    let document = json!({
        "version": 1,
        "name": name.as_str(),
        "display_name": name.as_str().replace('_', " "),
        "field": { "size": [8, 6] },
        "fence": {},
        "track": {
            "width": 0.7,
            "nodes": [
                { "x": 2.2, "y": 1.2 }, { "x": 5.8, "y": 1.2 }, { "x": 7, "y": 3 },
                { "x": 5.8, "y": 4.8 }, { "x": 2.2, "y": 4.8 }, { "x": 1, "y": 3 },
            ],
            "start": 1.5,
            "centre_line": {},
        },
    });
    Ok(Project::from_value(&document)?)
}

/// The project of a shipped world, with its pictures.
fn shipped(name: &str) -> Result<(Project, Vec<NewFile>), StudioError> {
    let Some(world) = BuiltIn::all().find(|world| world.name() == name) else {
        let names: Vec<&str> = BuiltIn::all().map(|world| world.name()).collect();
        return Err(StudioError::NoWorld(names.join(", ")));
    };
    let project = Project::read(world.project())?;
    let files = project.file_names().into_iter().filter_map(|name| {
        BuiltIn::project_file(name.as_str()).map(|bytes| picture::shipped(name.as_str(), bytes))
    });
    let files = files.collect();
    Ok((project, files))
}

fn random_track(options: &RandomTrack) -> Result<Project, StudioError> {
    let usual = RandomTrackOptions::default();
    random::track(&RandomTrackOptions {
        seed: options.seed,
        field: options.field.unwrap_or(usual.field),
        width: options.width.unwrap_or(usual.width),
        tightness: options.tightness.unwrap_or(usual.tightness),
        length: options.length,
    })
    .map_err(StudioError::Track)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_project_has_no_findings() {
        let project = empty("my_world").expect("made");
        assert_eq!(chicane_builder::check(&project), []);
        assert_eq!(project.display_name, "my world");
        for bad in ["", "a b", "../x", "<b>", &"x".repeat(65)] {
            assert!(matches!(empty(bad), Err(StudioError::Name)), "{bad}");
        }
    }

    #[test]
    fn a_shipped_world_comes_with_the_pictures_that_it_uses() {
        let (project, files) = shipped("town").expect("shipped");
        assert_eq!(files.len(), project.file_names().len());
        assert!(files.iter().any(|file| file.name == "pictures/zebra.png" && file.size.is_some()));
        let error = shipped("nowhere").expect_err("refused").to_string();
        assert!(error.contains("oval") && error.contains("town"), "{error}");
    }
}
