use super::*;
use crate::Data;
use crate::backup::{BackupError, backup};
use crate::temp_folder::TempFolder;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// A data folder with a setting and some files.
fn filled(scratch: &TempFolder) -> PathBuf {
    let dir = scratch.path().join("data");
    let data = Data::open(&dir).expect("opens");
    data.settings().set_brightness(1.25).expect("set");
    for (path, text) in FILES {
        let path = dir.join(path);
        create_private(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    for path in ["leaderboard/scratch/x", "recordings/big.mcap", "running.json", "cdn/lock"] {
        let path = dir.join(path);
        create_private(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, "left out").expect("written");
    }
    dir
}

const FILES: [(&str, &str); 4] = [
    ("cdn/worlds/a/meta.json", "{\"meta\": 1}"),
    ("cdn/worlds/a/1/file.png", "picture"),
    ("worlds/b/installed.json", "{}"),
    ("leaderboard/uploads/x.zip", "PK"),
];

/// The files below a folder by their path, without the files of SQLite and the lock file.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(dir).expect("inside").to_str().expect("UTF-8").to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !name.starts_with("chicane.db") && name != "lock" {
                found.insert(name, std::fs::read(path).expect("read"));
            }
        }
    }
    found
}

fn brightness(dir: &Path) -> Option<f64> {
    Data::open(dir).expect("opens").settings().brightness().expect("read")
}

#[test]
fn a_restored_folder_has_the_same_settings_and_files() {
    let scratch = TempFolder::new();
    let (dir, file) = (filled(&scratch), scratch.path().join("x.backup"));
    let summary = backup(&dir, &file).expect("a backup");
    assert_eq!(summary.files, FILES.len());
    assert_eq!(check_backup(&file).expect("right"), summary);
    let to = scratch.path().join("deep/restored");
    let restored = restore(&file, &to, false).expect("restored");
    assert_eq!((restored.summary, restored.replaced), (summary, None));
    assert_eq!(brightness(&to), Some(1.25));
    let expected = FILES.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    assert_eq!(files(&to), BTreeMap::from(expected));
    #[cfg(unix)]
    for path in [to.clone(), to.join("chicane.db"), file] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: others can read it", path.display());
    }
}

#[test]
fn a_backup_while_the_folder_is_written_is_one_moment_of_it() {
    let scratch = TempFolder::new();
    let dir = filled(&scratch);
    let data = Data::open(&dir).expect("opens");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Both lights always change in one transaction, so every backup has two equal lights,
            // or none if it was made before the first change.
            let lights = |red| BTreeMap::from([("a".to_owned(), red), ("b".to_owned(), red)]);
            let mut red = false;
            while !stop.load(Ordering::Relaxed) {
                red = !red;
                data.settings().set_lights("oval", &lights(red)).expect("set");
            }
        });
        for i in 0..5 {
            let (file, to) = (scratch.path().join(format!("{i}.backup")), scratch.path().join(i.to_string()));
            backup(&dir, &file).expect("a backup");
            restore(&file, &to, false).expect("restored");
            let lights = Data::open(&to).expect("opens").settings().lights("oval").expect("read");
            let states: Vec<bool> = lights.values().copied().collect();
            assert!(states.is_empty() || (states.len() == 2 && states[0] == states[1]), "{lights:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_changed_or_shortened_backup_is_refused_and_changes_nothing() {
    let scratch = TempFolder::new();
    let (dir, file) = (filled(&scratch), scratch.path().join("x.backup"));
    backup(&dir, &file).expect("a backup");
    let whole = std::fs::read(&file).expect("read");
    let bad = scratch.path().join("bad.backup");
    let to = scratch.path().join("to");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for bytes in [&flipped[..], &whole[..whole.len() - 1], &whole[..MAGIC.len() + 3]] {
        std::fs::write(&bad, bytes).expect("written");
        let error = restore(&bad, &to, false).expect_err("restored");
        assert!(matches!(error, RestoreError::Sum(_)), "{error}");
        assert!(error.to_string().contains("damaged or incomplete"), "{error}");
        assert!(matches!(check_backup(&bad), Err(RestoreError::Sum(_))));
    }
    for bytes in [b"".as_slice(), b"PK\x03\x04 something else entirely"] {
        std::fs::write(&bad, bytes).expect("written");
        assert!(matches!(restore(&bad, &to, false), Err(RestoreError::Kind(_))));
    }
    assert!(!to.exists());
    let left = std::fs::read_dir(scratch.path()).expect("a folder").flatten().count();
    assert_eq!(left, 3, "data, x.backup and bad.backup");
}

#[test]
fn a_folder_with_files_is_replaced_only_on_request_and_kept() {
    let scratch = TempFolder::new();
    let (dir, file) = (filled(&scratch), scratch.path().join("x.backup"));
    backup(&dir, &file).expect("a backup");
    {
        let data = Data::open(&dir).expect("opens");
        data.settings().set_brightness(0.5).expect("set");
        let error = restore(&file, &dir, true).expect_err("the folder is in use");
        assert!(matches!(error, RestoreError::Open(OpenError::InUse { .. })), "{error}");
    }
    let error = restore(&file, &dir, false).expect_err("the folder has files");
    assert!(error.to_string().contains("--replace"), "{error}");
    assert_eq!(brightness(&dir), Some(0.5));
    let aside = restore(&file, &dir, true).expect("restored").replaced.expect("the old folder");
    assert_eq!((brightness(&dir), brightness(&aside)), (Some(1.25), Some(0.5)));
    let other = scratch.path().join("photos");
    std::fs::create_dir(&other).expect("made");
    std::fs::write(other.join("1.jpg"), "x").expect("written");
    assert!(matches!(restore(&file, &other, true), Err(RestoreError::NotADataFolder(_))));
    let empty = scratch.path().join("empty");
    std::fs::create_dir(&empty).expect("made");
    restore(&file, &empty, false).expect("restored");
}

#[test]
fn a_backup_never_replaces_a_file_and_needs_a_sound_database() {
    let scratch = TempFolder::new();
    let (dir, file) = (filled(&scratch), scratch.path().join("x.backup"));
    std::fs::write(&file, "mine").expect("written");
    assert!(matches!(backup(&dir, &file), Err(BackupError::Exists(_))));
    assert_eq!(std::fs::read(&file).expect("read"), b"mine");
    let (none, new) = (scratch.path().join("none"), scratch.path().join("new.backup"));
    let error = backup(&none, &new).expect_err("there is no folder");
    assert!(matches!(error, BackupError::Open(OpenError::Missing { .. })), "{error}");
    assert!(!none.exists(), "a backup must not create the data folder");
    let database = dir.join(DATABASE);
    let mut bytes = std::fs::read(&database).expect("read");
    bytes[4096..8192].fill(0xa5);
    std::fs::write(&database, bytes).expect("written");
    assert!(backup(&dir, &new).is_err(), "a damaged database");
    let left = std::fs::read_dir(scratch.path()).expect("a folder").flatten().map(|e| e.file_name());
    assert!(left.map(|name| name.to_string_lossy().into_owned()).all(|name| !name.contains("part")));
}

#[test]
fn a_backup_of_somebody_else_writes_inside_the_folder_only() {
    for name in ["chicane.db", "worlds/a/b.png", "cdn/x", "leaderboard/uploads/a.zip"] {
        assert!(is_allowed(name), "{name}");
    }
    for name in [
        "lock",
        "running.json",
        "worlds",
        "worlds/",
        "/etc/passwd",
        "worlds/../../x",
        "../x",
        "./chicane.db",
        "cdn//x",
        "cdn/./x",
        "cdn\\x/y",
        "worlds/a\0b",
        "",
        ".",
        "recordings/x",
    ] {
        assert!(!is_allowed(name), "{name:?}");
    }
}
