//! Installs a world that a CDN describes: makes a plan, writes the files to a staging folder,
//! checks them, and moves them into place. This module downloads no files; its caller provides the
//! bytes.

mod check;
mod error;
mod plan;
mod staging;
mod writer;

pub use check::CheckedWorld;
pub use error::InstallError;
pub use plan::{InstallPlan, PlannedFile};
pub use staging::{Staged, Staging};
pub use writer::StagedFileWriter;

use crate::folder_lock::FolderLock;
use crate::installed_worlds::{InstalledFile, InstalledWorlds};
use crate::package::{Need, Package};
use crate::sum::Sum;
use check::{Identity, check};
use std::fs::File;
use std::io::Write;
use std::path::Path;

impl InstalledWorlds {
    /// Installs a package that was made on this machine.
    pub fn install(&self, package: &Package) -> Result<CheckedWorld, InstallError> {
        let folder = self.staging.join(package.id.as_str());
        // The id is new, so no other process can have this lock.
        let lock = FolderLock::try_take(&folder)?;
        let staged = folder.join("files");
        let done = self.install_from(&staged, package);
        let _ = std::fs::remove_dir_all(&folder);
        drop(lock);
        done
    }

    fn install_from(&self, staged: &Path, package: &Package) -> Result<CheckedWorld, InstallError> {
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
            files.push(InstalledFile { path, size, sha256 });
        }
        let meta = &package.meta;
        let identity = Identity { id: &package.id, rev: meta.rev.as_str(), name: &meta.name };
        let checked = check(staged, &identity, true, files, Need::World)?;
        self.place(staged, &checked.record)?;
        Ok(checked)
    }
}
