//! The worlds there are.

use crate::built_in::{self, BuiltIn};
use crate::install::{Checked, Staging};
use crate::shelf::{InstalledBundle, Record, Shelf};
use chicane_wire::WorldId;
use chicane_world::{Assets, Bundle, Error, World};
use std::collections::BTreeMap;
use std::path::Path;
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
mod tests {
    use super::*;
    use chicane_world::MemoryBundle;
    use std::borrow::Cow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const EMPTY: &str = "<sdf version='1.7'><world name='yard'></world></sdf>";

    fn bundle(files: &[(&str, &str)]) -> MemoryBundle {
        let mut bundle = MemoryBundle::default();
        for (path, text) in files {
            bundle.insert(*path, *text);
        }
        bundle
    }

    /// Counts how often its world file is read.
    struct Counted(MemoryBundle, AtomicUsize);

    impl Bundle for Counted {
        fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
            self.1.fetch_add(usize::from(path.ends_with(".world")), Ordering::Relaxed);
            self.0.read(path)
        }

        fn list(&self, folder: &str) -> Vec<String> {
            self.0.list(folder)
        }
    }

    #[test]
    fn built_in_worlds_are_listed() {
        let library = Library::built_in();
        let listed: Vec<_> = library.entries().into_iter().map(|e| (e.name, e.display)).collect();
        let expected = ["Field", "Oval", "Riverside", "Slalom", "Speedway", "Technical", "Town"];
        assert_eq!(listed, expected.map(|d| (d.to_lowercase(), d.to_owned())));
        let oval = Entry { official: true, ..Entry::of("oval") };
        assert_eq!(library.entry("oval"), Some(oval));
        assert_eq!(library.summary("oval"), Ok(Summary { size: [8.0, 6.0], evaluation: true }));
    }

    #[test]
    fn names_for_people() {
        for (name, shown) in [("two_big_loops", "Two big loops"), ("", ""), ("_x", " x"), ("élan", "Élan")]
        {
            assert_eq!(display(name), shown);
        }
    }

    #[test]
    fn an_unknown_name_is_not_found() {
        let library = Library::built_in();
        for name in ["", "Oval", "oval/", "../oval", "nowhere"] {
            assert_eq!(library.load(name), Err(LoadError::NotFound), "{name}");
            assert_eq!(library.summary(name), Err(LoadError::NotFound), "{name}");
            assert_eq!(library.entry(name), None, "{name}");
        }
    }

    #[test]
    fn a_world_in_memory_is_added_or_takes_a_place() {
        let yard = Arc::new(bundle(&[("worlds/yard.world", EMPTY)]));
        let library = Library::built_in().with_bundle("yard", yard);
        assert_eq!(library.load("yard").expect("loads").name, "yard");
        let names: Vec<String> = library.entries().into_iter().map(|e| e.name).collect();
        assert_eq!((names.len(), names[7].as_str()), (8, "yard"));

        let library = library.with_bundle("oval", Arc::new(bundle(&[("worlds/oval.world", EMPTY)])));
        assert_eq!(library.entries().len(), 8);
        assert_eq!(library.summary("oval"), Ok(Summary { size: [0.0; 2], evaluation: false }));
    }

    #[test]
    fn the_route_gives_the_size_where_there_is_no_ground() {
        let mut files = bundle(&[("worlds/yard.world", EMPTY)]);
        let oval = BuiltIn::all().find(|w| w.name() == "oval").expect("oval");
        files.insert("routes/yard.npy", oval.read("routes/oval.npy").expect("a route").into_owned());
        let library = Library::default().with_bundle("yard", Arc::new(files));
        let route = library.load("yard").expect("loads").route.expect("a route").bounds();
        let size = library.summary("yard").expect("loads").size;
        assert_eq!(size, (route.max - route.min).to_array());
        assert!(size[0] > 1.0 && size[1] > 1.0, "{size:?}");
    }

    #[test]
    fn a_broken_bundle_says_where() {
        let library = Library::built_in()
            .with_bundle("none", Arc::new(MemoryBundle::default()))
            .with_bundle("torn", Arc::new(bundle(&[("worlds/torn.world", "<sdf version='1.7'><world")])))
            .with_bundle("misnamed", Arc::new(bundle(&[("worlds/yard.world", EMPTY)])));
        for (name, place) in
            [("none", "worlds"), ("torn", "worlds/torn.world"), ("misnamed", "worlds/yard.world")]
        {
            let Err(LoadError::Broken(e)) = library.load(name) else { panic!("{name} loads") };
            assert_eq!(e.place.file, place);
            assert_eq!(library.summary(name), Err(LoadError::Broken(e)));
        }
        let said = library.load("misnamed").expect_err("misnamed").to_string();
        let expected = "the world can't be loaded: worlds/yard.world: \
                        it is kept as \"misnamed\": its file should be worlds/misnamed.world";
        assert_eq!(said, expected);
    }

    #[test]
    fn a_summary_loads_once_whoever_asks() {
        let counted = Arc::new(Counted(bundle(&[("worlds/yard.world", EMPTY)]), AtomicUsize::new(0)));
        let library = Library::default().with_bundle("yard", counted.clone());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| library.summary("yard").expect("loads"));
            }
        });
        library.summary("yard").expect("loads");
        assert_eq!(counted.1.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn it_can_be_shared() {
        fn shared<T: Send + Sync>(_: &T) {}
        shared(&Library::default());
    }
}
