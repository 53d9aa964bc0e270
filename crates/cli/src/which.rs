//! The world that a command line names: a folder, a builder project, or one of the program by its name. Every command finds it
//! in this way.

use chicane_store::{FolderBundle, Library, LoadError};
use chicane_world::{Assets, World};
use std::path::Path;
use std::sync::Arc;

/// The worlds there are with the one that is meant among them, and its name.
pub(crate) fn find(which: &str) -> Result<(Library, String), String> {
    let library = Library::built_in();
    let path = Path::new(which);
    let name = which.strip_suffix(".world").unwrap_or(which);
    // A folder that happens to be called like a world of the program, and is none, is not meant.
    if path.is_dir() && (path.join("worlds").is_dir() || library.entry(name).is_none()) {
        let bundle = FolderBundle::new(which);
        let name = World::load(&Assets::of(&bundle)).map_err(|e| e.to_string())?.name;
        return Ok((library.with_bundle(&name, Arc::new(bundle)), name));
    }
    if path.is_file() {
        let (bundle, name) = crate::projects::bundle(which)?;
        return Ok((library.with_bundle(&name, Arc::new(bundle)), name));
    }
    if library.entry(name).is_some() {
        return Ok((library, name.to_owned()));
    }
    let names: Vec<String> = library.entries().into_iter().map(|e| e.name).collect();
    Err(format!(
        "there is no world {which}: it is a folder that holds worlds/<name>.world, a project <name>.json, or one of {}",
        names.join(", ")
    ))
}

/// Loads it.
pub(crate) fn load(which: &str) -> Result<World, String> {
    let (library, name) = find(which)?;
    library.load(&name).map_err(|error| match error {
        LoadError::NotFound => format!("there is no world {which}"),
        LoadError::Broken(why) => why.to_string(),
    })
}
