//! `chicane worlds remove`.

use super::WorldsError;
use super::data_folder::{DataFolder, request_blocking};
use crate::args::DataDirArgs;
use chicane_store::Library;
use chicane_wire::WorldId;

pub(super) fn run(data: &DataDirArgs, world: &str) -> Result<(), WorldsError> {
    let name = world.trim_end_matches(".world");
    let name = WorldId::parse(name).map_or_else(|| name.to_owned(), |id| format!("custom_{id}"));
    // Other characters are refused, because the name becomes a part of a path and of a URL.
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !name.bytes().all(is_allowed) {
        return Err(WorldsError::InvalidWorldName(world.to_owned()));
    }
    match DataFolder::open(data)? {
        DataFolder::InUse(running) => {
            request_blocking(&running, "DELETE", &format!("/worlds/{name}"))?;
        }
        DataFolder::Locked(data) => {
            let library = Library::built_in().with_installed(data.dir());
            let entry = library.entry(&name).ok_or_else(|| WorldsError::NotInstalled(name.clone()))?;
            if !entry.deletable {
                return Err(WorldsError::Protected(name));
            }
            let removed = library.remove(&name);
            removed.map_err(|source| WorldsError::Remove { world: name.clone(), source })?;
        }
    }
    println!("{name} is removed");
    Ok(())
}
