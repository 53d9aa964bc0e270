//! The list of all worlds: built-in, installed, and built from projects.

mod installed;

use crate::installed_worlds::{InstalledBundle, InstalledRecord, InstalledWorlds};
use crate::sum::Sum;
use crate::summary::{Summary, summary_of};
use chicane_bundles::BuiltIn;
use chicane_world::{Assets, Bundle, Error, MemoryBundle, World};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The facts about a world that are known without loading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryEntry {
    /// Unique name: the file name of the world file without `.world`.
    pub name: String,
    /// Display name.
    pub display: String,
    /// Id of the world, if it was published.
    pub world_id: Option<String>,
    /// Revision of the world, if it was published or built from a project of the data folder.
    pub rev: Option<String>,
    /// Whether the world is official, which means that it is part of the program.
    pub official: bool,
    /// Whether the world may be deleted.
    pub deletable: bool,
    /// False for an installed world whose files could not be verified against its id. True for
    /// every other world.
    pub verified: bool,
}

/// Why a world can't be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The library has no world of this name.
    #[error("there is no world of this name; see the list of worlds")]
    NotFound,
    /// A file of the world is wrong.
    #[error("the world can't be loaded: {0}")]
    Broken(Error),
}

/// All worlds by name: built-in worlds, worlds that are installed in a data folder, and worlds of
/// projects. A library is meant to be shared behind an `Arc`.
#[derive(Default)]
pub struct Library {
    worlds: RwLock<Worlds>,
    installed: Option<InstalledWorlds>,
    /// This lock is held while the data folder and `worlds` are changed together.
    changing: Mutex<()>,
}

/// The world that [`Library::place`] replaced, if there was one.
pub struct ReplacedWorld {
    name: String,
    world: Option<Arc<LibraryWorld>>,
}

type Worlds = BTreeMap<String, Arc<LibraryWorld>>;

/// A world with its files and, once it is known, its summary.
struct LibraryWorld {
    entry: LibraryEntry,
    bundle: Arc<dyn Bundle + Send + Sync>,
    /// The files and the record, if the world is installed.
    installed: Option<(Arc<InstalledBundle>, InstalledRecord)>,
    /// Whether the world was built from a project of the data folder.
    is_project: bool,
    summary: OnceLock<Result<Summary, LoadError>>,
}

impl Library {
    /// A library with the worlds that are part of the program.
    pub fn built_in() -> Library {
        BuiltIn::all().fold(Library::default(), |mut library, world| {
            let entry =
                LibraryEntry { display: world.display(), official: true, ..LibraryEntry::of(world.name()) };
            library.insert(entry, Arc::new(world));
            library
        })
    }

    /// Adds a world, or replaces the world of the same name. The files of the bundle must not
    /// change later.
    pub fn with_bundle(mut self, name: impl Into<String>, bundle: Arc<dyn Bundle + Send + Sync>) -> Library {
        self.insert(LibraryEntry::of(&name.into()), bundle);
        self
    }

    /// Adds the world of a project file with its display name, or replaces the world of the same
    /// name.
    pub fn with_project(mut self, name: &str, display: &str, bundle: MemoryBundle) -> Library {
        let entry = LibraryEntry { display: display.to_owned(), ..LibraryEntry::of(name) };
        self.insert(entry, Arc::new(bundle));
        self
    }

    /// Adds a world of another library, with its id and its revision. If the other library has no
    /// such world, nothing is added.
    pub fn with_world_of(mut self, other: &Library, name: &str) -> Library {
        if let Ok(world) = other.world(name) {
            self.insert(world.entry.clone(), Arc::clone(&world.bundle));
        }
        self
    }

    fn insert(&mut self, entry: LibraryEntry, bundle: Arc<dyn Bundle + Send + Sync>) {
        let world =
            LibraryWorld { entry, bundle, installed: None, is_project: false, summary: OnceLock::new() };
        let worlds = self.worlds.get_mut().unwrap_or_else(PoisonError::into_inner);
        worlds.insert(world.entry.name.clone(), Arc::new(world));
    }

    /// The name under which a project with this name can be placed. This is the same name, unless a
    /// world that is not a project has it. In that case a suffix is added.
    pub fn project_name(&self, name: &str) -> String {
        let worlds = self.worlds();
        let is_free = |name: &str| worlds.get(name).is_none_or(|world| world.is_project);
        if is_free(name) {
            return name.to_owned();
        }
        // Names of worlds are ASCII and have at most 64 characters, so the name is shortened before
        // a suffix is added. The longest suffix has ten characters.
        let short: String = name.chars().take(54).collect();
        let numbered = (1..).map(|i| match i {
            1 => format!("{short}_project"),
            i => format!("{short}_project{i}"),
        });
        numbered.take(99).find(|name| is_free(name)).unwrap_or(short)
    }

    /// Adds the world of a project while the library is in use, or replaces the world of the same
    /// name. `rev` has to change with the files. Returns the replaced world.
    pub fn place(&self, name: &str, display: &str, rev: &str, bundle: MemoryBundle) -> ReplacedWorld {
        let entry =
            LibraryEntry { display: display.to_owned(), rev: Some(rev.to_owned()), ..LibraryEntry::of(name) };
        let bundle = Arc::new(bundle);
        let world =
            LibraryWorld { entry, bundle, installed: None, is_project: true, summary: OnceLock::new() };
        let before = self.worlds_mut().insert(name.to_owned(), Arc::new(world));
        ReplacedWorld { name: name.to_owned(), world: before }
    }

    /// Undoes [`Library::place`].
    pub fn put_back(&self, replaced: ReplacedWorld) {
        let mut worlds = self.worlds_mut();
        match replaced.world {
            Some(world) => drop(worlds.insert(replaced.name, world)),
            None => drop(worlds.remove(&replaced.name)),
        }
    }

    /// Removes the worlds of all projects except one, because their files take up memory.
    pub fn remove_projects_except(&self, name: &str) {
        self.worlds_mut().retain(|other, world| !world.is_project || other == name);
    }

    fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn worlds(&self) -> RwLockReadGuard<'_, Worlds> {
        self.worlds.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn worlds_mut(&self) -> RwLockWriteGuard<'_, Worlds> {
        self.worlds.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All worlds, sorted by name. Worlds that can't be deleted come first.
    pub fn entries(&self) -> Vec<LibraryEntry> {
        let mut entries: Vec<LibraryEntry> = self.worlds().values().map(|w| w.entry.clone()).collect();
        // A stable sort keeps the order by name.
        entries.sort_by_key(|e| e.deletable);
        entries
    }

    /// The entry of one world. `name` is the name of the world or, for an installed world, its
    /// alias. `None` if there is no such world.
    pub fn entry(&self, name: &str) -> Option<LibraryEntry> {
        self.world(name).ok().map(|w| w.entry.clone())
    }

    /// Loads a world, which takes some milliseconds.
    pub fn load(&self, name: &str) -> Result<World, LoadError> {
        self.world(name)?.load()
    }

    /// The content of a file of a world. `None` if there is no such world or no such file.
    pub fn file(&self, name: &str, path: &str) -> Option<Vec<u8>> {
        self.world(name).ok()?.bundle.read(path).map(|b| b.into_owned())
    }

    /// All files of a world by path; `None` if there is no such world.
    pub fn files(&self, name: &str) -> Option<BTreeMap<String, Vec<u8>>> {
        let world = self.world(name).ok()?;
        let paths = world.bundle.list("").into_iter();
        Some(paths.filter_map(|path| Some((path.clone(), world.bundle.read(&path)?.into_owned()))).collect())
    }

    /// SHA-256 over the path and the content of every file of a world, as hex digits. `None` if
    /// there is no such world.
    pub fn sha256(&self, name: &str) -> Option<String> {
        let world = self.world(name).ok()?;
        Some(
            Sum::of_files(world.bundle.list("").iter().map(|path| (path.as_str(), world.bundle.read(path))))
                .hex(),
        )
    }

    /// The summary of a world, if it is known without loading.
    pub fn known_summary(&self, name: &str) -> Option<Result<Summary, LoadError>> {
        self.world(name).ok()?.summary.get().cloned()
    }

    /// The summary of a world. The first call loads the world, and later calls use the cached
    /// result.
    pub fn summary(&self, name: &str) -> Result<Summary, LoadError> {
        let world = self.world(name)?;
        world.summary.get_or_init(|| world.load().map(|world| summary_of(&world))).clone()
    }

    /// 12 hex digits that change when any built-in file changes.
    pub fn assets_rev(&self) -> &'static str {
        BuiltIn::REV
    }

    fn world(&self, name: &str) -> Result<Arc<LibraryWorld>, LoadError> {
        let worlds = self.worlds();
        let has_alias = |world: &&Arc<LibraryWorld>| {
            world.installed.as_ref().is_some_and(|(_, record)| record.alias.as_deref() == Some(name))
        };
        // A name takes precedence over an alias.
        let found = worlds.get(name).or_else(|| worlds.values().find(has_alias));
        found.cloned().ok_or(LoadError::NotFound)
    }
}

impl LibraryEntry {
    /// The entry of a world that is neither official nor installed.
    fn of(name: &str) -> LibraryEntry {
        LibraryEntry {
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

impl LibraryWorld {
    fn load(&self) -> Result<World, LoadError> {
        let world = World::load(&Assets::of(&*self.bundle)).map_err(LoadError::Broken)?;
        let name = &self.entry.name;
        if world.name != *name {
            let message =
                format!("the world is listed as \"{name}\", so its file has to be worlds/{name}.world");
            return Err(LoadError::Broken(Error::file(&format!("worlds/{}.world", world.name), message)));
        }
        Ok(world)
    }
}

/// The display name for a world name: the first letter upper-case, and underscores replaced with
/// blanks.
fn display(name: &str) -> String {
    let mut letters = name.chars().map(|c| if c == '_' { ' ' } else { c });
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests;
