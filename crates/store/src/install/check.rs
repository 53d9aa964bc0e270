//! Checks staged files as a whole, before they are moved into place.

use super::error::InstallError;
use crate::installed_worlds::{InstalledFile, InstalledRecord, sync_folder};
use crate::package::{Need, load};
use crate::sum::random_hex;
use crate::summary::summary_of;
use chicane_bundles::FolderBundle;
use chicane_wire::WorldId;
use chicane_world::Warning;
use std::path::Path;

/// A staged world that passed the checks.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedWorld {
    /// The record that will be written.
    pub record: InstalledRecord,
    /// The parts of the world that the loader ignored.
    pub warnings: Vec<Warning>,
}

/// What the publisher says about a world.
pub(super) struct Identity<'a> {
    pub(super) id: &'a WorldId,
    pub(super) rev: &'a str,
    /// Display name.
    pub(super) name: &'a str,
}

/// Removes staged files that do not belong to the world, loads the world as a test, and makes its
/// record.
pub(super) fn check(
    staged: &Path,
    identity: &Identity<'_>,
    verified: bool,
    files: Vec<InstalledFile>,
    need: Need,
) -> Result<CheckedWorld, InstallError> {
    remove_foreign_files(staged, &files)?;
    let world = load(&FolderBundle::new(staged), need)?;
    let summary = summary_of(&world);
    let unique = random_hex().map_err(|e| InstallError::Disk(e.to_string()))?;
    let record = InstalledRecord {
        v: 1,
        world_id: identity.id.to_string(),
        rev: identity.rev.to_owned(),
        name: identity.name.to_owned(),
        alias: None,
        verified,
        size: summary.size,
        evaluation: summary.evaluation,
        folder: format!("{}-{}", identity.rev, &unique[..8]),
        files,
    };
    Ok(CheckedWorld { record, warnings: world.warnings })
}

/// Removes files that do not belong to the world, such as those of an interrupted installation, and
/// flushes the folders to disk.
fn remove_foreign_files(staged: &Path, files: &[InstalledFile]) -> std::io::Result<()> {
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
