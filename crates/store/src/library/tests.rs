//! Tests of the list of worlds, and of loading.

use super::*;
use crate::package::tests::packed;
use crate::temp_folder::TempFolder;
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

/// A bundle that counts the reads of its world file.
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
    let oval = LibraryEntry { official: true, ..LibraryEntry::of("oval") };
    assert_eq!(library.entry("oval"), Some(oval));
    assert_eq!(library.summary("oval"), Ok(Summary { size: [8.0, 6.0], evaluation: true }));
}

#[test]
fn display_names_are_made_from_file_names() {
    for (name, shown) in [("two_big_loops", "Two big loops"), ("", ""), ("_x", " x"), ("élan", "Élan")] {
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
fn a_bundle_is_added_or_replaces_a_world() {
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
fn the_name_of_a_project_with_a_long_suffix_had_65_characters() {
    let name = "a".repeat(64);
    let files: Arc<dyn Bundle + Send + Sync> = Arc::new(bundle(&[]));
    let mut library = Library::default().with_bundle(name.as_str(), Arc::clone(&files));
    for _ in 0..100 {
        let next = library.project_name(&name);
        assert!(next.len() <= 64, "{next}");
        library = library.with_bundle(next, Arc::clone(&files));
    }
}

#[test]
fn without_a_ground_the_route_gives_the_size() {
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
fn the_error_of_a_broken_bundle_names_the_file() {
    let library = Library::built_in()
        .with_bundle("none", Arc::new(MemoryBundle::default()))
        .with_bundle("torn", Arc::new(bundle(&[("worlds/torn.world", "<sdf version='1.7'><world")])))
        .with_bundle("misnamed", Arc::new(bundle(&[("worlds/yard.world", EMPTY)])));
    for (name, place) in
        [("none", "worlds"), ("torn", "worlds/torn.world"), ("misnamed", "worlds/yard.world")]
    {
        let Err(LoadError::Broken(e)) = library.load(name) else { panic!("{name} loads") };
        assert_eq!(e.location.file, place);
        assert_eq!(library.summary(name), Err(LoadError::Broken(e)));
    }
    let said = library.load("misnamed").expect_err("misnamed").to_string();
    let expected = "the world can't be loaded: worlds/yard.world: \
                    the world is listed as \"misnamed\", so its file has to be worlds/misnamed.world";
    assert_eq!(said, expected);
}

#[test]
fn a_summary_loads_the_world_only_once() {
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
fn a_library_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Library::default());
}

#[test]
fn the_last_reader_removes_the_files_of_a_removed_world() {
    let scratch = TempFolder::new();
    let record = InstalledWorlds::of(scratch.path()).install(&packed("field")).expect("installed").record;
    let library = Library::default().with_installed(scratch.path());
    let name = record.world_name();
    let reader = library.world(&name).expect("there");
    assert!(library.remove(&name).expect("removed"));
    assert!(!library.remove(&name).expect("asked"));
    assert_eq!(library.load(&name), Err(LoadError::NotFound));
    assert!(
        Library::default().with_installed(scratch.path()).entry(&name).is_none(),
        "another library does not have it either"
    );
    drop(library);
    let left = || std::fs::read_dir(scratch.path().join("worlds")).expect("a folder").count();
    assert_eq!(left(), 0, "removed by the other library");
    drop(reader);
    assert_eq!(left(), 0);
}

#[test]
fn a_reader_keeps_the_revision_it_began_with() {
    let scratch = TempFolder::new();
    let installed = InstalledWorlds::of(scratch.path());
    let old = installed.install(&packed("field")).expect("installed").record;
    let library = Library::default().with_installed(scratch.path());
    let name = old.world_name();
    let reader = library.world(&name).expect("there");
    // Another revision of the same world is installed, in another folder.
    let folder = scratch.path().join("worlds").join(&old.world_id);
    let copy = InstalledRecord { folder: "copy".to_owned(), rev: "abcd1234".to_owned(), ..old.clone() };
    std::fs::create_dir_all(folder.join("copy/worlds")).expect("made");
    let id = chicane_wire::WorldId::parse(&old.world_id).expect("an id");
    installed.write(&id, &copy).expect("written");
    library.refresh();
    assert_eq!(library.entry(&name).expect("there").rev.as_deref(), Some("abcd1234"));
    assert!(reader.load().is_ok(), "the old files are kept for their reader");
    drop(reader);
    assert!(!folder.join(&old.folder).exists() && folder.join("copy").exists());
}

#[test]
fn a_world_is_found_by_its_alias_and_the_last_world_has_it() {
    let scratch = TempFolder::new();
    let installed = InstalledWorlds::of(scratch.path());
    let ids = ["field", "oval"].map(|name| {
        let record = installed.install(&packed(name)).expect("installed").record;
        chicane_wire::WorldId::parse(&record.world_id).expect("an id")
    });
    assert!(installed.set_alias(&ids[0], "hall").expect("set"));
    let library = Library::built_in().with_installed(scratch.path());
    assert_eq!(library.entry("hall").expect("found").name, format!("custom_{}", ids[0]));
    assert!(library.load("hall").is_ok());
    // The alias moves to another world.
    assert!(installed.set_alias(&ids[1], "hall").expect("set"));
    library.refresh();
    assert_eq!(library.entry("hall").expect("found").name, format!("custom_{}", ids[1]));
    assert_eq!(installed.record(&ids[0]).expect("still installed").alias, None);
    // The name of a world takes precedence over an alias, and a renamed world keeps its alias.
    assert!(installed.set_alias(&ids[1], "oval").expect("set"));
    assert!(installed.rename(&ids[1], "Other").expect("renamed"));
    library.refresh();
    assert!(library.entry("oval").expect("built in").official);
    assert_eq!(installed.record(&ids[1]).expect("installed").alias.as_deref(), Some("oval"));
    // Removing by alias removes the world.
    assert!(installed.set_alias(&ids[1], "hall").expect("set"));
    library.refresh();
    assert!(library.remove("hall").expect("removed"));
    assert!(library.entry("hall").is_none() && installed.record(&ids[1]).is_none());
    let unknown = chicane_wire::WorldId::parse(&"0".repeat(32)).expect("an id");
    assert!(!installed.set_alias(&unknown, "x").expect("asked"));
}
