//! `chicane worlds remove`.

use super::WorldsError;
use super::data_folder::{DataFolder, request_blocking};
use crate::args::DataDirArgs;
use chicane_store::Library;
use chicane_wire::WorldId;
use std::path::Path;

pub(super) fn run(data: &DataDirArgs, world: &str) -> Result<(), WorldsError> {
    let name = world.trim_end_matches(".world");
    let name = WorldId::parse(name).map_or_else(|| name.to_owned(), |id| format!("custom_{id}"));
    // Other characters are refused, because the name becomes a part of a path and of a URL.
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !name.bytes().all(is_allowed) {
        return Err(WorldsError::InvalidWorldName(world.to_owned()));
    }
    match DataFolder::open_existing(data)? {
        DataFolder::InUse(running) => {
            request_blocking(&running, "DELETE", &format!("/worlds/{name}"))?;
        }
        DataFolder::Locked(data) => remove(data.dir(), &name)?,
        DataFolder::Unused(dir) => remove(&dir, &name)?,
    }
    println!("{name} is removed");
    Ok(())
}

/// Removes a world that is installed in a data folder.
fn remove(dir: &Path, name: &str) -> Result<(), WorldsError> {
    let library = Library::built_in().with_installed(dir);
    let entry = library.entry(name).ok_or_else(|| WorldsError::NotInstalled(name.to_owned()))?;
    if !entry.deletable {
        return Err(WorldsError::Protected(name.to_owned()));
    }
    let removed = library.remove(name);
    removed.map(drop).map_err(|source| WorldsError::Remove { world: name.to_owned(), source })
}
