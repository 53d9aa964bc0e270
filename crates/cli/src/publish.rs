//! `chicane publish`: from a project, or the folder of a world, to a CDN.
//!
//! The default CDN is a folder in the data folder. It has a lock of its own, so that one can publish
//! while a simulator runs; that serves what was published at once. Another folder or a bucket is served by whoever
//! serves it.

use crate::cli::{JudgeBy, Level, Publish};
use crate::progress::Progress;
use crate::{projects, worlds};
use chicane_builder::project::WorldName;
use chicane_remote::open_bucket;
use chicane_store::{Access, Cdn, IdPlaceholder, Label, Need, Package, create_private};
use chicane_world::MemoryBundle;
use std::path::{Path, PathBuf};

/// What private means where no simulator serves.
pub(crate) const PRIVATE: &str =
    "only a simulator keeps private worlds private; elsewhere whoever may read the files has them";

pub(crate) fn run(wanted: &Publish) -> Result<(), String> {
    let cdn = cdn(wanted.to.as_deref(), wanted.data.data_dir.as_deref())?;
    let stand = IdPlaceholder::new().map_err(|e| e.to_string())?;
    let (bundle, name) = bundle(&wanted.path, &stand, &wanted.judge)?;
    if wanted.to.is_some() && wanted.access == Level::Private {
        eprintln!("warning: {PRIVATE}");
    }
    let label = Label { name: wanted.name.clone().unwrap_or(name), access: wanted.access.into() };
    let mut progress = Progress::new(format!("publishing {}", label.name));
    let package = Package::new(&bundle, &stand, &label, Need::Track)
        .map_err(|e| format!("{} can't be published: {e}", wanted.path))?;
    for warning in &package.warnings {
        eprintln!("warning: {warning}");
    }
    let published = worlds::runtime()?.block_on(cdn.publish(&package, |part| progress.set(part)));
    published.map_err(|e| e.to_string())?;
    drop(progress);
    println!("{}", package.id);
    Ok(())
}

/// Where worlds are published to.
pub(crate) enum To {
    Folder(PathBuf),
    Bucket(Cdn),
}

impl To {
    /// What was asked for, if it can be written to.
    pub(crate) fn parse(to: &str) -> Result<To, String> {
        match to.split_once("://") {
            None => Ok(To::Folder(to.into())),
            Some(("file", path)) if path.starts_with('/') => Ok(To::Folder(path.into())),
            Some(("file", _)) => Err("file:// takes a whole path, such as file:///srv/worlds".to_owned()),
            Some(("s3", _)) => open_bucket(to).map(To::Bucket).map_err(|e| e.to_string()),
            Some(("http" | "https", _)) => {
                Err("a web address can't be published to: give a bucket, s3://BUCKET/FOLDER \
                 with AWS_ENDPOINT for another server than Amazon's, or a folder that the web server serves"
                    .to_owned())
            }
            Some(_) => {
                Err("only s3://BUCKET/FOLDER, file:///FOLDER and folders can be published to".to_owned())
            }
        }
    }
}

/// The CDN that was asked for.
pub(crate) fn cdn(to: Option<&str>, data_dir: Option<&Path>) -> Result<Cdn, String> {
    let folder = match to.map(To::parse).transpose()? {
        Some(To::Bucket(cdn)) => return Ok(cdn),
        Some(To::Folder(folder)) => folder,
        None => {
            let data_dir = crate::serve::data_dir(data_dir)?;
            create_private(&data_dir).map_err(|e| format!("can't write {}: {e}", data_dir.display()))?;
            data_dir.join("cdn")
        }
    };
    Cdn::folder(&folder).map_err(|e| e.to_string())
}

/// The files of what is to be published, and its name for people.
fn bundle(path: &str, stand: &IdPlaceholder, judge: &JudgeBy) -> Result<(MemoryBundle, String), String> {
    if Path::new(path).is_dir() {
        let (bundle, name, passed_over) = crate::worlds::read_folder(Path::new(path), None)?;
        passed_over.iter().for_each(|line| eprintln!("warning: {line}"));
        if let Some((file, script)) = worlds::script_of(&bundle) {
            crate::script::must_judge(judge, &format!("{path}: {file}"), &script)?;
        }
        return Ok((bundle, name));
    }
    let made = projects::make(path, WorldName::parse(&stand.world_name()), judge)?;
    made.warnings.iter().for_each(|warning| eprintln!("{warning}"));
    Ok((made.bundle, made.project.display_name))
}

impl From<Level> for Access {
    fn from(level: Level) -> Access {
        match level {
            Level::Public => Access::Public,
            Level::Unlisted => Access::Unlisted,
            Level::Private => Access::Private,
        }
    }
}
