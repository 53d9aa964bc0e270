//! Reads the rules of a project, to judge recorded runs by them.

use crate::error::StudioError;
use crate::studio::Studio;
use chicane_builder::project::WorldName;
use chicane_builder::{build, rules};
use chicane_wire::ProjectId;
use chicane_world::MemoryBundle;

/// The rules of a project, and the names by which the runs in its world are found.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectRules {
    /// Name of the world.
    pub name: String,
    /// Display name of the world.
    pub display_name: String,
    /// The judging script.
    pub script: String,
    /// The settings that the script gets, JSON.
    pub config: String,
}

impl Studio {
    /// Name and display name of a project's world.
    pub fn names(&self, id: &ProjectId) -> Result<(String, String), StudioError> {
        let (_, project) = self.project(id)?;
        Ok((project.name.as_str().to_owned(), project.display_name))
    }

    /// The rules of a project. They can be read even if the world has errors.
    pub fn rules(&self, id: &ProjectId) -> Result<ProjectRules, StudioError> {
        let (_, project) = self.project(id)?;
        let evaluation = project.evaluation.as_ref().ok_or(StudioError::NoRules)?;
        let files = self.projects().stored_files(id.as_str());
        let rules = rules(evaluation, &files).ok_or(StudioError::NoScript)?;
        Ok(ProjectRules {
            name: project.name.as_str().to_owned(),
            display_name: project.display_name,
            script: String::from_utf8(rules.script).map_err(|_| StudioError::NoScript)?,
            config: rules.config.to_string(),
        })
    }

    /// Whether the project, built now, gives the same world as these files. Names, rules and the
    /// picture of a published world are not compared.
    pub fn is_world(&self, id: &ProjectId, files: &MemoryBundle) -> Result<bool, StudioError> {
        let (_, mut project) = self.project(id)?;
        let name = files.files.keys().find_map(|path| path.strip_prefix("worlds/")?.strip_suffix(".world"));
        let Some(name) = name.and_then(WorldName::parse) else { return Ok(false) };
        project.name = name;
        // The rules are not compared, so they are removed. Otherwise an error in the rules would
        // fail the build.
        project.evaluation = None;
        let own = build(&project, &self.projects().stored_files(id.as_str()));
        Ok(own.is_ok_and(|own| compared(&own).eq(compared(files))))
    }
}

/// The files that affect the driving in a world, in their order.
fn compared(bundle: &MemoryBundle) -> impl Iterator<Item = (&String, &Vec<u8>)> {
    let counts = |path: &str| {
        !path.starts_with("evaluations/")
            && !path.starts_with("track_iconography/")
            && !path.ends_with("/model.config")
    };
    bundle.files.iter().filter(move |(path, _)| counts(path))
}
