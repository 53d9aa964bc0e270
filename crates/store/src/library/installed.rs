//! The part of the library that changes: worlds that are installed in a data folder. Disk and list are
//! changed together, one change at a time.

use super::{Entry, Held, Library, Summary};
use crate::install::{Checked, Staging};
use crate::shelf::{Record, Shelf};
use chicane_wire::WorldId;
use chicane_world::Bundle;
use std::path::Path;
use std::sync::{Arc, OnceLock};

impl Library {
    /// The library with the worlds that are installed in a data folder. What is left over there from
    /// a kill is removed.
    pub fn with_installed(mut self, data_dir: &Path) -> Library {
        let shelf = Shelf::of(data_dir);
        shelf.sweep();
        self.shelf = Some(shelf);
        self.refresh();
        self
    }

    /// Takes note of what was installed or removed by others, such as another program. Blocks.
    pub fn refresh(&self) {
        let Some(shelf) = &self.shelf else { return };
        let _turn = self.turn();
        for record in shelf.scan() {
            let known = self.worlds().get(&record.world_name()).and_then(|held| held.installed.clone());
            if known.is_none_or(|(_, known)| known != record) {
                self.take_in(record);
            }
        }
        // What is gone from disk is gone; what came since the scan is there.
        let is_there = |held: &Held| match &held.entry.world_id {
            Some(id) if held.installed.is_some() => {
                WorldId::parse(id).is_some_and(|id| shelf.record(&id).is_some())
            }
            _ => true,
        };
        let gone: Vec<String> =
            self.worlds().iter().filter(|(_, held)| !is_there(held)).map(|(name, _)| name.clone()).collect();
        if !gone.is_empty() {
            self.worlds_mut().retain(|name, _| !gone.contains(name));
        }
    }

    /// Where worlds are installed; `None` where there is no data folder.
    pub fn shelf(&self) -> Option<&Shelf> {
        self.shelf.as_ref()
    }

    /// What is installed under an id.
    pub fn installed(&self, id: &WorldId) -> Option<Record> {
        let worlds = self.worlds();
        worlds.get(&format!("custom_{id}"))?.installed.as_ref().map(|(_, record)| record.clone())
    }

    /// Puts a world into place that was staged and checked; it takes that of an older one. Blocks.
    pub fn admit(&self, staging: &Staging, checked: &Checked) -> std::io::Result<()> {
        let _turn = self.turn();
        staging.place(checked)?;
        self.take_in(checked.record.clone());
        Ok(())
    }

    fn take_in(&self, record: Record) {
        let before = self.worlds().get(&record.world_name()).and_then(|held| held.installed.clone());
        // Files stay whose they are: only the last of their readers removes them.
        let (same, other) = match before {
            Some((bundle, old)) if old.folder == record.folder => (Some(bundle), None),
            Some((bundle, _)) => (None, Some(bundle)),
            None => (None, None),
        };
        let bundle = same.or_else(|| self.shelf.as_ref().and_then(|shelf| shelf.bundle(&record)));
        let Some(bundle) = bundle else { return };
        let entry = Entry {
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
        let held = Held { entry, bundle: files, installed: Some((bundle, record)), summary };
        self.worlds_mut().insert(name, Arc::new(held));
        if let Some(old) = other {
            old.give_up();
        }
    }

    /// Shows an installed world under another name, as its publisher does. Blocks.
    pub fn rename(&self, id: &WorldId, name: &str) -> std::io::Result<()> {
        let _turn = self.turn();
        let (Some(shelf), Some(record)) = (&self.shelf, self.installed(id)) else { return Ok(()) };
        if record.name != name {
            let record = Record { name: name.to_owned(), ..record };
            shelf.write(id, &record)?;
            self.take_in(record);
        }
        Ok(())
    }

    /// Removes an installed world; false where there is none. Whoever reads its files may read on. Blocks.
    pub fn remove(&self, name: &str) -> std::io::Result<bool> {
        let _turn = self.turn();
        let held = self.held(name).ok();
        let id = held.as_ref().filter(|h| h.installed.is_some()).and_then(|h| h.entry.world_id.as_deref());
        let (Some(shelf), Some(id)) = (&self.shelf, id.and_then(WorldId::parse)) else { return Ok(false) };
        shelf.forget(&id)?;
        self.worlds_mut().remove(name);
        if let Some((bundle, _)) = held.as_ref().and_then(|h| h.installed.as_ref()) {
            bundle.give_up();
        }
        Ok(true)
    }
}
