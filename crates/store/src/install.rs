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
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

/// Maximum number of attempts to take the lock of a staging folder. All of them together take about
/// 10 s.
const LOCK_ATTEMPTS: u32 = 2_000;
/// Pause between two attempts to take the lock of a staging folder.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

impl InstalledWorlds {
    /// Installs a package that was made on this machine.
    pub fn install(&self, package: &Package) -> Result<CheckedWorld, InstallError> {
        let folder = self.staging.join(package.id.as_str());
        let lock = take(&folder)?;
        let done = self.install_from(&folder.join("files"), package);
        lock.remove_folder();
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

/// Takes the lock of the staging folder of a new id. The lock is tried repeatedly, because another
/// process that removes old staging folders may hold it for a moment.
fn take(folder: &Path) -> std::io::Result<FolderLock> {
    for _ in 0..LOCK_ATTEMPTS {
        if let Some(lock) = FolderLock::try_take(folder)? {
            return Ok(lock);
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    Err(std::io::Error::new(ErrorKind::WouldBlock, "another process is installing the world"))
}
