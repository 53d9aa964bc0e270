//! `chicane worlds rename` and `chicane worlds access`: change published worlds.

use super::WorldsError;
use crate::args::{AccessLevel, DataDirArgs};
use crate::cdn_target::{self, PRIVATE_WARNING};
use crate::{data_dir, runtime};
use chicane_store::{Access, Meta, PublishError, Shelf, is_name};
use chicane_wire::WorldId;

/// Renames a published world, and the installed world in the data folder if no other CDN is given.
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
    let published = change(data, id, to, |meta| meta.name = name.to_owned());
    let is_published = match published {
        Ok(_) => true,
        Err(WorldsError::Publish(PublishError::NotPublished(_))) => false,
        // An installed world is renamed even if its published copy can't be changed.
        Err(WorldsError::Publish(error)) => {
            rename_installed(data, id, name, to)?;
            return Err(error.into());
        }
        Err(error) => return Err(error),
    };
    // An imported world was never published.
    if !rename_installed(data, id, name, to)? && !is_published {
        return Err(PublishError::NotPublished(id.clone()).into());
    }
    println!("{id} is {name}");
    Ok(())
}

/// Returns whether the data folder has the world.
fn rename_installed(
    data: &DataDirArgs,
    id: &WorldId,
    name: &str,
    to: Option<&str>,
) -> Result<bool, WorldsError> {
    if to.is_some() {
        return Ok(false);
    }
    let shelf = Shelf::of(&data_dir::resolve_absolute(data.data_dir.as_deref())?);
    shelf.rename(id, name).map_err(|source| WorldsError::Rename { id: id.clone(), source })
}

/// Changes who can install a published world.
pub(super) fn set_access(
    data: &DataDirArgs,
    id: &WorldId,
    level: AccessLevel,
    to: Option<&str>,
) -> Result<(), WorldsError> {
    let meta = change(data, id, to, |meta| meta.access = level.into())?;
    if to.is_some() && meta.access == Access::Private {
        eprintln!("warning: {PRIVATE_WARNING}");
    }
    println!("{id} is {}", meta.access.word());
    Ok(())
}

fn change(
    data: &DataDirArgs,
    id: &WorldId,
    to: Option<&str>,
    change: impl Fn(&mut Meta) + Send,
) -> Result<Meta, WorldsError> {
    let cdn = cdn_target::open(to, data.data_dir.as_deref())?;
    Ok(runtime::start()?.block_on(cdn.change(id, change))?)
}
