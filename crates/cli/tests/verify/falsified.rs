//! Falsified runs are found: changed bytes, and changes by someone who computes checksums again.

use super::{assert_not_verified, save};
use crate::support::{TempFolder, chicane, text};
use chicane_journal::{Change, Entries, Journal, Recorder, RobotOrder, Sink};
use chicane_store::Sum;
use chicane_store::run_file::{Parts, pack, unpack};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

const SCRIPT: &str = "def evaluate(sim):\n    print(round(sim.state.pose.x, 3))\n    sim.record(round(sim.state.time, 2))\n    \
                      if sim.state.time >= 2.5:\n        sim.finish()\n";

/// The parts of the file of a true run, and its bytes.
fn true_run(folder: &TempFolder) -> (Parts, Vec<u8>) {
    let world = folder.project(SCRIPT);
    let drive = folder.file("drive.csv", "0,0.5,0.1\n1,0.7,-0.1\n");
    let file = save(folder, "true", &["--world", &world, "--drive", &drive]);
    let bytes = std::fs::read(file).expect("read");
    (unpack(&bytes).expect("unpacked"), bytes)
}

fn record_of(parts: &Parts) -> Value {
    serde_json::from_slice(&parts["record.json"]).expect("JSON")
}

/// Replaces the record and its events in the parts of a run. The events are inserted as text,
/// because the verification compares their text.
fn with_text(parts: &Parts, record: &Value, events: &[String]) -> Parts {
    let mut record = record.clone();
    record.as_object_mut().expect("an object").remove("events");
    let text = record.to_string();
    let text = format!("{},\"events\":[{}]}}", text.strip_suffix('}').expect("an object"), events.join(","));
    let mut parts = parts.clone();
    parts.insert("record.json".to_owned(), text.into_bytes());
    parts
}

/// The events of the record, each as its text.
fn events_of(parts: &Parts) -> Vec<String> {
    type Record = std::collections::BTreeMap<String, Box<RawValue>>;
    let record: Record = serde_json::from_slice(&parts["record.json"]).expect("JSON");
    let events: Vec<Box<RawValue>> = serde_json::from_str(record["events"].get()).expect("a list");
    events.iter().map(|event| event.get().to_owned()).collect()
}

/// Changes the record.
fn with_record(parts: &Parts, change: impl FnOnce(&mut Value)) -> Parts {
    let mut record = record_of(parts);
    change(&mut record);
    with_text(parts, &record, &events_of(parts))
}

/// Changes the events.
fn with_events(parts: &Parts, change: impl FnOnce(&mut Vec<String>)) -> Parts {
    let mut events = events_of(parts);
    change(&mut events);
    with_text(parts, &record_of(parts), &events)
}

/// Changes the journal. Writes the checksums of journal and script, and the seed, into the record.
fn with_journal(parts: &Parts, change: impl FnOnce(&mut Journal)) -> Parts {
    let mut journal = Journal::decode(&parts["journal"]).expect("a journal");
    change(&mut journal);
    let bytes = journal.encode().expect("encoded");
    let mut parts = with_record(parts, |record| {
        record["journal"] = json!({"sha256": Sum::of(&bytes).hex(), "bytes": bytes.len()});
        record["judge"]["sha256"] = json!(Sum::of(journal.head.script.as_bytes()).hex());
        record["seed"] = json!(journal.head.seed);
    });
    parts.insert("journal".to_owned(), bytes);
    parts
}

/// Changes the entries in the journal's stream of changes. If `change` returns `None`, the entry is
/// removed.
fn with_changes(parts: &Parts, mut change: impl FnMut(u64, Change) -> Option<Change>) -> Parts {
    with_journal(parts, |journal| {
        let sink = Arc::<Sink>::default();
        let (mut recorder, mut entries) =
            (Recorder::new(Arc::clone(&sink)), Entries::new(journal.changes.clone()));
        while let Some(entry) = entries.read().expect("read") {
            if let Some(changed) = change(entry.tick, entry.change) {
                recorder.put(entry.tick, &changed);
            }
        }
        journal.changes = sink.take();
    })
}

/// Sets another speed if a change is a drive command with a speed. Returns every other change as it
/// is.
fn faster(change: Change) -> Change {
    match change {
        Change::Robot { sender, order: RobotOrder::Drive { speed: Some(_), steering } } => {
            Change::Robot { sender, order: RobotOrder::Drive { speed: Some(1.5), steering } }
        }
        other => other,
    }
}

/// Falsified runs, each with a name. The falsifier has computed the checksums of file, journal and
/// script again.
fn clever(parts: &Parts) -> Vec<(&'static str, Parts)> {
    let log =
        events_of(parts).iter().position(|event| event.contains("\"kind\":\"log\"")).expect("a log line");
    let world = parts.keys().find(|name| name.ends_with(".world")).expect("a world file").clone();
    let mut other_world = parts.clone();
    let text = String::from_utf8(parts[&world].clone()).expect("UTF-8");
    other_world.insert(world.clone(), text.replacen("0.", "0.0", 1).into_bytes());
    let mut no_world = parts.clone();
    no_world.retain(|name, _| !name.starts_with("world/"));
    let mut last_tick = 0;
    let _ = with_changes(parts, |tick, change| {
        last_tick = tick;
        Some(change)
    });
    vec![
        ("record", with_record(parts, |record| record["record"] = json!(1.0))),
        ("outcome", with_record(parts, |record| record["outcome"] = json!("timeout"))),
        ("reason", with_record(parts, |record| record["reason"] = json!("none"))),
        ("elapsed", with_record(parts, |record| record["elapsed_s"] = json!(2.0))),
        ("observations", with_record(parts, |record| record["judge"]["observations"] = json!(1))),
        ("time limit", with_record(parts, |record| record["time_limit_s"] = json!(30))),
        ("profile", with_record(parts, |record| record["profile_sha256"] = json!("00"))),
        ("world sum", with_record(parts, |record| record["world_sha256"] = json!("00"))),
        ("version", with_record(parts, |record| record["chicane"]["version"] = json!("9.9.9"))),
        ("interference", with_record(parts, |record| record["interference"]["count"] = json!(1))),
        (
            "log line",
            with_events(parts, |events| events[log] = events[log].replace("\"line\":\"", "\"line\":\"9")),
        ),
        (
            "event time",
            with_events(parts, |events| events[log] = events[log].replace("\"time\":", "\"time\":1")),
        ),
        ("event removed", with_events(parts, |events| drop(events.remove(log)))),
        ("event added", with_events(parts, |events| events.push(events[log].clone()))),
        ("seed", with_journal(parts, |journal| journal.head.seed += 1)),
        ("script", with_journal(parts, |journal| journal.head.script = SCRIPT.replace("2.5", "2.0"))),
        ("profile mass", with_journal(parts, |journal| journal.head.profile["mass_kg"] = json!(1.0))),
        ("steps", with_journal(parts, |journal| journal.steps.truncate(journal.steps.len() / 2))),
        ("faster", with_changes(parts, |_, change| Some(faster(change)))),
        ("one command less", {
            let mut is_first = true;
            with_changes(parts, |_, change| {
                let is_drive = matches!(change, Change::Robot { .. });
                let drop_it = is_drive && std::mem::take(&mut is_first);
                (!drop_it).then_some(change)
            })
        }),
        ("no hashes and faster", {
            with_changes(parts, |_, change| match change {
                Change::State(_) => None,
                other => Some(faster(other)),
            })
        }),
        ("one hash", {
            with_changes(parts, |_, change| match change {
                Change::State(mut hashes) => {
                    hashes[3] ^= 1;
                    Some(Change::State(hashes))
                }
                other => Some(other),
            })
        }),
        ("fewer observations", {
            let mut number = 0;
            with_changes(parts, |_, change| {
                number += u64::from(matches!(change, Change::Observed { .. }));
                (number != 40 || !matches!(change, Change::Observed { .. })).then_some(change)
            })
        }),
        ("cut", with_changes(parts, |tick, change| (tick < last_tick / 2).then_some(change))),
        ("no journal entries", with_changes(parts, |_, _| None)),
        ("other world", other_world),
        ("no world", no_world),
    ]
}

#[test]
fn changes_with_correct_checksums_are_found() {
    let folder = TempFolder::new("verify-clever");
    let (parts, _) = true_run(&folder);
    let cases = clever(&parts);
    let falsified = folder.path("falsified");
    std::fs::create_dir(&falsified).expect("a folder");
    for (name, parts) in &cases {
        let file = format!("{falsified}/{}.chicane", name.replace(' ', "-"));
        std::fs::write(file, pack(parts)).expect("written");
    }
    let output = chicane(&["verify", &falsified]);
    let lines = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{lines}");
    assert_eq!(lines.lines().filter(|line| line.starts_with("verified")).count(), 0, "{lines}");
    assert_eq!(lines.lines().count(), cases.len(), "{lines}");
    // The line about a run names the tick and the part of the first difference.
    let line = |name: &str| {
        let found = lines.lines().find(|line| line.contains(&format!("/{name}.chicane")));
        found.unwrap_or_else(|| panic!("{name}: {lines}")).to_owned()
    };
    assert!(line("one-hash").contains("tick 200 (1.000 s): the state of"), "{}", line("one-hash"));
    assert!(line("faster").contains("tick "), "{}", line("faster"));
    let says = "\"record\" in the record is 1.0 instead of 2.5";
    assert!(line("record").contains(says), "{}", line("record"));
}

#[test]
fn changed_bytes_are_found() {
    let folder = TempFolder::new("verify-bytes");
    let (_, bytes) = true_run(&folder);
    let step = bytes.len() / 200;
    for number in 0..200 {
        let mut changed = bytes.clone();
        changed[number * step] ^= 1 << (number % 8);
        assert!(unpack(&changed).is_err(), "byte {}", number * step);
    }
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 0x10;
    let file = folder.path("changed.chicane");
    std::fs::write(&file, &changed).expect("written");
    let line = assert_not_verified(&file);
    assert!(line.contains("damaged") && line.contains("its checksum is wrong"), "{line}");
    for (name, content) in [("empty", &b""[..]), ("text", b"hello"), ("cut", &bytes[..bytes.len() - 1])] {
        std::fs::write(&file, content).expect("written");
        let line = assert_not_verified(&file);
        assert!(line.starts_with("damaged "), "{name}: {line}");
    }
}
