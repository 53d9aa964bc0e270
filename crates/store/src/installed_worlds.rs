//! Installed worlds on disk.
//!
//! `worlds/<id>/installed.json` says what is installed and in which folder beside it the files are. It
//! is replaced by renaming, so that there is the old world or the new one, and never a mix. Folders
//! that it does not name are left over from a kill, and go when nobody is at work on them.

use crate::claim::Claim;
use crate::folder::FolderBundle;
use crate::rules::FilePath;
use crate::sum::{Sum, Summing};
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

const RECORD: &str = "installed.json";
/// Half an installation is kept this long, to go on with.
const KEEP_STAGED: Duration = Duration::from_secs(7 * 86_400);
/// And so many of them at most.
const MAX_STAGED: usize = 8;
/// Bytes of a record.
const MAX_RECORD: u64 = 4 << 20;

/// A file of an installed world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) sha256: String,
}

/// What is known of an installed world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this form.
    pub(crate) v: u32,
    /// Its id.
    pub world_id: String,
    /// Revision of its files.
    pub rev: String,
    /// Name for people.
    pub name: String,
    /// Whether its id proves its files.
    pub verified: bool,
    /// Width and height, metres.
    pub size: [f64; 2],
    /// Whether runs can be judged.
    pub evaluation: bool,
    /// Name of the folder that the files are in.
    pub(crate) folder: String,
    pub(crate) files: Vec<Kept>,
}

impl Record {
    /// Name of the world.
    pub fn world_name(&self) -> String {
        format!("custom_{}", self.world_id)
    }
}

/// The place of installed worlds in a data folder.
#[derive(Debug, Clone)]
pub struct Shelf {
    worlds: PathBuf,
    pub(crate) staging: PathBuf,
}

impl Shelf {
    /// That of a data folder. Nothing is made yet.
    pub fn of(data_dir: &Path) -> Shelf {
        Shelf { worlds: data_dir.join("worlds"), staging: data_dir.join("staging") }
    }

    /// All installed worlds. What can't be read is passed over with a warning.
    pub fn scan(&self) -> Vec<Record> {
        let entries = std::fs::read_dir(&self.worlds).into_iter().flatten().flatten();
        let ids = entries.filter_map(|e| WorldId::parse(e.file_name().to_str()?));
        let mut all: Vec<Record> = ids.filter_map(|id| self.record(&id)).collect();
        all.sort_by(|a, b| a.world_id.cmp(&b.world_id));
        all
    }

    /// One installed world.
    pub fn record(&self, id: &WorldId) -> Option<Record> {
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
        let record: Option<Record> = serde_json::from_slice(&bytes).ok();
        let fits = |r: &Record| {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            r.v == 1
                && r.world_id == id.as_str()
                && !r.folder.is_empty()
                && r.folder.bytes().all(plain)
                && r.files.iter().all(|f| FilePath::parse(&f.path).is_ok())
        };
        let record = record.filter(fits);
        if record.is_none() {
            tracing::warn!(%id, "the record of an installed world makes no sense and is ignored");
        }
        record
    }

    /// Whether every file is there as it was installed.
    pub fn is_whole(&self, record: &Record) -> bool {
        let Some(id) = WorldId::parse(&record.world_id) else { return false };
        let folder = self.folder(&id).join(&record.folder);
        record.files.iter().all(|file| {
            let whole = folder.join(&file.path);
            let found = std::fs::symlink_metadata(&whole);
            found.is_ok_and(|m| m.is_file() && m.len() == file.size)
                && sum_of(&whole).is_ok_and(|sum| sum.hex() == file.sha256)
        })
    }

    /// The files of an installed world.
    pub(crate) fn bundle(&self, record: &Record) -> Option<Arc<InstalledBundle>> {
        let id = WorldId::parse(&record.world_id)?;
        let path = self.folder(&id).join(&record.folder);
        Some(Arc::new(InstalledBundle {
            files: FolderBundle::new(&path),
            path,
            doomed: AtomicBool::new(false),
        }))
    }

    /// Puts staged files into place as an installed world. They are on disk already.
    pub(crate) fn place(&self, staged: &Path, record: &Record) -> std::io::Result<()> {
        let Some(id) = WorldId::parse(&record.world_id) else { return Err(ErrorKind::InvalidInput.into()) };
        let folder = self.folder(&id);
        let put = || {
            std::fs::create_dir_all(&folder)?;
            std::fs::rename(staged, folder.join(&record.folder))
        };
        // The last reader of an old world may be about to remove the empty folder.
        put().or_else(|e| if e.kind() == ErrorKind::NotFound { put() } else { Err(e) })?;
        sync_folder(&folder);
        sync_folder(&self.worlds);
        self.write(&id, record)
    }

    /// Replaces the record of an installed world.
    pub(crate) fn write(&self, id: &WorldId, record: &Record) -> std::io::Result<()> {
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

    /// Shows an installed world under another name; false where there is none. A simulator that uses the
    /// folder takes note of it.
    pub fn rename(&self, id: &WorldId, name: &str) -> std::io::Result<bool> {
        if self.record(id).is_none() {
            return Ok(false);
        }
        let Some(_claim) = Claim::try_take(&self.staging.join(id.as_str()))? else {
            return Err(std::io::Error::new(ErrorKind::WouldBlock, "it is being installed at the moment"));
        };
        let Some(record) = self.record(id) else { return Ok(false) };
        self.write(id, &Record { name: name.to_owned(), ..record })?;
        Ok(true)
    }

    /// Removes a world: from here on it is not installed. Its files go when nobody reads them.
    pub(crate) fn forget(&self, id: &WorldId) -> std::io::Result<()> {
        let folder = self.folder(id);
        match std::fs::remove_file(folder.join(RECORD)) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => sync_folder(&folder),
        }
        Ok(())
    }

    /// Removes what is left over: folders that no record names, and halves of installations that nobody
    /// went on with. What someone is at work on is left alone.
    pub fn sweep(&self) {
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
            let Ok(Some(_lock)) = Claim::try_take(&self.staging.join(id.as_str())) else { continue };
            // Once more, now that nobody can be at it.
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

    /// Removes halves of installations that are old, empty or too many.
    pub(crate) fn trim_staged(&self) {
        let entries = std::fs::read_dir(&self.staging).into_iter().flatten().flatten();
        let age = |e: &std::fs::DirEntry| {
            let touched = e.metadata().and_then(|m| m.modified()).ok();
            touched.and_then(|t| SystemTime::now().duration_since(t).ok()).unwrap_or_default()
        };
        let mut staged: Vec<(Duration, PathBuf)> = entries.map(|e| (age(&e), e.path())).collect();
        staged.sort();
        for (i, (age, path)) in staged.iter().enumerate() {
            let empty = !path.join("files").exists();
            if (empty || *age > KEEP_STAGED || i >= MAX_STAGED)
                && let Ok(Some(_lock)) = Claim::try_take(path)
            {
                let _ = std::fs::remove_dir_all(path);
            }
        }
    }

    fn folder(&self, id: &WorldId) -> PathBuf {
        self.worlds.join(id.as_str())
    }
}

/// The sum of a file on disk.
pub(crate) fn sum_of(path: &Path) -> std::io::Result<Sum> {
    let mut file = File::open(path)?;
    let mut summing = Summing::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(summing.end()),
            n => summing.add(&buffer[..n]),
        }
    }
}

/// Makes names in a folder outlive a power cut. Not every system can do this, or lets us.
pub(crate) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// The files of an installed world. Once they are given up they go with the last who reads them.
pub(crate) struct InstalledBundle {
    files: FolderBundle,
    path: PathBuf,
    doomed: AtomicBool,
}

impl InstalledBundle {
    /// Has the files removed when nobody needs them any more.
    pub(crate) fn give_up(&self) {
        self.doomed.store(true, Ordering::Relaxed);
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
        if self.doomed.load(Ordering::Relaxed) {
            let _ = std::fs::remove_dir_all(&self.path);
            // Of the id, if this was the last of it.
            let _ = self.path.parent().map(std::fs::remove_dir);
        }
    }
}

#[cfg(test)]
mod tests;
