//! Installed worlds on a real disk.

use super::*;
use crate::package::tests::packed;
use crate::scratch::Scratch;
use crate::{Library, Package};

fn id(package: &Package) -> WorldId {
    package.id.clone()
}

#[test]
fn what_is_installed_is_there_and_whole_until_it_is_damaged() {
    let scratch = Scratch::new();
    let shelf = Shelf::of(scratch.path());
    assert!(shelf.scan().is_empty());
    let package = packed("oval");
    let done = shelf.install(&package).expect("installed");
    assert_eq!(shelf.scan(), std::slice::from_ref(&done.record));
    assert!(done.record.verified && done.record.evaluation && done.record.size == [8.0, 6.0]);
    assert!(shelf.is_whole(&done.record));
    let library = Library::default().with_installed(scratch.path());
    assert_eq!(library.load(&done.record.world_name()).expect("loads").name, done.record.world_name());
    assert!(shelf.rename(&id(&package), "Other").expect("renamed"));
    assert_eq!(shelf.record(&id(&package)).expect("there").name, "Other");
    library.refresh();
    assert_eq!(library.entries()[0].display, "Other");

    let file = shelf.folder(&id(&package)).join(&done.record.folder).join(&done.record.files[0].path);
    let mut bytes = std::fs::read(&file).expect("a file");
    bytes[0] ^= 1;
    std::fs::write(&file, bytes).expect("written");
    assert!(!shelf.is_whole(&done.record));
}

#[test]
fn a_record_without_sense_is_ignored_and_left() {
    let scratch = Scratch::new();
    let shelf = Shelf::of(scratch.path());
    let package = packed("field");
    let record = shelf.install(&package).expect("installed").record;
    let path = shelf.folder(&id(&package)).join(RECORD);
    for wrong in [
        "{".to_owned(),
        "[]".to_owned(),
        serde_json::to_string(&Record { folder: "../..".to_owned(), ..record.clone() }).expect("JSON"),
        serde_json::to_string(&Record { world_id: "f".repeat(32), ..record.clone() }).expect("JSON"),
        serde_json::to_string(&Record { v: 2, ..record.clone() }).expect("JSON"),
    ] {
        std::fs::write(&path, &wrong).expect("written");
        assert_eq!(shelf.record(&id(&package)), None, "{wrong}");
        shelf.sweep();
        assert!(path.exists(), "nothing is thrown away that is not understood");
    }
}

#[test]
fn leftovers_go_unless_someone_is_at_work() {
    let scratch = Scratch::new();
    let shelf = Shelf::of(scratch.path());
    let package = packed("field");
    let record = shelf.install(&package).expect("installed").record;
    let left = shelf.folder(&id(&package)).join("abcd1234-left");
    std::fs::create_dir_all(left.join("worlds")).expect("made");
    let draft = shelf.folder(&id(&package)).join("installed.json.new");
    std::fs::write(&draft, "{").expect("written");
    let claim = Claim::try_take(&shelf.staging.join(package.id.as_str())).expect("taken").expect("free");
    shelf.sweep();
    assert!(left.exists() && draft.exists());
    assert!(Claim::try_take(&shelf.staging.join(package.id.as_str())).expect("asked").is_none());
    drop(claim);
    shelf.sweep();
    assert!(!left.exists() && !draft.exists());
    assert!(shelf.is_whole(&record));
    assert_eq!(std::fs::read_dir(&shelf.staging).expect("a folder").count(), 0);
}

#[test]
fn only_some_halves_are_kept() {
    let scratch = Scratch::new();
    let shelf = Shelf::of(scratch.path());
    for i in 0..MAX_STAGED + 3 {
        std::fs::create_dir_all(shelf.staging.join(format!("{i:032x}/files"))).expect("made");
    }
    shelf.trim_staged();
    assert_eq!(std::fs::read_dir(&shelf.staging).expect("a folder").count(), MAX_STAGED);
}
