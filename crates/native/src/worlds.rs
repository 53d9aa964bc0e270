//! Loads the worlds and robots that Python names.

use chicane_bundles::{BuiltIn, FolderBundle};
use chicane_world::{Assets, Profile, World};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The built-in worlds that were loaded, by name. All environments share these worlds, because a
/// loaded world never changes.
static LOADED: Mutex<BTreeMap<String, Arc<World>>> = Mutex::new(BTreeMap::new());

/// Names of the built-in worlds, sorted.
pub(crate) fn names() -> Vec<String> {
    BuiltIn::all().map(|world| world.name().to_owned()).collect()
}

/// Whether a text is the path of a folder that has a folder `worlds`.
fn is_folder(given: &str) -> bool {
    !given.is_empty() && Path::new(given).join("worlds").is_dir()
}

fn without_suffix(given: &str) -> &str {
    given.strip_suffix(".world").unwrap_or(given)
}

/// Whether [`load`] finds a world.
pub(crate) fn knows(given: &str) -> bool {
    let name = without_suffix(given);
    BuiltIn::all().any(|world| world.name() == name) || is_folder(given)
}

/// Loads a built-in world, or the world in a folder. The error is a text for the user.
pub(crate) fn load(given: &str) -> Result<Arc<World>, String> {
    if is_folder(given) {
        let bundle = FolderBundle::new(given);
        let world = World::load(&Assets::of(&bundle)).map_err(|error| error.to_string())?;
        return Ok(Arc::new(world));
    }
    let name = without_suffix(given);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(world) = loaded.get(name) {
        return Ok(Arc::clone(world));
    }
    let built_in = BuiltIn::all().find(|world| world.name() == name).ok_or_else(|| {
        format!(
            "unknown world '{given}': give the folder of a world, or one of {}; installed worlds need \
             backend='http'",
            names().join(", ")
        )
    })?;
    let world = World::load(&Assets::of(&built_in)).map_err(|error| error.to_string())?;
    let world = Arc::new(world);
    loaded.insert(name.to_owned(), Arc::clone(&world));
    Ok(world)
}

/// Loads a robot: the name of a generation, or the path of a profile file. The error is a text for
/// the user.
pub(crate) fn robot(given: &str) -> Result<Profile, String> {
    if let Some(profile) = Profile::named(given) {
        return Ok(profile);
    }
    let bytes = std::fs::read(given).map_err(|error| {
        let names: Vec<&str> = Profile::GENERATIONS.iter().map(|generation| generation.name).collect();
        format!("unknown robot '{given}': give a profile file or one of {} ({error})", names.join(", "))
    })?;
    Profile::from_json(given, &bytes).map_err(|error| error.to_string())
}
