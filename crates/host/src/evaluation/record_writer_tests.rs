use super::*;
use chicane_store::NewSession;
use chicane_wire::{Better, Outcome, Role, RunReport};

fn session() -> NewSession {
    NewSession {
        id: "a".to_owned(),
        world: "oval".to_owned(),
        world_id: None,
        rev: None,
        command: None,
        time_limit_s: 60.0,
        seed: 0,
        better: Better::Lower,
        sha256: String::new(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        identity: RecordIdentity::default(),
        role: Role::Teacher,
    }
}

fn addition(place: u64, events: &[String]) -> Addition<'_> {
    Addition { place, events, record: "null", elapsed_s: 0.0, journal: &[] }
}

fn unwritten(number: i64) -> Unwritten {
    Unwritten {
        number,
        next_line: 1,
        lines: ["{\"k\":1}", "{\"k\":2}", "{\"k\":3}"].map(str::to_owned).to_vec(),
        identity: Some(Box::new(RecordIdentity { student: Some("ada".to_owned()), ..Default::default() })),
        result: SessionResult {
            ended_at: "2026-01-01T00:01:00Z".to_owned(),
            outcome: Outcome::Finished,
            reason: None,
            record: "7.5".to_owned(),
            elapsed_s: 7.5,
            observations: 3,
            wait_s: 0.0,
            report: RunReport::default(),
        },
        journal: None,
    }
}

/// A failed write may have reached the disk in part or completely. In each case the repeated write
/// completes the record, and no event is lost or stored twice.
#[test]
fn a_repeated_write_completes_what_an_earlier_write_stored() {
    let folder = std::env::temp_dir().join(format!("chicane-journal-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    for stored in 0..=3 {
        let data = Data::open(&folder.join(stored.to_string())).expect("opens");
        let records = data.records();
        let number = records.begin(&session()).expect("begun");
        records.add(number, addition(0, &["{\"k\":0}".to_owned()])).expect("added");
        let rest = unwritten(number);
        records.add(number, addition(1, &rest.lines[..stored])).expect("added");
        for _ in 0..2 {
            rest.write_again(&data).expect("written");
        }
        let events = ["{\"k\":0}", "{\"k\":1}", "{\"k\":2}", "{\"k\":3}"];
        assert_eq!(records.events(number).expect("read"), events, "{stored} stored");
        let row = records.session(Some("a"), None).expect("read").expect("a session");
        assert_eq!((row.result, row.start.identity.student), (Some(rest.result), Some("ada".to_owned())));
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_record_that_is_not_on_disk_is_shown_from_memory() {
    let rest = unwritten(5);
    let mut row =
        SessionRow { number: 5, start: session(), record: "null".to_owned(), elapsed_s: 0.0, result: None };
    let mut events = vec!["{\"k\":0}".to_owned()];
    let mut other = SessionRow { number: 4, ..row.clone() };
    rest.complete(&mut other, &mut events);
    assert_eq!((other.result, events.len()), (None, 1), "another session was changed");
    rest.complete(&mut row, &mut events);
    assert_eq!((row.record.as_str(), events.len()), ("7.5", 4));
    assert_eq!(row.start.identity.student.as_deref(), Some("ada"));
    // The row has a result now, so another call must not add the events again.
    rest.complete(&mut row, &mut events);
    assert_eq!(events.len(), 4);
}
