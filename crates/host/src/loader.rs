//! Brings worlds in: loading beside the running one, then swapping at a tick boundary.

use crate::driver::{Loaded, Published, Refused, ServedWorld, Simulator};
use crate::keeper::{KeepError, Keeper};
use chicane_sim::Sim;
use chicane_store::{Library, LibraryEntry, LoadError};
use chicane_wire::TransitionKind;
use chicane_world::Profile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where nobody asks for another, every simulation starts with this seed, its camera too: equal inputs give equal bytes.
pub const DEFAULT_SEED: u64 = 0;

/// Why no world was loaded. The old one, if any, runs on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadFailure {
    /// No world runs that could be loaded again.
    #[error("no world running")]
    NoWorld,
    /// No world has this name.
    #[error("world not found")]
    NotFound,
    /// The world can't be loaded, for this reason.
    #[error("{0}")]
    Broken(String),
    /// The sim thread refused it.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It could not be stored as the last world.
    #[error(transparent)]
    NotKept(KeepError),
}

/// Why a world was not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoveFailure {
    /// No world of this name.
    NotFound,
    /// It came with the program.
    Protected,
    /// It runs, or is on its way in.
    Current,
    /// The disk does not let us.
    Disk(String),
}

/// Brings worlds in.
#[derive(Clone)]
pub struct Loader {
    pub simulator: Simulator,
    pub library: Arc<Library>,
    pub keeper: Keeper,
    /// Held while a world is chosen, or removed: none is removed between being chosen and being noted.
    pub choice_lock: Arc<tokio::sync::Mutex<()>>,
    pub profile: Arc<Profile>,
}

/// What the lights of a new world show.
#[derive(Debug, Clone)]
enum InitialLights {
    Green,
    /// As before, a yellow one red.
    Kept,
    /// As stored: which are red.
    Stored(BTreeMap<String, bool>),
}

impl Loader {
    /// The first world, with its lights as they were stored.
    pub async fn boot(&self, name: &str, red: BTreeMap<String, bool>) -> Result<(), LoadFailure> {
        self.load_and_swap(TransitionKind::Boot, name, InitialLights::Stored(red), DEFAULT_SEED)
            .await
            .map(|_| ())
    }

    /// Another world.
    pub async fn switch(&self, name: &str) -> Result<Arc<Published>, LoadFailure> {
        self.load_and_swap(TransitionKind::Switch, name, InitialLights::Green, DEFAULT_SEED).await
    }

    /// The running world anew.
    pub async fn respawn(&self, seed: u64) -> Result<Arc<Published>, LoadFailure> {
        let now = self.simulator.now();
        let lost = now.lost.as_ref();
        let name = now.running.as_ref().map(|s| &s.served.name).or(lost).ok_or(LoadFailure::NoWorld)?;
        self.load_and_swap(TransitionKind::Respawn, name, InitialLights::Kept, seed).await
    }

    /// Goes on to its end also when nobody waits for it any more: a transition is never left open.
    async fn load_and_swap(
        &self,
        kind: TransitionKind,
        name: &str,
        lights: InitialLights,
        seed: u64,
    ) -> Result<Arc<Published>, LoadFailure> {
        self.find(name).await.ok_or(LoadFailure::NotFound)?;
        let (own, name) = (self.clone(), name.to_owned());
        let work = tokio::spawn(async move {
            let choice = own.choice_lock.lock().await;
            let entry = own.library.entry(&name).ok_or(LoadFailure::NotFound)?;
            // The first world's transition is open since the sim thread started.
            if kind != TransitionKind::Boot {
                let of = (kind == TransitionKind::Respawn).then(|| Arc::from(entry.name.as_str()));
                own.simulator.begin_transition(kind, Arc::from(format!("{}.world", entry.name)), of).await?;
            }
            drop(choice);
            let started = std::time::Instant::now();
            let loading = own.clone();
            let loaded = tokio::task::spawn_blocking(move || loading.load(entry, lights, seed)).await;
            let loaded =
                loaded.unwrap_or_else(|_| Err(LoadFailure::Broken("loading the world failed".to_owned())));
            // A first world that fails may be followed by another: whoever boots ends the transition.
            let give_up = async || {
                if kind != TransitionKind::Boot {
                    let _ = own.simulator.abort_transition().await;
                }
            };
            let loaded = match loaded {
                Ok(loaded) => loaded,
                Err(failure) => {
                    give_up().await;
                    return Err(failure);
                }
            };
            // Stored before it is seen. A respawn changes nothing that is stored.
            if kind != TransitionKind::Respawn
                && let Err(error) = own.keeper.world(&loaded.served.name, loaded.red_lights()).await
            {
                give_up().await;
                return Err(LoadFailure::NotKept(error));
            }
            let swapped = own.simulator.swap(loaded).await;
            if swapped.is_err() {
                let _ = own.simulator.abort_transition().await;
            }
            let ((), published) = swapped?;
            let ms = started.elapsed().as_millis() as u64;
            let world = published.running.as_ref().map(|s| s.served.file.to_string());
            tracing::info!(world, ?kind, ms, "world ready");
            Ok(published)
        });
        work.await.unwrap_or(Err(LoadFailure::Refused(Refused::Failed)))
    }

    /// A world by name, also one that another program has just installed.
    pub async fn find(&self, name: &str) -> Option<LibraryEntry> {
        if let Some(entry) = self.library.entry(name) {
            return Some(entry);
        }
        self.refresh().await;
        self.library.entry(name)
    }

    /// Takes note of what other programs installed.
    pub async fn refresh(&self) {
        let library = Arc::clone(&self.library);
        let _ = tokio::task::spawn_blocking(move || library.refresh()).await;
    }

    /// Removes an installed world, unless it runs, or is on its way in.
    pub async fn remove(&self, name: &str) -> Result<(), RemoveFailure> {
        let _choosing = self.choice_lock.lock().await;
        let entry = self.library.entry(name).ok_or(RemoveFailure::NotFound)?;
        if !entry.deletable {
            return Err(RemoveFailure::Protected);
        }
        let now = self.simulator.now();
        let current = now.running.as_ref().map(|seen| &*seen.served.name);
        let coming = now.transition.as_ref().and_then(|t| t.target.strip_suffix(".world"));
        if [current, coming, now.lost.as_deref()].contains(&Some(name)) {
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

    fn load(&self, entry: LibraryEntry, lights: InitialLights, seed: u64) -> Result<Loaded, LoadFailure> {
        // A world does not change under its name and revision: the one that runs is not read again.
        let same = self.simulator.now().running.as_ref().map(|seen| Arc::clone(&seen.served));
        let served = match same.filter(|served| served.entry == entry) {
            Some(served) => served,
            None => self.read(entry)?,
        };
        self.simulator.report_progress(0.5);
        let mut sim = Sim::new(Arc::clone(&served.world), Arc::clone(&self.profile), seed);
        if let InitialLights::Stored(red) = &lights {
            sim.start_with_red(|name| red.get(name).copied().unwrap_or(false));
        }
        self.simulator.report_progress(0.9);
        Ok(Loaded { sim, served, keep_lights: matches!(lights, InitialLights::Kept) })
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
        let served = ServedWorld::new(entry, world).map_err(|e| LoadFailure::Broken(e.to_string()))?;
        Ok(Arc::new(served))
    }
}
