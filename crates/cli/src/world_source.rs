//! Finds the world that a command line names: a world folder, a project file, or a built-in world.
//! All commands use this module to find a world.

use crate::project::{self, ProjectError};
use chicane_store::{FolderBundle, Library, LoadError};
use chicane_world::{Assets, World};
use std::path::Path;
use std::sync::Arc;

/// Why a world can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldSourceError {
    #[error("Unknown world \"{given}\". Give a project file, a folder, or one of: {}", known.join(", "))]
    Unknown { given: String, known: Vec<String> },
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A file of the world is invalid.
    #[error(transparent)]
    World(#[from] chicane_world::Error),
}

/// Returns a library that contains the given world, and the name of the world in that library.
pub(crate) fn find(given: &str) -> Result<(Library, String), WorldSourceError> {
    let library = Library::built_in();
    let path = Path::new(given);
    let name = given.strip_suffix(".world").unwrap_or(given);
    // If a folder has the name of a built-in world and no subfolder `worlds`, the name means the
    // built-in world.
    if path.is_dir() && (path.join("worlds").is_dir() || library.entry(name).is_none()) {
        let bundle = FolderBundle::new(given);
        let name = World::load(&Assets::of(&bundle))?.name;
        return Ok((library.with_bundle(&name, Arc::new(bundle)), name));
    }
    if path.is_file() {
        let (bundle, name) = project::bundle(given)?;
        return Ok((library.with_bundle(&name, Arc::new(bundle)), name));
    }
    if library.entry(name).is_some() {
        return Ok((library, name.to_owned()));
    }
    Err(unknown(given, &library))
}

/// Loads the given world.
pub(crate) fn load(given: &str) -> Result<World, WorldSourceError> {
    let (library, name) = find(given)?;
    library.load(&name).map_err(|error| match error {
        LoadError::NotFound => unknown(given, &library),
        LoadError::Broken(error) => error.into(),
    })
}

fn unknown(given: &str, library: &Library) -> WorldSourceError {
    let known = library.entries().into_iter().map(|entry| entry.name).collect();
    WorldSourceError::Unknown { given: given.to_owned(), known }
}
