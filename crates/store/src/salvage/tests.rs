use super::*;
use crate::open_error::OpenError;
use crate::temp_folder::TempFolder;
use crate::{Data, NewSession};
use chicane_wire::{Better, RecordIdentity, Role};

/// Number of sessions. They need about 20 pages.
const SESSIONS: usize = 300;

fn session(number: usize) -> NewSession {
    NewSession {
        id: format!("{number:012x}"),
        world: "oval".to_owned(),
        world_id: None,
        rev: None,
        command: Some(format!("python3 {}.py", "x".repeat(100))),
        time_limit_s: 60.0,
        seed: 7,
        better: Better::Lower,
        sha256: "0".repeat(64),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        identity: RecordIdentity::default(),
        role: Role::Teacher,
    }
}

/// A closed data folder with a setting and many sessions. Returns the path of the database.
fn filled(dir: &Path) -> PathBuf {
    let data = Data::open(dir).expect("opens");
    data.settings().set_brightness(1.25).expect("set");
    for number in 1..=SESSIONS {
        assert_eq!(data.records().begin(&session(number)), Ok(number as i64));
    }
    dir.join("chicane.db")
}

/// The numbers of the pages that hold the rows of a table. The first page of the file has the
/// number 1.
fn leaves(path: &Path, table: &str) -> Vec<usize> {
    let bytes = std::fs::read(path).expect("read");
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let root: u32 = Connection::open(path)
        .and_then(|c| {
            c.query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [table], |r| r.get(0))
        })
        .expect("a root page");
    let root = root as usize;
    let page = |number: usize| &bytes[(number - 1) * size..number * size];
    assert_eq!(page(root)[0], 5, "the table has a root page and leaves");
    let cells = usize::from(u16::from_be_bytes([page(root)[3], page(root)[4]]));
    let cell = |i: usize| usize::from(u16::from_be_bytes([page(root)[12 + 2 * i], page(root)[13 + 2 * i]]));
    let child = |at: usize| page(root)[at..at + 4].iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
    (0..cells).map(|i| child(cell(i))).chain([child(8)]).collect()
}

fn damage(path: &Path, page: usize) {
    let mut bytes = std::fs::read(path).expect("read");
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    bytes[(page - 1) * size..page * size].fill(0xa5);
    std::fs::write(path, bytes).expect("written");
}

/// The folders with damaged files in a data folder.
fn kept(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a folder").flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().contains(".damaged-")).collect()
}

#[test]
fn a_damaged_page_cost_all_records() {
    for place in ["first", "middle", "last"] {
        let scratch = TempFolder::new();
        let path = filled(scratch.path());
        let leaves = leaves(&path, "session");
        assert!(leaves.len() > 5, "{leaves:?}");
        let page = match place {
            "first" => leaves[0],
            "middle" => leaves[leaves.len() / 2],
            _ => leaves[leaves.len() - 1],
        };
        damage(&path, page);
        let damaged = std::fs::read(&path).expect("read");
        let data = Data::open(scratch.path()).expect("the rest is salvaged");
        assert!(data.salvaged().is_some_and(|text| text.contains("of session")), "{:?}", data.salvaged());
        assert_eq!(data.settings().brightness(), Ok(Some(1.25)));
        let saved = data.records().sessions(None, None, None, 1000).expect("read");
        let lost = SESSIONS - saved.len();
        assert!(lost > 0 && lost <= 2 * SESSIONS / leaves.len(), "{place}: lost {lost}");
        for row in &saved {
            assert_eq!(row.start, session(row.number as usize), "{place}");
        }
        // The lost sessions are neighbours.
        let numbers: Vec<i64> = saved.iter().rev().map(|row| row.number).collect();
        let gaps = numbers.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        assert_eq!(gaps, usize::from(place == "middle"), "{place}");
        let aside = kept(scratch.path());
        assert_eq!(aside.len(), 1, "{aside:?}");
        assert!(
            std::fs::read(aside[0].join("chicane.db")).expect("kept") == damaged,
            "the original was changed"
        );
        // A new session gets a number that is larger than those of the saved sessions.
        let next = data.records().begin(&session(SESSIONS + 1)).expect("begun");
        assert!(next > *numbers.last().expect("a number"));
        drop(data);
        Data::open(scratch.path()).expect("opens again");
        assert_eq!(kept(scratch.path()).len(), 1, "it is salvaged once");
    }
}

#[test]
fn two_damaged_pages_leave_two_gaps() {
    let scratch = TempFolder::new();
    let path = filled(scratch.path());
    let leaves = leaves(&path, "session");
    damage(&path, leaves[2]);
    damage(&path, leaves[5]);
    let salvaged = salvage(&path).expect("salvaged");
    let text = salvaged.to_string();
    assert!(text.contains("of session") && text.contains("incomplete are session"), "{text}");
    assert!(text.contains(&salvaged.aside.display().to_string()), "{text}");
    let data = Data::open(scratch.path()).expect("opens");
    let mut numbers: Vec<i64> =
        data.records().sessions(None, None, None, 1000).expect("read").iter().map(|row| row.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers.windows(2).filter(|pair| pair[1] != pair[0] + 1).count(), 2, "{numbers:?}");
}

/// Regression test: a session that can't be decoded could not be removed from the new database,
/// because its events refer to it.
#[test]
fn a_session_that_cannot_be_decoded_ended_the_salvage() {
    let scratch = TempFolder::new();
    let path = filled(scratch.path());
    let old = Connection::open(&path).expect("opens");
    old.execute_batch(
        "UPDATE session SET better = 'sideways' WHERE number = 5;
         INSERT INTO session_event VALUES (5, 0, '{}'), (6, 0, '{}')",
    )
    .expect("changed");
    drop(old);
    // Regression test: the removed rows were counted as saved.
    let rows = salvage(&path).expect("salvaged").rows;
    assert!(rows.contains(&("session", SESSIONS as i64 - 1)), "{rows:?}");
    assert!(rows.contains(&("session_event", 1)), "{rows:?}");
    let data = Data::open(scratch.path()).expect("opens");
    let saved = data.records().sessions(None, None, None, 1000).expect("read");
    assert_eq!(saved.len(), SESSIONS - 1);
    assert_eq!(data.records().events(5).expect("read"), [""; 0]);
    assert_eq!(data.records().events(6).expect("read"), ["{}"]);
}

#[test]
fn garbage_and_databases_of_others_are_left_alone() {
    let long: Vec<u8> = (0..20_000_u32).map(|i| (i * i % 251) as u8).collect();
    let scratch = TempFolder::new();
    let path = scratch.path().join("chicane.db");
    std::fs::write(&path, &long).expect("written");
    let error = Data::open(scratch.path()).expect_err("garbage opens");
    assert!(
        matches!(&error, OpenError::Damaged { reason, .. } if reason.contains("nothing could be salvaged"))
    );
    assert!(std::fs::read(&path).expect("still there") == long, "it was changed");
    std::fs::remove_file(&path).expect("removed");
    let other = Connection::open(&path).expect("opens");
    other.execute_batch("CREATE TABLE setting (a); INSERT INTO setting VALUES (7)").expect("made");
    drop(other);
    let error = Data::open(scratch.path()).expect_err("it opens");
    assert!(error.to_string().contains("not a database of chicane"), "{error}");
    let other = Connection::open(&path).expect("opens");
    assert_eq!(other.query_row("SELECT a FROM setting", [], |row| row.get(0)), Ok(7));
    drop(other);
    assert!(kept(scratch.path()).is_empty());
    let left = std::fs::read_dir(scratch.path()).expect("a folder").flatten().map(|e| e.file_name());
    let left: Vec<_> = left.filter(|name| name != "chicane.db" && name != "lock").collect();
    assert!(left.is_empty(), "{left:?}");
}
