//! Data folders of earlier versions are opened and keep their content.
#![allow(clippy::disallowed_methods)]

use chicane_store::{Data, OpenError, Records, backup, restore};
use chicane_wire::{Outcome, Role};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A temporary folder for one test. The folder is removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> TempFolder {
        let path = std::env::temp_dir().join(format!("chicane-migration-{name}-{}", std::process::id()));
        // A killed process with the same id may have left the folder behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        TempFolder(path)
    }

    /// A copy of the data folder of version 2.
    fn version_2(&self) -> PathBuf {
        let dir = self.0.join("data");
        std::fs::create_dir(&dir).expect("a folder");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version-2/chicane.db");
        std::fs::copy(from, dir.join("chicane.db")).expect("copied");
        dir
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Checks that an opened folder has the content of version 2.
fn check(data: &Data) {
    assert_eq!(data.settings().brightness(), Ok(Some(1.25)));
    assert_eq!(data.settings().last_world(), Ok(Some("technical".to_owned())));
    let lights = BTreeMap::from([("signal1".to_owned(), true), ("signal2".to_owned(), false)]);
    assert_eq!(data.settings().lights("technical"), Ok(lights));
    let sessions = data.records().sessions(None, None, None, 100).expect("read");
    let outcomes: Vec<_> = sessions.iter().rev().map(|row| row.result.as_ref().map(|r| r.outcome)).collect();
    let expected = [
        Some(Outcome::Finished),
        Some(Outcome::Timeout),
        Some(Outcome::Stopped),
        Some(Outcome::ScriptError),
        None,
    ];
    assert_eq!(outcomes, expected);
    let first = &sessions[4];
    assert_eq!(
        (first.start.id.as_str(), first.start.seed, first.start.role),
        ("4f1c0a6e2b7d", 7, Role::Teacher)
    );
    let result = first.result.as_ref().expect("a result");
    assert_eq!((result.record.as_str(), result.observations), ("21.35", 1068));
    assert!(first.start.identity.student.is_none(), "version 2 did not store it");
    assert_eq!(sessions[2].start.world_id.as_deref(), Some("0123456789abcdef0123456789abcdef"));
    for row in &sessions {
        let events = data.records().events(row.number).expect("read");
        assert_eq!(events.len(), 2);
        assert!(events[1].contains("lap 1"), "{events:?}");
    }
    let unfinished = data.records().unfinished().expect("read");
    assert_eq!(unfinished.iter().map(|row| row.start.id.as_str()).collect::<Vec<_>>(), ["0d5a9be3c782"]);
}

#[test]
fn a_data_folder_of_version_2_keeps_its_settings_and_records() {
    let scratch = TempFolder::new("opens");
    let dir = scratch.version_2();
    for _ in 0..2 {
        check(&Data::open(&dir).expect("opens"));
    }
    assert_eq!(
        Records::open(&dir).expect("opens read-only").sessions(None, None, None, 9).expect("read").len(),
        5
    );
}

#[test]
fn an_old_folder_opened_read_only_names_both_versions_and_stays_as_it_is() {
    let scratch = TempFolder::new("read-only");
    let dir = scratch.version_2();
    let before = std::fs::read(dir.join("chicane.db")).expect("read");
    let error = Records::open(&dir).expect_err("it opens");
    assert!(matches!(error, OpenError::Older { found: 2, known: 3.., .. }), "{error:?}");
    assert!(
        error.to_string().contains("version 2") && error.to_string().contains("chicane serve"),
        "{error}"
    );
    assert!(std::fs::read(dir.join("chicane.db")).expect("read") == before, "it was changed");
}

#[test]
fn a_backup_of_an_old_folder_is_restored_and_opened() {
    let scratch = TempFolder::new("backup");
    let (dir, file, to) = (scratch.version_2(), scratch.0.join("old.backup"), scratch.0.join("new"));
    backup(&dir, &file).expect("a backup");
    restore(&file, &to, false).expect("restored");
    check(&Data::open(&to).expect("opens"));
}
