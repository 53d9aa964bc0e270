//! Tests of the names and the limits of recordings.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A new folder that is removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> TempFolder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("chicane-recording-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a new folder");
        TempFolder(path)
    }

    fn options(&self) -> RecordingOptions {
        RecordingOptions { min_free_bytes: 0, ..RecordingOptions::new(&self.0) }
    }

    /// Creates a file of this size.
    fn put(&self, name: &str, bytes: u64) {
        File::create(self.0.join(name)).and_then(|file| file.set_len(bytes)).expect("a file");
    }

    fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(&self.0).expect("the folder");
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn names_contain_world_and_start_and_are_never_used_twice() {
    let folder = TempFolder::new();
    let options = RecordingOptions { folder: folder.0.join("new/folder"), ..folder.options() };
    let create = |world: &str, tick| create_file(&options, world, tick).expect("a file").name;
    assert_eq!(create("oval", 0), "000001-oval-0.000s.mcap");
    assert_eq!(create("oval", 0), "000002-oval-0.000s.mcap");
    assert_eq!(create("a-b.c", 2469), "000003-a-b.c-12.345s.mcap");
    folder.put("new/folder/000041-x-0.000s.mcap", 1);
    assert_eq!(create("oval", 0), "000042-oval-0.000s.mcap");
}

/// Regression test: a file had the largest possible number. No number was left for the next file,
/// so every recording failed.
#[test]
fn a_file_with_a_huge_number_ended_all_recordings() {
    let folder = TempFolder::new();
    folder.put("18446744073709551615-x-0.000s.mcap", 1);
    folder.put("000041-x-0.000s.mcap", 1);
    let created = create_file(&folder.options(), "oval", 0).expect("a file").name;
    assert_eq!(created, "000042-oval-0.000s.mcap");
}

/// Regression test: a file had the largest number of a recording. The next files got larger
/// numbers, so they were never removed, and after 100 of them every recording failed.
#[test]
fn files_after_the_largest_number_were_not_counted() {
    let folder = TempFolder::new();
    folder.put("999999999998-x-0.000s.mcap", 1);
    folder.put("000041-x-0.000s.mcap", 1);
    let created = || create_file(&folder.options(), "oval", 0).expect("a file").name;
    assert_eq!(created(), "999999999999-oval-0.000s.mcap");
    for number in 42..150 {
        assert_eq!(created(), format!("{number:06}-oval-0.000s.mcap"));
    }
}

#[test]
fn a_hostile_name_of_a_world_stays_in_the_folder() {
    for (world, name) in [
        ("../../etc/passwd", "_.._etc_passwd"),
        ("..", "world"),
        (".hidden", "hidden"),
        ("", "world"),
        ("a/b\\c:d*e?f\"g<h>i|j\0k\nl", "a_b_c_d_e_f_g_h_i_j_k_l"),
        ("Überholverbot 🚗", "_berholverbot__"),
        (&"x".repeat(1000), &"x".repeat(64)),
    ] {
        assert_eq!(safe_name(world), name, "{world}");
        let folder = TempFolder::new();
        let created = create_file(&folder.options(), world, 1).expect("a file").name;
        assert_eq!(folder.names(), BTreeSet::from([created.clone()]), "{world}");
        assert_eq!(number_of(&created), Some(1), "{created}");
    }
}

#[test]
fn only_recordings_are_counted() {
    for name in ["000001-oval-0.000s.mcap", "1234567-a-b-12.345s.mcap"] {
        assert!(number_of(name).is_some(), "{name}");
    }
    for name in [
        "mine.mcap",
        "000001-oval.mcap",
        "000001-0.000s.mcap",
        "00001-oval-0.000s.mcap",
        "00000x-oval-0.000s.mcap",
        "000001-oval-0.00s.mcap",
        "000001-oval-.000s.mcap",
        "000001-oval--1.000s.mcap.bak",
        "000001-oval-0.000s.mcap.bak",
        "1000000000000-oval-0.000s.mcap",
        "99999999999999999999999-oval-0.000s.mcap",
        "+00001-oval-0.000s.mcap",
    ] {
        assert_eq!(number_of(name), None, "{name}");
    }
}

#[test]
fn the_oldest_recordings_are_removed_and_other_files_are_kept() {
    let folder = TempFolder::new();
    for number in 1..=5 {
        folder.put(&format!("{number:06}-oval-0.000s.mcap"), 1000);
    }
    folder.put("mine.mcap", 1_000_000);
    fs::create_dir(folder.0.join("000000-folder-0.000s.mcap")).expect("a folder");
    let options = RecordingOptions { max_folder_bytes: 3000, ..folder.options() };
    let current = create_file(&options, "oval", 0).expect("a file");
    enforce_limits(&options, Some((&current.name, 500))).expect("within limits");
    let kept = ["000000-folder-0.000s.mcap", "000004-oval-0.000s.mcap", "000005-oval-0.000s.mcap"];
    let kept = kept.into_iter().chain(["mine.mcap", current.name.as_str()]);
    assert_eq!(folder.names(), kept.map(str::to_owned).collect());
}

#[cfg(unix)]
#[test]
fn a_link_is_neither_followed_nor_counted() {
    let (folder, other) = (TempFolder::new(), TempFolder::new());
    other.put("precious", 1_000_000);
    let link = folder.0.join("000001-oval-0.000s.mcap");
    std::os::unix::fs::symlink(other.0.join("precious"), &link).expect("a link");
    let options = RecordingOptions { max_folder_bytes: 1, ..folder.options() };
    enforce_limits(&options, None).expect("within limits");
    assert!(other.names().contains("precious") && link.exists());
}

#[test]
fn a_file_that_another_simulator_writes_is_kept() {
    let folder = TempFolder::new();
    let options = RecordingOptions { max_folder_bytes: 1, ..folder.options() };
    let other = create_file(&options, "oval", 0).expect("a file");
    other.file.set_len(1000).expect("a size");
    let current = create_file(&options, "oval", 0).expect("a file");
    enforce_limits(&options, Some((&current.name, 0))).expect("within limits");
    assert_eq!(folder.names().len(), 2);
    drop(other);
    enforce_limits(&options, Some((&current.name, 0))).expect("within limits");
    assert_eq!(folder.names(), BTreeSet::from([current.name]));
}

#[test]
fn a_nearly_full_disk_and_a_bad_folder_are_errors_that_name_the_option() {
    let folder = TempFolder::new();
    let options = RecordingOptions { min_free_bytes: u64::MAX, ..folder.options() };
    let error = create_file(&options, "oval", 0).expect_err("refused").to_string();
    assert!(error.contains("MiB of free space") && error.contains("--record"), "{error}");
    assert!(folder.names().is_empty(), "no empty file is left behind");
    folder.put("file", 0);
    let options = RecordingOptions::new(folder.0.join("file/below"));
    let error = create_file(&options, "oval", 0).expect_err("refused").to_string();
    assert!(error.contains("can't be used") && error.contains("--record"), "{error}");
}
