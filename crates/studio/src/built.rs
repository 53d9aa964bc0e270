//! Builds the worlds of projects in memory. The last few worlds are cached, because the 3D view, a
//! print and a test drive often need the same world.

use crate::error::StudioError;
use crate::studio::{Studio, lock};
use chicane_builder::project::WorldName;
use chicane_builder::{Project, build};
use chicane_store::DrivenProject;
use chicane_wire::ProjectId;
use chicane_world::{Assets, MemoryBundle, World};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Maximum number of built worlds that are kept.
const MAX_KEPT: usize = 3;

/// The world of one revision of a project.
pub struct BuiltWorld {
    /// The revision.
    pub revision: u64,
    /// The project.
    pub project: Project,
    /// The world.
    pub world: World,
}

/// The last built worlds, with the ids of their projects.
#[derive(Default)]
pub(crate) struct BuiltWorlds {
    kept: Mutex<VecDeque<(ProjectId, Arc<BuiltWorld>)>>,
    /// Locked while a world is built, so that the same world is not built twice.
    building: Mutex<()>,
}

impl Studio {
    /// The world of a project. Fails if the project has errors.
    pub fn built(&self, id: &ProjectId) -> Result<Arc<BuiltWorld>, StudioError> {
        let _turn = lock(&self.built.building);
        let (revision, project) = self.project(id)?;
        let is_same =
            |(other, built): &&(ProjectId, Arc<BuiltWorld>)| other == id && built.revision == revision;
        if let Some((_, built)) = lock(&self.built.kept).iter().find(is_same) {
            return Ok(Arc::clone(built));
        }
        let world = World::load(&Assets::of(&self.bundle(id, &project)?))?;
        let built = Arc::new(BuiltWorld { revision, project, world });
        let mut kept = lock(&self.built.kept);
        kept.retain(|(other, _)| other != id);
        kept.push_front((id.clone(), Arc::clone(&built)));
        kept.truncate(MAX_KEPT);
        Ok(built)
    }

    /// The files of the world of a project.
    pub(crate) fn bundle(&self, id: &ProjectId, project: &Project) -> Result<MemoryBundle, StudioError> {
        let files = self.projects().stored_files(id.as_str());
        build(project, &files).map_err(|_| StudioError::Invalid(self.findings(id, project)))
    }

    /// The name of a project's world.
    pub fn world_name(&self, id: &ProjectId) -> Result<String, StudioError> {
        Ok(self.project(id)?.1.name.as_str().to_owned())
    }

    /// Builds the world of a project under another name, for a test drive.
    pub fn drivable(&self, id: &ProjectId, name: &str) -> Result<DrivenProject, StudioError> {
        let (_, mut project) = self.project(id)?;
        project.name = WorldName::parse(name).ok_or(StudioError::Name)?;
        let bundle = self.bundle(id, &project)?;
        World::load(&Assets::of(&bundle))?;
        Ok(DrivenProject::new(&project, bundle))
    }
}
