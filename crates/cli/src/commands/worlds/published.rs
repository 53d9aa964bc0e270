//! `chicane worlds rename` and `chicane worlds access`: change published worlds.

use super::WorldsError;
use crate::args::{AccessLevel, DataDirArgs};
use crate::cdn_target::{self, PRIVATE_WARNING};
use crate::{colour, data_dir, runtime};
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
        Err(error) => return Err(failed(error, data, to)),
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
    let meta = runtime::start()?.block_on(cdn.change(id, |meta| meta.access = level.into()));
    let meta = meta.map_err(|error| failed(error, data, to))?;
    if to.is_some() && meta.access == Access::Private {
        colour::warn(PRIVATE_WARNING);
    }
    println!("{id} is {}", meta.access.word());
    Ok(())
}

/// Adds to an error where the published world was looked for.
fn failed(error: PublishError, data: &DataDirArgs, to: Option<&str>) -> WorldsError {
    let PublishError::NotPublished(id) = error else { return error.into() };
    let place = match to {
        // The address of a bucket is not quoted, because it may contain a password.
        Some(to) if to.contains("://") => "the bucket of --to".to_owned(),
        Some(folder) => folder.to_owned(),
        None => match data_dir::resolve_absolute(data.data_dir.as_deref()) {
            Ok(dir) => dir.join("cdn").display().to_string(),
            Err(error) => return error.into(),
        },
    };
    WorldsError::NotPublished { id, place }
}
