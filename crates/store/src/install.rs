//! From what a CDN says to an installed world: a plan, files in a staging folder, checks, and the move
//! into place. Where the bytes come from is somebody else's business.

mod plan;
mod staging;
mod writing;

pub use plan::{Plan, Wanted};
pub use staging::{Have, Staging};
pub use writing::Writing;

use crate::claim::Claim;
use crate::package::{Need, Package, load};
use crate::rules::Unfit;
use crate::shelf::{Kept, Record, Shelf, sync_folder};
use crate::sum::{Sum, random_hex};
use crate::{FolderBundle, library};
use chicane_wire::WorldId;
use chicane_world::Warning;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Why a world was not installed. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstallError {
    /// There is no such world for us.
    #[error("world not published")]
    NotPublished,
    /// More than there may be.
    #[error("{0}")]
    TooLarge(String),
    /// A rule is broken, or the files are not what the id promises.
    #[error("{0}")]
    Rule(String),
    /// The CDN did not give what it should.
    #[error("the CDN failed: {0}")]
    Cdn(String),
    /// Our own disk.
    #[error("the world can't be stored: {0}")]
    Disk(String),
    /// Too many worlds are being installed.
    #[error("too many worlds are being installed; try again")]
    Busy,
    /// The program ends.
    #[error("the simulator stops")]
    Stopping,
}

impl From<Unfit> for InstallError {
    fn from(unfit: Unfit) -> InstallError {
        match unfit {
            Unfit::TooLarge(text) => InstallError::TooLarge(text),
            Unfit::Rule(text) => InstallError::Rule(text),
        }
    }
}

impl From<std::io::Error> for InstallError {
    fn from(e: std::io::Error) -> InstallError {
        InstallError::Disk(e.to_string())
    }
}

/// A world that is ready to be put into place.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What will be installed.
    pub record: Record,
    /// What was passed over while it was loaded.
    pub warnings: Vec<Warning>,
}

struct About<'a> {
    id: &'a WorldId,
    rev: &'a str,
    name: &'a str,
}

fn check(
    staged: &Path,
    about: &About<'_>,
    verified: bool,
    files: Vec<Kept>,
    need: Need,
) -> Result<Checked, InstallError> {
    drop_strangers(staged, &files)?;
    let world = load(&FolderBundle::new(staged), need)?;
    let summary = library::summary_of(&world);
    let unique = random_hex().map_err(|e| InstallError::Disk(e.to_string()))?;
    let record = Record {
        v: 1,
        world_id: about.id.to_string(),
        rev: about.rev.to_owned(),
        name: about.name.to_owned(),
        verified,
        size: summary.size,
        evaluation: summary.evaluation,
        folder: format!("{}-{}", about.rev, &unique[..8]),
        files,
    };
    Ok(Checked { record, warnings: world.warnings })
}

impl Shelf {
    /// Installs a package that was made on this machine.
    pub fn install(&self, package: &Package) -> Result<Checked, InstallError> {
        let folder = self.staging.join(package.id.as_str());
        // The id is new: nobody else can have it.
        let claim = Claim::try_take(&folder)?;
        let staged = folder.join("files");
        let done = self.install_from(&staged, package);
        let _ = std::fs::remove_dir_all(&folder);
        drop(claim);
        done
    }

    fn install_from(&self, staged: &Path, package: &Package) -> Result<Checked, InstallError> {
        let mut files = Vec::with_capacity(package.files.len());
        for (path, bytes) in &package.files {
            let whole = staged.join(path.as_str());
            if let Some(folder) = whole.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut file = File::create(&whole)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            let (path, size, sha256) = (path.to_string(), bytes.len() as u64, Sum::of(bytes).hex());
            files.push(Kept { path, size, sha256 });
        }
        let meta = &package.meta;
        let about = About { id: &package.id, rev: meta.rev.as_str(), name: &meta.name };
        let checked = check(staged, &about, true, files, Need::World)?;
        self.place(staged, &checked.record)?;
        Ok(checked)
    }
}

/// Removes what does not belong to the world, such as files of an interrupted installation, and has the
/// folders on disk.
fn drop_strangers(staged: &Path, files: &[Kept]) -> std::io::Result<()> {
    let mut pending = vec![staged.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if std::fs::symlink_metadata(&path)?.is_dir() {
                pending.push(path);
                continue;
            }
            let name = path.strip_prefix(staged).ok().and_then(Path::to_str);
            if !files.iter().any(|f| Some(f.path.as_str()) == name) {
                std::fs::remove_file(&path)?;
            }
        }
        sync_folder(&folder);
    }
    Ok(())
}
