//! The worlds there are.

mod installed;

use crate::built_in::{self, BuiltIn};
use crate::shelf::{InstalledBundle, Record, Shelf};
use chicane_world::{Assets, Bundle, Error, World};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What is known of a world without loading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Unique name: the stem of the world file.
    pub name: String,
    /// The name for people.
    pub display: String,
    /// Identity of a world that came from elsewhere.
    pub world_id: Option<String>,
    /// Revision of a world that came from elsewhere.
    pub rev: Option<String>,
    /// Whether it is an official world.
    pub official: bool,
    /// Whether it may be deleted.
    pub deletable: bool,
    /// Whether its files are proven to be its own.
    pub verified: bool,
}

/// What a list of worlds shows and only a loaded world knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Width and height of the ground, else of the route, in metres; else zero.
    pub size: [f64; 2],
    /// Whether runs can be judged.
    pub evaluation: bool,
}

/// Why a world can't be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The library has no world of this name.
    #[error("there is no world of this name; the list of worlds has those there are")]
    NotFound,
    /// Its files are wrong.
    #[error("the world can't be loaded: {0}")]
    Broken(Error),
}

/// The worlds there are, by name: those of the program, and those installed in a data folder. Share it
/// behind an `Arc`.
#[derive(Default)]
pub struct Library {
    worlds: RwLock<Worlds>,
    shelf: Option<Shelf>,
    /// Held while disk and list are changed together.
    changing: Mutex<()>,
}

type Worlds = BTreeMap<String, Arc<Held>>;

/// A world and what was learnt of it.
struct Held {
    entry: Entry,
    bundle: Arc<dyn Bundle + Send + Sync>,
    /// The same files, where they were installed, and what was written down about them.
    installed: Option<(Arc<InstalledBundle>, Record)>,
    summary: OnceLock<Result<Summary, LoadError>>,
}

impl Library {
    /// The worlds that are part of the program.
    pub fn built_in() -> Library {
        BuiltIn::all().fold(Library::default(), |mut library, world| {
            let entry = Entry { display: world.display(), official: true, ..Entry::of(world.name()) };
            library.insert(entry, Arc::new(world));
            library
        })
    }

    /// The library with one more world, which takes the place of one of the same name. Its files
    /// are taken not to change.
    pub fn with_bundle(mut self, name: impl Into<String>, bundle: Arc<dyn Bundle + Send + Sync>) -> Library {
        self.insert(Entry::of(&name.into()), bundle);
        self
    }

    fn insert(&mut self, entry: Entry, bundle: Arc<dyn Bundle + Send + Sync>) {
        let held = Held { entry, bundle, installed: None, summary: OnceLock::new() };
        let worlds = self.worlds.get_mut().unwrap_or_else(PoisonError::into_inner);
        worlds.insert(held.entry.name.clone(), Arc::new(held));
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn worlds(&self) -> RwLockReadGuard<'_, Worlds> {
        self.worlds.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn worlds_mut(&self) -> RwLockWriteGuard<'_, Worlds> {
        self.worlds.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All worlds: those that stay first, then by name.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.worlds().values().map(|w| w.entry.clone()).collect();
        // They are by name already, and the sort keeps that.
        entries.sort_by_key(|e| e.deletable);
        entries
    }

    /// One world.
    pub fn entry(&self, name: &str) -> Option<Entry> {
        self.worlds().get(name).map(|w| w.entry.clone())
    }

    /// Loads a world: some milliseconds of work.
    pub fn load(&self, name: &str) -> Result<World, LoadError> {
        self.held(name)?.load()
    }

    /// A file of a world.
    pub fn file(&self, name: &str, path: &str) -> Option<Vec<u8>> {
        self.held(name).ok()?.bundle.read(path).map(|b| b.into_owned())
    }

    /// What is known of a world already, without loading it.
    pub fn known_summary(&self, name: &str) -> Option<Result<Summary, LoadError>> {
        self.held(name).ok()?.summary.get().cloned()
    }

    /// What a list shows of a world. The first call loads it, later ones remember.
    pub fn summary(&self, name: &str) -> Result<Summary, LoadError> {
        let held = self.held(name)?;
        held.summary.get_or_init(|| held.load().map(|world| summary_of(&world))).clone()
    }

    /// 12 hex digits that change when any built-in file changes.
    pub fn assets_rev(&self) -> &'static str {
        built_in::REV
    }

    fn held(&self, name: &str) -> Result<Arc<Held>, LoadError> {
        self.worlds().get(name).cloned().ok_or(LoadError::NotFound)
    }
}

impl Entry {
    /// One that is neither official nor installed.
    fn of(name: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            display: display(name),
            world_id: None,
            rev: None,
            official: false,
            deletable: false,
            verified: true,
        }
    }
}

impl Held {
    fn load(&self) -> Result<World, LoadError> {
        let world = World::load(&Assets::of(&*self.bundle)).map_err(LoadError::Broken)?;
        let name = &self.entry.name;
        if world.name != *name {
            let message = format!("it is kept as \"{name}\": its file should be worlds/{name}.world");
            return Err(LoadError::Broken(Error::file(&format!("worlds/{}.world", world.name), message)));
        }
        Ok(world)
    }
}

/// A name for people: with a capital, and blanks for underscores.
fn display(name: &str) -> String {
    let mut letters = name.chars().map(|c| if c == '_' { ' ' } else { c });
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

pub(crate) fn summary_of(world: &World) -> Summary {
    let bounds = world.ground.bounds.or_else(|| world.route.as_ref().map(|r| r.bounds()));
    Summary {
        size: bounds.map_or([0.0; 2], |b| (b.max - b.min).to_array()),
        evaluation: world.evaluation.is_some(),
    }
}

#[cfg(test)]
mod tests;
