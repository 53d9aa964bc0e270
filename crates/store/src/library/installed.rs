//! The installed worlds of the library. The data folder and the list of worlds in memory are
//! changed together, one change at a time.

use super::{Library, LibraryEntry, LibraryWorld};
use crate::held_folder::HeldFolder;
use crate::install::{CheckedWorld, Staging};
use crate::installed_worlds::{InstalledRecord, InstalledWorlds};
use crate::summary::Summary;
use chicane_wire::WorldId;
use chicane_world::Bundle;
use std::path::Path;
use std::sync::{Arc, OnceLock};

impl Library {
    /// Adds the worlds that are installed in a data folder. Also removes leftovers of killed
    /// processes from the folder.
    pub fn with_installed(mut self, data_dir: &Path) -> Library {
        self.set_installed(InstalledWorlds::of(data_dir));
        self
    }

    /// Adds the worlds that are installed in an open data folder, as
    /// [`with_installed`](Library::with_installed) does.
    pub fn with_installed_within(mut self, folder: &HeldFolder) -> Library {
        self.set_installed(InstalledWorlds::within(folder));
        self
    }

    fn set_installed(&mut self, installed: InstalledWorlds) {
        installed.remove_leftovers();
        self.installed = Some(installed);
        self.refresh();
    }

    /// Reads the data folder again, because another process may have installed or removed worlds.
    /// Blocks.
    pub fn refresh(&self) {
        let Some(installed) = &self.installed else { return };
        let _lock = self.lock_changes();
        for record in installed.scan() {
            let known = self.worlds().get(&record.world_name()).and_then(|world| world.installed.clone());
            if known.is_none_or(|(_, known)| known != record) {
                self.add_installed(record);
            }
        }
        // Each record is read again, because a world may have been installed after the scan.
        let exists = |world: &LibraryWorld| match &world.entry.world_id {
            Some(id) if world.installed.is_some() => {
                WorldId::parse(id).is_some_and(|id| installed.record(&id).is_some())
            }
            _ => true,
        };
        let gone: Vec<String> =
            self.worlds().iter().filter(|(_, world)| !exists(world)).map(|(name, _)| name.clone()).collect();
        if !gone.is_empty() {
            self.worlds_mut().retain(|name, _| !gone.contains(name));
        }
    }

    /// The installed worlds on disk. `None` without a data folder.
    pub fn installed_worlds(&self) -> Option<&InstalledWorlds> {
        self.installed.as_ref()
    }

    /// The record of an installed world. `None` if the library has no installed world with this id.
    pub fn installed(&self, id: &WorldId) -> Option<InstalledRecord> {
        let worlds = self.worlds();
        worlds.get(&format!("custom_{id}"))?.installed.as_ref().map(|(_, record)| record.clone())
    }

    /// Moves a staged and checked world into place. An older revision of the world is replaced.
    /// Blocks.
    pub fn admit(&self, staging: &Staging, checked: &CheckedWorld) -> std::io::Result<()> {
        let _lock = self.lock_changes();
        staging.place(checked)?;
        self.add_installed(checked.record.clone());
        Ok(())
    }

    fn add_installed(&self, record: InstalledRecord) {
        let before = self.worlds().get(&record.world_name()).and_then(|world| world.installed.clone());
        // If the old and the new record name the same folder, the old bundle object is kept,
        // because dropping it may remove the files.
        let (same, other) = match before {
            Some((bundle, old)) if old.folder == record.folder => (Some(bundle), None),
            Some((bundle, _)) => (None, Some(bundle)),
            None => (None, None),
        };
        let bundle = same.or_else(|| self.installed.as_ref().and_then(|installed| installed.bundle(&record)));
        let Some(bundle) = bundle else { return };
        let entry = LibraryEntry {
            name: record.world_name(),
            display: record.name.clone(),
            world_id: Some(record.world_id.clone()),
            rev: Some(record.rev.clone()),
            official: false,
            deletable: true,
            verified: record.verified,
        };
        let name = entry.name.clone();
        let summary = OnceLock::from(Ok(Summary { size: record.size, evaluation: record.evaluation }));
        let files: Arc<dyn Bundle + Send + Sync> = bundle.clone();
        let installed = Some((bundle, record));
        let world = LibraryWorld { entry, bundle: files, installed, is_project: false, summary };
        self.worlds_mut().insert(name, Arc::new(world));
        if let Some(old) = other {
            old.remove_when_dropped();
        }
    }

    /// Changes the display name of an installed world to the new name that the publisher gave it.
    /// Blocks.
    pub fn rename(&self, id: &WorldId, name: &str) -> std::io::Result<()> {
        let _lock = self.lock_changes();
        let (Some(installed), Some(record)) = (&self.installed, self.installed(id)) else { return Ok(()) };
        if record.name != name {
            let record = InstalledRecord { name: name.to_owned(), ..record };
            installed.write(id, &record)?;
            self.add_installed(record);
        }
        Ok(())
    }

    /// Removes an installed world. Returns false if the world is not installed. Current readers of
    /// the world can continue to read. Blocks.
    pub fn remove(&self, name: &str) -> std::io::Result<bool> {
        let _lock = self.lock_changes();
        let world = self.world(name).ok();
        let id = world.as_ref().filter(|h| h.installed.is_some()).and_then(|h| h.entry.world_id.as_deref());
        let (Some(installed), Some(id)) = (&self.installed, id.and_then(WorldId::parse)) else {
            return Ok(false);
        };
        installed.remove_record(&id)?;
        self.worlds_mut().remove(&format!("custom_{id}"));
        if let Some((bundle, _)) = world.as_ref().and_then(|h| h.installed.as_ref()) {
            bundle.remove_when_dropped();
        }
        Ok(true)
    }
}
