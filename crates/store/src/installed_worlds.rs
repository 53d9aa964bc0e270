//! Installed worlds on disk.
//!
//! `worlds/<id>/installed.json` is the record of an installed world. The record names the folder
//! beside it that holds the files. The record is replaced by a rename, so a reader sees the old
//! world or the new one, never a mixture. A folder that no record names holds a removed world, an
//! older revision, or leftovers of a killed process. [`InstalledWorlds::remove_leftovers`] removes
//! such a folder, unless another process works on the world.

use crate::folder_lock::FolderLock;
use crate::held_folder::HeldFolder;
use crate::rules::FilePath;
use crate::sum::{RunningSum, Sum};
use chicane_bundles::FolderBundle;
use chicane_wire::WorldId;
use chicane_world::Bundle;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// File name of a record.
const RECORD: &str = "installed.json";
/// How long an interrupted installation is kept, so that it can be continued.
const KEEP_STAGED: Duration = Duration::from_secs(7 * 86_400);
/// Maximum number of interrupted installations that are kept.
const MAX_STAGED: usize = 8;
/// Maximum number of attempts to move the files of a world into place. An attempt fails if the last
/// reader of an old revision removes the folder of the world meanwhile.
const MOVE_ATTEMPTS: u32 = 100;
/// Maximum size of a record, bytes.
const MAX_RECORD: u64 = 4 << 20;

/// A file of an installed world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledFile {
    /// Path inside the bundle.
    pub(crate) path: String,
    /// Size in bytes.
    pub(crate) size: u64,
    /// SHA-256 as hex digits.
    pub(crate) sha256: String,
}

/// The record of an installed world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstalledRecord {
    /// Version of the record format.
    pub(crate) v: u32,
    /// Id of the world.
    pub world_id: String,
    /// Revision of the files.
    pub rev: String,
    /// Display name.
    pub name: String,
    /// Second name by which clients can switch to the world; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Whether the files were verified against the id.
    pub verified: bool,
    /// Size along x and y in metres, as in [`Summary`](crate::Summary).
    pub size: [f64; 2],
    /// Whether the world has an evaluation.
    pub evaluation: bool,
    /// Name of the folder with the files.
    pub(crate) folder: String,
    pub(crate) files: Vec<InstalledFile>,
}

impl InstalledRecord {
    /// Name of the world.
    pub fn world_name(&self) -> String {
        format!("custom_{}", self.world_id)
    }
}

/// The installed worlds of a data folder.
#[derive(Debug, Clone)]
pub struct InstalledWorlds {
    worlds: PathBuf,
    pub(crate) staging: PathBuf,
    /// Keeps the descriptor of the data folder open, because the paths `worlds` and `staging` lead
    /// through it. `None` if these paths are plain.
    held: Option<HeldFolder>,
}

impl InstalledWorlds {
    /// The installed worlds of a data folder. Creates no file or folder.
    pub fn of(data_dir: &Path) -> InstalledWorlds {
        InstalledWorlds { worlds: data_dir.join("worlds"), staging: data_dir.join("staging"), held: None }
    }

    /// The installed worlds of an open data folder. Their paths lead through the open descriptor of
    /// the folder, so they stay valid when a parent of the folder is renamed. Creates no file or
    /// folder.
    pub fn within(folder: &HeldFolder) -> InstalledWorlds {
        let (worlds, staging) = (folder.join("worlds"), folder.join("staging"));
        InstalledWorlds { worlds, staging, held: Some(folder.clone()) }
    }

    /// The records of all installed worlds. A record that can't be read is skipped with a warning.
    pub fn scan(&self) -> Vec<InstalledRecord> {
        let entries = std::fs::read_dir(&self.worlds).into_iter().flatten().flatten();
        let ids = entries.filter_map(|e| WorldId::parse(e.file_name().to_str()?));
        let mut all: Vec<InstalledRecord> = ids.filter_map(|id| self.record(&id)).collect();
        all.sort_by(|a, b| a.world_id.cmp(&b.world_id));
        all
    }

    /// The record of one installed world. `None` if the world is not installed, or if its record
    /// can't be read.
    pub fn record(&self, id: &WorldId) -> Option<InstalledRecord> {
        let path = self.folder(id).join(RECORD);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|f| f.take(MAX_RECORD).read_to_end(&mut bytes));
        match read {
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => return None,
            Err(e) => {
                tracing::warn!(%id, "an installed world can't be read: {e}");
                return None;
            }
        }
        let record: Option<InstalledRecord> = serde_json::from_slice(&bytes).ok();
        let fits = |r: &InstalledRecord| {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            r.v == 1
                && r.world_id == id.as_str()
                && !r.folder.is_empty()
                && r.folder.bytes().all(plain)
                && r.files.iter().all(|f| FilePath::parse(&f.path).is_ok())
        };
        let record = record.filter(fits);
        if record.is_none() {
            tracing::warn!(%id, "the record of an installed world is invalid and is ignored");
        }
        record
    }

    /// Whether all files are unchanged since the installation.
    pub fn is_intact(&self, record: &InstalledRecord) -> bool {
        let Some(id) = WorldId::parse(&record.world_id) else { return false };
        let folder = self.folder(&id).join(&record.folder);
        record.files.iter().all(|file| {
            let whole = folder.join(&file.path);
            let found = std::fs::symlink_metadata(&whole);
            found.is_ok_and(|m| m.is_file() && m.len() == file.size)
                && sum_of(&whole).is_ok_and(|sum| sum.hex() == file.sha256)
        })
    }

    /// The files of an installed world. `None` if the id in the record is not valid.
    pub(crate) fn bundle(&self, record: &InstalledRecord) -> Option<Arc<InstalledBundle>> {
        let id = WorldId::parse(&record.world_id)?;
        let path = self.folder(&id).join(&record.folder);
        Some(Arc::new(InstalledBundle {
            files: FolderBundle::new(&path),
            path,
            remove: AtomicBool::new(false),
            _held: self.held.clone(),
        }))
    }

    /// Moves staged files into place, then replaces the record of the world. The files were flushed
    /// to disk already.
    pub(crate) fn place(&self, staged: &Path, record: &InstalledRecord) -> std::io::Result<()> {
        let Some(id) = WorldId::parse(&record.world_id) else { return Err(ErrorKind::InvalidInput.into()) };
        let folder = self.folder(&id);
        let move_files = || {
            std::fs::create_dir_all(&folder)?;
            std::fs::rename(staged, folder.join(&record.folder))
        };
        // The last reader of an old world may remove the empty folder between the two steps of
        // `move_files`. Then both steps are repeated.
        let mut attempts = 0;
        while let Err(e) = move_files() {
            attempts += 1;
            if e.kind() != ErrorKind::NotFound || attempts == MOVE_ATTEMPTS {
                return Err(e);
            }
        }
        sync_folder(&folder);
        sync_folder(&self.worlds);
        self.write(&id, record)
    }

    /// Replaces the record of an installed world.
    pub(crate) fn write(&self, id: &WorldId, record: &InstalledRecord) -> std::io::Result<()> {
        let folder = self.folder(id);
        let draft = folder.join(format!("{RECORD}.new"));
        let bytes = serde_json::to_vec_pretty(record).map_err(std::io::Error::other)?;
        let mut file = File::create(&draft)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        drop(file);
        std::fs::rename(&draft, folder.join(RECORD))?;
        sync_folder(&folder);
        Ok(())
    }

    /// Changes the display name of an installed world. False if the world is not installed. A
    /// simulator that uses the data folder sees the new name at its next refresh.
    pub fn rename(&self, id: &WorldId, name: &str) -> std::io::Result<bool> {
        self.change(id, |record| record.name = name.to_owned())
    }

    /// Gives an installed world a second name, by which clients can switch to it. Another world
    /// that had this second name loses it. False if the world is not installed.
    pub fn set_alias(&self, id: &WorldId, alias: &str) -> std::io::Result<bool> {
        // Before another world loses the alias, this function checks that the world `id` is
        // installed. Otherwise the alias would be removed although no world gets it.
        if self.record(id).is_none() {
            return Ok(false);
        }
        for record in self.scan().into_iter().filter(|record| record.alias.as_deref() == Some(alias)) {
            if let Some(other) = WorldId::parse(&record.world_id).filter(|other| other != id) {
                self.change(&other, |record| record.alias = None)?;
            }
        }
        self.change(id, |record| record.alias = Some(alias.to_owned()))
    }

    /// Changes the record of an installed world under the lock of the world. False if the world is
    /// not installed.
    fn change(&self, id: &WorldId, change: impl FnOnce(&mut InstalledRecord)) -> std::io::Result<bool> {
        if self.record(id).is_none() {
            return Ok(false);
        }
        let staging = self.staging.join(id.as_str());
        let Some(lock) = FolderLock::try_take(&staging)? else {
            return Err(std::io::Error::new(ErrorKind::WouldBlock, "the world is being installed"));
        };
        let Some(mut record) = self.record(id) else { return Ok(false) };
        change(&mut record);
        self.write(id, &record)?;
        // A staging folder that contains more than the lock file is kept, because it belongs to an
        // interrupted installation that can be continued.
        if std::fs::read_dir(&staging).is_ok_and(|entries| entries.count() == 1) {
            lock.remove_folder();
        }
        Ok(true)
    }

    /// Removes the record of a world, so that the world is not installed any more. The files stay
    /// until the caller or [`InstalledWorlds::remove_leftovers`] removes them.
    pub(crate) fn remove_record(&self, id: &WorldId) -> std::io::Result<()> {
        let folder = self.folder(id);
        match std::fs::remove_file(folder.join(RECORD)) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => sync_folder(&folder),
        }
        Ok(())
    }

    /// Removes files and folders that no record names, and old interrupted installations. Skips
    /// worlds that another process is working on, and worlds with an invalid record.
    pub fn remove_leftovers(&self) {
        for entry in std::fs::read_dir(&self.worlds).into_iter().flatten().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(WorldId::parse) else { continue };
            let kept = self.record(&id).map(|r| r.folder);
            let is_left = |e: &std::fs::DirEntry| {
                let name = e.file_name();
                name != RECORD && Some(name.as_os_str()) != kept.as_deref().map(std::ffi::OsStr::new)
            };
            let inside: Vec<_> = std::fs::read_dir(entry.path()).into_iter().flatten().flatten().collect();
            if kept.is_some() && !inside.iter().any(is_left) {
                continue;
            }
            let Ok(Some(_lock)) = FolderLock::try_take(&self.staging.join(id.as_str())) else { continue };
            // The record is read again under the lock, because it may have changed.
            let damaged = kept.is_none() && entry.path().join(RECORD).exists();
            if self.record(&id).map(|r| r.folder) != kept || damaged {
                continue;
            }
            for left in inside.iter().filter(|e| is_left(e)) {
                let _ = std::fs::remove_dir_all(left.path()).or_else(|_| std::fs::remove_file(left.path()));
            }
            let _ = std::fs::remove_dir(entry.path());
        }
        self.trim_staged();
    }

    /// Removes interrupted installations that are too old or have no files, and the oldest ones
    /// beyond the limit.
    pub(crate) fn trim_staged(&self) {
        let entries = std::fs::read_dir(&self.staging).into_iter().flatten().flatten();
        let age = |e: &std::fs::DirEntry| {
            let touched = e.metadata().and_then(|m| m.modified()).ok();
            touched.and_then(|t| SystemTime::now().duration_since(t).ok()).unwrap_or_default()
        };
        let mut staged: Vec<(Duration, PathBuf)> = entries.map(|e| (age(&e), e.path())).collect();
        staged.sort();
        for (i, (age, path)) in staged.iter().enumerate() {
            let unneeded = || !path.join("files").exists() || *age > KEEP_STAGED || i >= MAX_STAGED;
            // The folder is checked again under its lock, because an installation may have begun
            // there meanwhile.
            if unneeded()
                && let Ok(Some(lock)) = FolderLock::try_take_existing(path)
                && unneeded()
            {
                lock.remove_folder();
            }
        }
    }

    fn folder(&self, id: &WorldId) -> PathBuf {
        self.worlds.join(id.as_str())
    }
}

/// The checksum of a file on disk.
pub(crate) fn sum_of(path: &Path) -> std::io::Result<Sum> {
    let mut file = File::open(path)?;
    let mut sum = RunningSum::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(sum.end()),
            n => sum.add(&buffer[..n]),
        }
    }
}

/// Flushes the file names in a folder to disk, so that they survive a power cut. Errors are
/// ignored, because not every file system supports this.
pub(crate) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// The files of an installed world. After `remove_when_dropped`, dropping the last reference
/// removes the files.
pub(crate) struct InstalledBundle {
    files: FolderBundle,
    path: PathBuf,
    remove: AtomicBool,
    /// Keeps the descriptor of the data folder open if `path` leads through it.
    _held: Option<HeldFolder>,
}

impl InstalledBundle {
    /// Makes the last reference remove the files when it is dropped.
    pub(crate) fn remove_when_dropped(&self) {
        self.remove.store(true, Ordering::Relaxed);
    }
}

impl Bundle for InstalledBundle {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        self.files.read(path)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.files.list(folder)
    }
}

impl Drop for InstalledBundle {
    fn drop(&mut self) {
        if self.remove.load(Ordering::Relaxed) {
            let _ = std::fs::remove_dir_all(&self.path);
            // The folder of the world is removed too, if it is empty. The call fails if the folder
            // still holds another revision.
            let _ = self.path.parent().map(std::fs::remove_dir);
        }
    }
}

#[cfg(test)]
mod tests;
