//! `chicane worlds rename` and `chicane worlds access`: change published worlds.

use super::WorldsError;
use crate::args::{AccessLevel, DataDirArgs};
use crate::cdn_target::{self, PRIVATE_WARNING};
use crate::{data_dir, runtime};
use chicane_store::{Access, InstalledWorlds, PublishError, is_name};
use chicane_wire::WorldId;

/// Renames a published world. If `to` is `None`, the published world is in the CDN folder of the
/// data folder. In that case, also renames the installed world in the data folder.
pub(super) fn rename(
    data: &DataDirArgs,
    id: &WorldId,
    name: &str,
    to: Option<&str>,
) -> Result<(), WorldsError> {
    if !is_name(name) {
        return Err(WorldsError::InvalidDisplayName);
    }
    let name = name.trim();
    let cdn = cdn_target::open(to, data.data_dir.as_deref())?;
    let published = runtime::start()?.block_on(cdn.change(id, |meta| meta.name = name.to_owned()));
    let installed = match to {
        Some(_) => false,
        None => InstalledWorlds::of(&data_dir::resolve_absolute(data.data_dir.as_deref())?)
            .rename(id, name)
            .map_err(|source| WorldsError::Rename { id: id.clone(), source })?,
    };
    match published {
        Ok(_) => {}
        // This is not an error if the world is installed, because an imported world is installed
        // but not published.
        Err(PublishError::NotPublished(_)) if installed => {}
        Err(error) => return Err(error.into()),
    }
    println!("{id} is {name}");
    Ok(())
}

/// Changes who can install a published world.
pub(super) fn set_access(
    data: &DataDirArgs,
    id: &WorldId,
    level: AccessLevel,
    to: Option<&str>,
) -> Result<(), WorldsError> {
    let cdn = cdn_target::open(to, data.data_dir.as_deref())?;
    let meta = runtime::start()?.block_on(cdn.change(id, |meta| meta.access = level.into()))?;
    if to.is_some() && meta.access == Access::Private {
        eprintln!("warning: {PRIVATE_WARNING}");
    }
    println!("{id} is {}", meta.access.word());
    Ok(())
}
