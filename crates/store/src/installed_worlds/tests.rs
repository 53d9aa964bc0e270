//! Tests of installed worlds in a temporary folder.

use super::*;
use crate::package::tests::packed;
use crate::temp_folder::TempFolder;
use crate::{Library, Package};

fn id(package: &Package) -> WorldId {
    package.id.clone()
}

#[test]
fn an_installed_world_is_intact_until_a_file_is_changed() {
    let scratch = TempFolder::new();
    let installed = InstalledWorlds::of(scratch.path());
    assert!(installed.scan().is_empty());
    let package = packed("oval");
    let done = installed.install(&package).expect("installed");
    assert_eq!(installed.scan(), std::slice::from_ref(&done.record));
    assert!(done.record.verified && done.record.evaluation && done.record.size == [8.0, 6.0]);
    assert!(installed.is_intact(&done.record));
    let library = Library::default().with_installed(scratch.path());
    assert_eq!(library.load(&done.record.world_name()).expect("loads").name, done.record.world_name());
    assert!(installed.rename(&id(&package), "Other").expect("renamed"));
    assert_eq!(installed.record(&id(&package)).expect("there").name, "Other");
    library.refresh();
    assert_eq!(library.entries()[0].display, "Other");

    let file = installed.folder(&id(&package)).join(&done.record.folder).join(&done.record.files[0].path);
    let mut bytes = std::fs::read(&file).expect("a file");
    bytes[0] ^= 1;
    std::fs::write(&file, bytes).expect("written");
    assert!(!installed.is_intact(&done.record));
}

/// Regression test: `set_alias` removed the alias from one world before it had checked that the new
/// world is installed.
#[test]
fn an_alias_was_lost_to_a_world_that_is_not_installed() {
    let scratch = TempFolder::new();
    let installed = InstalledWorlds::of(scratch.path());
    let package = packed("field");
    installed.install(&package).expect("installed");
    assert!(installed.set_alias(&id(&package), "hall").expect("set"));
    let unknown = WorldId::parse(&"0".repeat(32)).expect("an id");
    assert!(!installed.set_alias(&unknown, "hall").expect("asked"));
    assert_eq!(installed.record(&id(&package)).expect("installed").alias.as_deref(), Some("hall"));
}

#[test]
fn an_invalid_record_is_ignored_and_kept() {
    let scratch = TempFolder::new();
    let installed = InstalledWorlds::of(scratch.path());
    let package = packed("field");
    let record = installed.install(&package).expect("installed").record;
    let path = installed.folder(&id(&package)).join(RECORD);
    for wrong in [
        "{".to_owned(),
        "[]".to_owned(),
        serde_json::to_string(&InstalledRecord { folder: "../..".to_owned(), ..record.clone() })
            .expect("JSON"),
        serde_json::to_string(&InstalledRecord { world_id: "f".repeat(32), ..record.clone() }).expect("JSON"),
        serde_json::to_string(&InstalledRecord { v: 2, ..record.clone() }).expect("JSON"),
    ] {
        std::fs::write(&path, &wrong).expect("written");
        assert_eq!(installed.record(&id(&package)), None, "{wrong}");
        installed.remove_leftovers();
        assert!(path.exists(), "an invalid record is not removed");
    }
}

#[test]
fn leftovers_are_removed_unless_the_world_is_locked() {
    let scratch = TempFolder::new();
    let installed = InstalledWorlds::of(scratch.path());
    let package = packed("field");
    let record = installed.install(&package).expect("installed").record;
    let left = installed.folder(&id(&package)).join("abcd1234-left");
    std::fs::create_dir_all(left.join("worlds")).expect("made");
    let draft = installed.folder(&id(&package)).join("installed.json.new");
    std::fs::write(&draft, "{").expect("written");
    let lock =
        FolderLock::try_take(&installed.staging.join(package.id.as_str())).expect("taken").expect("free");
    installed.remove_leftovers();
    assert!(left.exists() && draft.exists());
    assert!(FolderLock::try_take(&installed.staging.join(package.id.as_str())).expect("asked").is_none());
    drop(lock);
    installed.remove_leftovers();
    assert!(!left.exists() && !draft.exists());
    assert!(installed.is_intact(&record));
    assert_eq!(std::fs::read_dir(&installed.staging).expect("a folder").count(), 0);
}

#[test]
fn only_some_interrupted_installations_are_kept() {
    let scratch = TempFolder::new();
    let installed = InstalledWorlds::of(scratch.path());
    for i in 0..MAX_STAGED + 3 {
        std::fs::create_dir_all(installed.staging.join(format!("{i:032x}/files"))).expect("made");
    }
    installed.trim_staged();
    assert_eq!(std::fs::read_dir(&installed.staging).expect("a folder").count(), MAX_STAGED);
}
