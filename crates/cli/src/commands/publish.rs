//! `chicane publish`: publishes a project or a world folder to a CDN.

use crate::args::{AccessLevel, JudgeArgs, PublishArgs};
use crate::cdn_target::{self, CdnTargetError, PRIVATE_WARNING};
use crate::colour;
use crate::judge_script::{self, InvalidScript};
use crate::progress::Progress;
use crate::project::{self, ProjectError};
use crate::runtime::{self, RuntimeError};
use crate::world_folder::{self, WorldFolderError};
use chicane_builder::project::WorldName;
use chicane_store::{IdPlaceholder, Label, Need, Package, PublishError, RandomError, Unfit};
use chicane_world::MemoryBundle;
use std::path::Path;

/// Why no world was published.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishCommandError {
    #[error(transparent)]
    Target(#[from] CdnTargetError),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Folder(#[from] WorldFolderError),
    #[error(transparent)]
    Script(#[from] InvalidScript),
    /// The files break a rule for published worlds.
    #[error("{path} can't be published: {source}")]
    Unfit { path: String, source: Unfit },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Publish(#[from] PublishError),
}

pub(crate) fn run(args: &PublishArgs) -> Result<(), PublishCommandError> {
    let cdn = cdn_target::open(args.to.as_deref(), args.data.data_dir.as_deref())?;
    let placeholder = IdPlaceholder::new()?;
    let (bundle, name) = bundle(&args.path, &placeholder, &args.judge)?;
    if args.to.is_some() && args.access == AccessLevel::Private {
        colour::warn(PRIVATE_WARNING);
    }
    let label = Label { name: args.name.clone().unwrap_or(name), access: args.access.into() };
    let mut progress = Progress::new(format!("publishing {}", label.name));
    let package = Package::new(&bundle, &placeholder, &label, Need::Track)
        .map_err(|source| PublishCommandError::Unfit { path: args.path.clone(), source })?;
    for warning in &package.warnings {
        colour::warn(warning);
    }
    runtime::start()?.block_on(cdn.publish(&package, |part| progress.set(part)))?;
    progress.finish();
    println!("{}", package.id);
    Ok(())
}

/// The files to publish, and the display name of the world.
fn bundle(
    path: &str,
    placeholder: &IdPlaceholder,
    judge: &JudgeArgs,
) -> Result<(MemoryBundle, String), PublishCommandError> {
    if Path::new(path).is_dir() {
        let folder = world_folder::read_all(Path::new(path))?;
        folder.skipped.iter().for_each(colour::warn);
        if let Some((file, script)) = world_folder::script_of(&folder.bundle) {
            judge_script::require_valid(judge, &format!("{path}: {file}"), &script)?;
        }
        return Ok((folder.bundle, folder.name));
    }
    let built = project::build(path, WorldName::parse(&placeholder.world_name()), judge)?;
    built.warnings.iter().for_each(|warning| eprintln!("{warning}"));
    Ok((built.bundle, built.project.display_name))
}
