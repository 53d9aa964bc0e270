//! Packs projects as packages for a CDN.

use crate::error::StudioError;
use crate::studio::Studio;
use chicane_builder::project::WorldName;
use chicane_render::thumbnail;
use chicane_store::{Access, IdPlaceholder, Label, Need, Package, Unfit};
use chicane_wire::{ProjectId, PublishRequest, WorldAccess};
use chicane_world::{Assets, Profile, World};
use std::sync::Arc;

/// Why a project can't be published.
#[derive(Debug, thiserror::Error)]
pub enum PublishProjectError {
    /// The project does not exist, or can't be read or built.
    #[error(transparent)]
    Studio(#[from] StudioError),
    /// The world breaks a rule for published worlds.
    #[error("the world can't be published: {0}")]
    Unfit(#[from] Unfit),
}

impl Studio {
    /// Builds the world of a project under a placeholder name, adds a thumbnail, and packs the
    /// result for publishing. [`Package::new`] replaces the placeholder by the id of the world.
    /// Returns the package, and the revision of the project from which it was built.
    pub fn package(
        &self,
        id: &ProjectId,
        request: &PublishRequest,
        profile: &Arc<Profile>,
    ) -> Result<(Package, u64), PublishProjectError> {
        let (revision, mut project) = self.project(id)?;
        let placeholder = IdPlaceholder::new().map_err(StudioError::from)?;
        project.name = WorldName::parse(&placeholder.world_name()).ok_or(StudioError::Name)?;
        let mut bundle = self.bundle(id, &project)?;
        let world = World::load(&Assets::of(&bundle)).map_err(StudioError::from)?;
        let picture = thumbnail(&world, Arc::clone(profile));
        bundle.insert(format!("track_iconography/{}.png", project.name), picture);
        let name = request.name.clone().unwrap_or(project.display_name);
        let label = Label { name, access: access_of(request.access) };
        Ok((Package::new(&bundle, &placeholder, &label, Need::Track)?, revision))
    }
}

/// The access of a published world.
pub fn access_of(access: WorldAccess) -> Access {
    match access {
        WorldAccess::Public => Access::Public,
        WorldAccess::Unlisted => Access::Unlisted,
        WorldAccess::Private => Access::Private,
    }
}
