use super::*;
use crate::database;
use crate::temp_folder::TempFolder;
use chicane_wire::RunResult;

fn records(scratch: &TempFolder) -> Records {
    Records::new(database::open(&scratch.path().join("chicane.db")).expect("opens"))
}

fn session(id: &str, world: &str) -> NewSession {
    NewSession {
        id: id.to_owned(),
        world: world.to_owned(),
        world_id: None,
        rev: None,
        command: Some("python3 run.py".to_owned()),
        time_limit_s: 180.0,
        seed: (1 << 53) - 1,
        better: Better::Lower,
        sha256: "ab".to_owned(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        identity: RecordIdentity { student: Some("Ada".to_owned()), ..RecordIdentity::default() },
        role: Role::Teacher,
    }
}

fn result(outcome: Outcome) -> SessionResult {
    SessionResult {
        ended_at: "2026-01-01T00:01:00Z".to_owned(),
        outcome,
        reason: None,
        record: "12.5".to_owned(),
        elapsed_s: 30.0,
        observations: 1500,
        wait_s: 0.5,
        report: RunReport {
            run: Some(RunResult { signal: Some(9), ..RunResult::default() }),
            ..RunReport::default()
        },
    }
}

#[test]
fn a_session_is_stored_from_its_start_to_its_end() {
    let scratch = TempFolder::new();
    let number = {
        let records = records(&scratch);
        let number = records.begin(&session("a", "oval")).expect("begun");
        let lines = ["{\"k\":1}".to_owned(), "{\"k\":2}".to_owned()];
        records
            .add(number, Addition { place: 0, events: &lines, record: "3.5", elapsed_s: 4.0, journal: &[] })
            .expect("added");
        records
            .add(
                number,
                Addition {
                    place: 2,
                    events: &["{\"k\":3}".to_owned()],
                    record: "4.5",
                    elapsed_s: 5.0,
                    journal: &[],
                },
            )
            .expect("added");
        number
    };
    let records = records(&scratch);
    let left = records.unfinished().expect("read");
    assert_eq!(left.len(), 1, "it was never ended");
    assert_eq!((left[0].record.as_str(), left[0].elapsed_s), ("4.5", 5.0));
    assert_eq!(records.events(number).expect("read"), ["{\"k\":1}", "{\"k\":2}", "{\"k\":3}"]);
    // Sequence number 2 exists already, so the whole transaction fails.
    let last = ["{\"k\":4}".to_owned(), "{\"k\":5}".to_owned()];
    assert!(records.end(number, 2, &last, &result(Outcome::Stopped), None).is_err());
    assert_eq!(
        (records.unfinished().expect("read").len(), records.events(number).expect("read").len()),
        (1, 3)
    );
    records.end(number, 3, &last, &result(Outcome::Stopped), None).expect("ended");
    assert_eq!(records.events(number).expect("read").len(), 5);
    assert!(records.unfinished().expect("read").is_empty());
    let row = records.session(Some("a"), None).expect("read").expect("there");
    assert_eq!((row.start, row.result), (session("a", "oval"), Some(result(Outcome::Stopped))));
}

#[test]
fn sessions_are_listed_newest_first_and_in_pages() {
    let scratch = TempFolder::new();
    let records = records(&scratch);
    for k in 0..10 {
        let world = if k % 2 == 0 { "oval" } else { "field" };
        records.begin(&session(&k.to_string(), world)).expect("begun");
    }
    let ids = |rows: &[SessionRow]| rows.iter().map(|r| r.start.id.clone()).collect::<Vec<_>>();
    let first = records.sessions(None, None, None, 4).expect("read");
    assert_eq!(ids(&first), ["9", "8", "7", "6"]);
    let next = records.sessions(None, None, Some(first[3].number), 4).expect("read");
    assert_eq!(ids(&next), ["5", "4", "3", "2"]);
    assert_eq!(ids(&records.sessions(Some("oval"), None, None, 2).expect("read")), ["8", "6"]);
    assert_eq!(records.session(None, None).expect("read").expect("there").start.id, "9");
    assert_eq!(records.session(Some("nobody"), None), Ok(None));
}

#[test]
fn an_id_can_be_used_only_once() {
    let scratch = TempFolder::new();
    let records = records(&scratch);
    records.begin(&session("a", "oval")).expect("begun");
    assert!(records.begin(&session("a", "oval")).is_err());
}

/// Regression test: a second process that created or migrated the same database failed.
#[test]
fn many_writers_create_one_data_folder_at_once() {
    let scratch = TempFolder::new();
    let dir = scratch.path().join("new/data");
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let dir = &dir;
            scope.spawn(move || {
                let records = Records::open_shared(dir).expect("opens");
                let events = ["{\"k\":1}".to_owned(), "{\"k\":2}".to_owned()];
                let id = format!("session {writer}");
                let (start, end) = (session(&id, "oval"), result(Outcome::Finished));
                records.import(&start, &events, &end, &StoredRun::default()).expect("imported");
                assert!(
                    records.import(&start, &events, &end, &StoredRun::default()).is_err(),
                    "{id} is stored twice"
                );
            });
        }
    });
    let records = Records::open(&dir).expect("opens");
    let rows = records.sessions(None, None, None, 100).expect("read");
    assert_eq!(rows.len(), 16);
    for row in rows {
        assert_eq!(row.result, Some(result(Outcome::Finished)));
        assert_eq!(records.events(row.number).expect("read").len(), 2);
    }
}

#[test]
fn sessions_are_imported_while_a_simulator_holds_the_folder() {
    let scratch = TempFolder::new();
    let data = crate::Data::open(scratch.path()).expect("opens");
    let records = Records::open_shared(scratch.path()).expect("opens");
    let number = data.records().begin(&session("a", "oval")).expect("begun");
    records
        .import(&session("b", "oval"), &[], &result(Outcome::Finished), &StoredRun::default())
        .expect("imported");
    data.records().end(number, 0, &[], &result(Outcome::Stopped), None).expect("ended");
    let ids: Vec<String> = data
        .records()
        .sessions(None, None, None, 9)
        .expect("read")
        .into_iter()
        .map(|row| row.start.id)
        .collect();
    assert_eq!(ids, ["b", "a"]);
}
