//! Loads worlds.
//!
//! The sim thread registers the transition and refuses a second transition. A blocking thread reads
//! the world and creates its `Sim` while the old world continues. The swap is one order at a tick
//! boundary. If a world fails to load, nothing changes. A respawn takes the same steps with the
//! running world, but the files of the world are not read again.

use crate::driver::{Loaded, Published, Refused, ServedWorld, Simulator};
use crate::keeper::{KeepError, Keeper};
use crate::variation::Seeded;
use chicane_store::{Library, LibraryEntry, LoadError};
use chicane_vary::Vary;
use chicane_wire::TransitionKind;
use chicane_world::Profile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a world was not loaded. The old world, if there is one, continues.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadFailure {
    /// There is no running world to load again.
    #[error("no world running")]
    NoWorld,
    /// No world has this name.
    #[error("world not found")]
    NotFound,
    /// The files of the world can't be used. The text is the reason.
    #[error("{0}")]
    Broken(String),
    /// The sim thread refused the transition.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The name of the world, as the last world, or its lights could not be stored.
    #[error(transparent)]
    NotKept(KeepError),
}

/// Why a world was not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoveFailure {
    /// No world has this name.
    NotFound,
    /// The world is not an installed world. For example, it is part of the program.
    Protected,
    /// The world runs or is being loaded.
    Current,
    /// The files of the world could not be removed. The text is the reason.
    Disk(String),
}

/// Loads and removes worlds. Clones share one lock.
#[derive(Clone)]
pub struct Loader {
    /// The sim thread.
    pub(crate) simulator: Simulator,
    /// All worlds, by name.
    pub library: Arc<Library>,
    /// Stores the last world and its lights.
    pub(crate) keeper: Keeper,
    /// A task holds this lock in three cases: while it looks a world up and registers the
    /// transition, while it removes a world, and while it begins a session. Without this lock, a
    /// world could be removed between lookup and registration.
    pub(crate) choice_lock: Arc<tokio::sync::Mutex<()>>,
    /// Profile of the car.
    pub(crate) profile: Arc<Profile>,
}

/// The lights that a loaded world starts with.
#[derive(Debug, Clone)]
enum InitialLights {
    /// All lights are green.
    Green,
    /// The lights are as in the running world. A yellow light becomes red. A red light with a
    /// running timer becomes green, because the timer is not kept.
    Kept,
    /// The lights are as stored: by name, `true` is red.
    Stored(BTreeMap<String, bool>),
}

impl Loader {
    /// Loads the first world, with its stored lights. If the world can't be loaded, the transition
    /// stays open, because the caller may load another world.
    pub(crate) async fn boot(&self, name: &str, red: BTreeMap<String, bool>) -> Result<(), LoadFailure> {
        self.load_and_swap(TransitionKind::Boot, name, InitialLights::Stored(red), Seeded::default())
            .await
            .map(|_| ())
    }

    /// Loads another world, with green lights.
    pub async fn switch(&self, name: &str) -> Result<Arc<Published>, LoadFailure> {
        self.load_and_swap(TransitionKind::Switch, name, InitialLights::Green, Seeded::default()).await
    }

    /// Loads the running world, or the world whose simulation panicked, again as published. Keeps
    /// the lights of the running world. The simulation and its camera start with this seed.
    pub async fn respawn(&self, seed: u64) -> Result<Arc<Published>, LoadFailure> {
        self.respawn_varied(seed, Vary::default()).await
    }

    /// Like [`Loader::respawn`], but `vary` says what the seed changes in the world.
    pub async fn respawn_varied(&self, seed: u64, vary: Vary) -> Result<Arc<Published>, LoadFailure> {
        let now = self.simulator.now();
        let lost = now.lost.as_ref();
        let name = now.running.as_ref().map(|s| &s.served.name).or(lost).ok_or(LoadFailure::NoWorld)?;
        self.load_and_swap(TransitionKind::Respawn, name, InitialLights::Kept, Seeded { seed, vary }).await
    }

    /// Loads a world and swaps it in. A separate task does the work, so that a cancelled request
    /// cannot leave a transition open.
    async fn load_and_swap(
        &self,
        kind: TransitionKind,
        name: &str,
        lights: InitialLights,
        seeded: Seeded,
    ) -> Result<Arc<Published>, LoadFailure> {
        if self.find(name).await.is_none() {
            return Err(self.unknown(kind, name));
        }
        let (own, name) = (self.clone(), name.to_owned());
        let work = tokio::spawn(async move { own.run_transition(kind, &name, lights, seeded).await });
        work.await.unwrap_or(Err(LoadFailure::Refused(Refused::Failed)))
    }

    async fn run_transition(
        &self,
        kind: TransitionKind,
        name: &str,
        lights: InitialLights,
        seeded: Seeded,
    ) -> Result<Arc<Published>, LoadFailure> {
        let entry = self.register_transition(kind, name).await?;
        let started = std::time::Instant::now();
        let loaded = match self.load_and_store(kind, entry, lights, seeded).await {
            Ok(loaded) => loaded,
            Err(failure) => {
                // The transition of the first world stays open: see `boot`.
                if kind != TransitionKind::Boot {
                    let _ = self.simulator.abort_transition().await;
                }
                return Err(failure);
            }
        };
        let swapped = self.simulator.swap(loaded).await;
        if swapped.is_err() {
            let _ = self.simulator.abort_transition().await;
        }
        let ((), published) = swapped?;
        let ms = started.elapsed().as_millis() as u64;
        let world = published.running.as_ref().map(|s| s.served.file.to_string());
        tracing::info!(world, ?kind, ms, "world ready");
        Ok(published)
    }

    /// Looks a world up and registers its transition.
    async fn register_transition(
        &self,
        kind: TransitionKind,
        name: &str,
    ) -> Result<LibraryEntry, LoadFailure> {
        let _choice = self.choice_lock.lock().await;
        let entry = self.library.entry(name).ok_or_else(|| self.unknown(kind, name))?;
        // The transition of the first world has been open since the start of the sim thread.
        if kind != TransitionKind::Boot {
            let required_world = (kind == TransitionKind::Respawn).then(|| Arc::from(entry.name.as_str()));
            let target = Arc::from(format!("{}.world", entry.name));
            self.simulator.begin_transition(kind, target, required_world).await?;
        }
        Ok(entry)
    }

    /// Why a world that is not in the library is not loaded. A test drive of a project removes the
    /// world of the previously driven project. If a respawn has read the name of that world before
    /// the removal, the respawn is refused like any respawn of a world that no longer runs.
    fn unknown(&self, kind: TransitionKind, name: &str) -> LoadFailure {
        let now = self.simulator.now();
        let current = now.running.as_ref().map(|seen| &seen.served.name).or(now.lost.as_ref());
        let is_replaced = current.is_some_and(|current| **current != *name);
        if kind == TransitionKind::Respawn && is_replaced {
            LoadFailure::Refused(Refused::Switching)
        } else {
            LoadFailure::NotFound
        }
    }

    /// Loads a world on a blocking thread. Then stores its name as the last world, and its lights.
    /// A respawn stores nothing.
    async fn load_and_store(
        &self,
        kind: TransitionKind,
        entry: LibraryEntry,
        lights: InitialLights,
        seeded: Seeded,
    ) -> Result<Loaded, LoadFailure> {
        let loading = self.clone();
        let loaded = tokio::task::spawn_blocking(move || loading.load(entry, lights, &seeded)).await;
        let loaded =
            loaded.unwrap_or_else(|_| Err(LoadFailure::Broken("loading the world failed".to_owned())))?;
        // A respawn changes no stored setting.
        if kind != TransitionKind::Respawn {
            let stored = self.keeper.world(&loaded.served.name, loaded.red_lights()).await;
            stored.map_err(LoadFailure::NotKept)?;
        }
        Ok(loaded)
    }

    /// Finds a world by name; `None` if there is none. If the name is unknown, the folder of
    /// installed worlds is read again, because another process may have installed the world.
    pub async fn find(&self, name: &str) -> Option<LibraryEntry> {
        if let Some(entry) = self.library.entry(name) {
            return Some(entry);
        }
        self.refresh().await;
        self.library.entry(name)
    }

    /// Reads the folder of installed worlds again.
    pub async fn refresh(&self) {
        let library = Arc::clone(&self.library);
        let _ = tokio::task::spawn_blocking(move || library.refresh()).await;
    }

    /// Removes an installed world, unless it runs or is being loaded.
    pub async fn remove(&self, name: &str) -> Result<(), RemoveFailure> {
        let _choosing = self.choice_lock.lock().await;
        let entry = self.library.entry(name).ok_or(RemoveFailure::NotFound)?;
        if !entry.deletable {
            return Err(RemoveFailure::Protected);
        }
        // The name of the entry is used from here on, because the given name may be an alias.
        let name = entry.name.as_str();
        let now = self.simulator.now();
        let current = now.running.as_ref().map(|seen| &*seen.served.name);
        let loading = now.transition.as_ref().and_then(|t| t.target.strip_suffix(".world"));
        if [current, loading, now.lost.as_deref()].contains(&Some(name)) {
            return Err(RemoveFailure::Current);
        }
        let (library, name) = (Arc::clone(&self.library), name.to_owned());
        let removed = tokio::task::spawn_blocking(move || library.remove(&name)).await;
        match removed.unwrap_or_else(|e| Err(std::io::Error::other(e))) {
            Ok(true) => Ok(()),
            Ok(false) => Err(RemoveFailure::NotFound),
            Err(e) => Err(RemoveFailure::Disk(e.to_string())),
        }
    }

    fn load(
        &self,
        entry: LibraryEntry,
        lights: InitialLights,
        seeded: &Seeded,
    ) -> Result<Loaded, LoadFailure> {
        // The running world is not read again, because a world with the same name and revision has
        // the same content.
        let same = self.simulator.now().running.as_ref().map(|seen| seen.served.published());
        let served = match same.filter(|served| served.entry == entry) {
            Some(served) => served,
            None => self.read(entry)?,
        };
        self.simulator.report_progress(0.5);
        let varied = served.varied(&self.profile, seeded);
        let served = varied.map_err(|error| LoadFailure::Broken(error.to_string()))?;
        let mut sim = served.sim(&self.profile, seeded.seed);
        if let InitialLights::Stored(red) = &lights {
            sim.start_with_red(|name| red.get(name).copied().unwrap_or(false));
        }
        self.simulator.report_progress(0.9);
        // If the seed decides the lights, those of the running world are not kept. Otherwise an
        // episode whose seed makes every light green would depend on the previous episode.
        let has_own_lights = seeded.seed != 0 && seeded.vary.lights.is_some();
        let keep_lights = matches!(lights, InitialLights::Kept) && !has_own_lights;
        Ok(Loaded { sim, served, keep_lights })
    }

    fn read(&self, entry: LibraryEntry) -> Result<Arc<ServedWorld>, LoadFailure> {
        let world = match self.library.load(&entry.name) {
            Ok(world) => Arc::new(world),
            Err(LoadError::NotFound) => return Err(LoadFailure::NotFound),
            Err(LoadError::Broken(why)) => return Err(LoadFailure::Broken(why.to_string())),
        };
        for warning in &world.warnings {
            tracing::warn!(world = world.name, "{warning}");
        }
        let sha256 = self.library.sha256(&entry.name);
        let served =
            ServedWorld::new(entry, world, sha256).map_err(|e| LoadFailure::Broken(e.to_string()))?;
        Ok(Arc::new(served))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostOptions, Prepared, StudentAccess};

    /// Regression test: the response was 404.
    #[tokio::test]
    async fn a_respawn_whose_world_was_replaced_and_removed_meanwhile_was_not_found() {
        let data_dir = std::env::temp_dir().join(format!("chicane-loader-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&data_dir);
        let options = HostOptions { data_dir: data_dir.clone(), ..HostOptions::default() };
        let prepared = Prepared::new(options).expect("prepared");
        let host = prepared.start(StudentAccess::default()).expect("started");
        host.ready().await.expect("the world is ready");
        let loader = &host.loader;
        let load = |kind| loader.load_and_swap(kind, "drawn_7", InitialLights::Kept, Seeded::default());
        let switching = LoadFailure::Refused(Refused::Switching);
        // "drawn_7" is neither in the library nor the running world, like a world that was replaced
        // and removed after the respawn had read its name.
        assert_eq!(load(TransitionKind::Respawn).await.err(), Some(switching.clone()));
        // The world was removed after the respawn had found it.
        let registered = loader.register_transition(TransitionKind::Respawn, "drawn_7").await;
        assert_eq!(registered, Err(switching));
        assert_eq!(load(TransitionKind::Switch).await.err(), Some(LoadFailure::NotFound));
        assert!(loader.respawn(0).await.is_ok(), "no transition is open");
        host.stop().await;
        host.finish().await;
        std::fs::remove_dir_all(&data_dir).expect("removed");
    }
}
