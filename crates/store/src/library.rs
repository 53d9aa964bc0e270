//! The worlds there are.

use crate::built_in::{self, BuiltIn};
use chicane_world::{Assets, Bundle, Error, World};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

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

/// The worlds there are, by name. It doesn't change: share it behind an `Arc`.
#[derive(Default)]
pub struct Library {
    worlds: BTreeMap<String, Held>,
}

/// A world and what was learnt of it.
struct Held {
    entry: Entry,
    bundle: Arc<dyn Bundle + Send + Sync>,
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
        self.worlds.insert(entry.name.clone(), Held { entry, bundle, summary: OnceLock::new() });
    }

    /// All worlds: those that stay first, then by name.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.worlds.values().map(|w| w.entry.clone()).collect();
        // They are by name already, and the sort keeps that.
        entries.sort_by_key(|e| e.deletable);
        entries
    }

    /// One world.
    pub fn entry(&self, name: &str) -> Option<Entry> {
        self.worlds.get(name).map(|w| w.entry.clone())
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

    fn held(&self, name: &str) -> Result<&Held, LoadError> {
        self.worlds.get(name).ok_or(LoadError::NotFound)
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

fn summary_of(world: &World) -> Summary {
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
