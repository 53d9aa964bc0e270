//! `chicane worlds import`: installs a Gazebo-style folder and reports the skipped files.

use super::{ImportError, WorldsError};
use crate::args::{DataDirArgs, JudgeArgs};
use crate::{data_dir, judge_script, world_folder};
use chicane_store::{Access, CheckedWorld, IdPlaceholder, InstalledWorlds, Label, Need, Package};
use std::path::Path;

pub(super) fn run(
    data: &DataDirArgs,
    folder: &Path,
    world: Option<&str>,
    name: Option<String>,
    judge: &JudgeArgs,
) -> Result<(), WorldsError> {
    let data_dir = data_dir::resolve_absolute(data.data_dir.as_deref())?;
    data_dir::create(&data_dir)?;
    let files = world_folder::read(folder, world).map_err(ImportError::from)?;
    let label = Label { name: name.unwrap_or(files.name), access: Access::Unlisted };
    let (package, installed) = install(&data_dir, folder, &files.bundle, &label)?;
    let script = world_folder::script_of(&files.bundle);
    let script_warning = script.and_then(|(_, script)| judge_script::warning(judge, &script));
    println!("{}", installed.record.world_name());
    println!("name       {}", installed.record.name);
    println!("files      {}", package.files.len());
    let load_warnings = installed.warnings.iter().map(ToString::to_string);
    for warning in files.skipped.into_iter().chain(load_warnings).chain(script_warning) {
        println!("warning    {warning}");
    }
    Ok(())
}

fn install(
    data_dir: &Path,
    folder: &Path,
    bundle: &chicane_world::MemoryBundle,
    label: &Label,
) -> Result<(Package, CheckedWorld), ImportError> {
    let package = Package::new(bundle, &IdPlaceholder::new()?, label, Need::World)
        .map_err(|source| ImportError::Unfit { folder: folder.to_owned(), source })?;
    let installed = InstalledWorlds::of(data_dir)
        .install(&package)
        .map_err(|source| ImportError::Install { folder: folder.to_owned(), source })?;
    Ok((package, installed))
}
