//! Runs of seeds that change the world: every seed gives another run, the same seed gives the same
//! run to the byte, and every run is verified.

use super::{assert_not_verified, assert_verified, record_in, save};
use crate::support::{TempFolder, chicane, last_line, text};
use chicane_journal::Journal;
use chicane_store::Sum;
use chicane_store::run_file::{pack, unpack};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A program that follows the centre line in lockstep, so the result of its run does not depend on
/// the speed of the machine.
const FOLLOWER: &str = r#"
import json, math, os, urllib.request

def call(path, **body):
    data = json.dumps(body).encode() if body else None
    url = os.environ["CHICANE_URL"] + "/sim/api" + path
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))

route = call("/route")["waypoints"][:-1]
car = call("/state")["vehicle"]
while True:
    here = (car["x"], car["y"])
    at = min(range(len(route)), key=lambda i: math.dist(route[i], here))
    ahead = 0
    while ahead < 0.4:
        at, last = (at + 1) % len(route), at
        ahead += math.dist(route[at], route[last])
    x, y = route[at][0] - here[0], route[at][1] - here[1]
    left = y * math.cos(car["yaw"]) - x * math.sin(car["yaw"])
    car = call("/step", duration=0.05, speed=1.2, steering=math.atan(0.36 * left / (x * x + y * y)))["vehicle"]
"#;

/// The record of a run without the session id and without the fields that depend on the wall clock.
fn comparable(file: &str) -> Value {
    let mut record = record_in(file);
    for name in ["session", "started_at", "ended_at"] {
        record[name] = Value::Null;
    }
    record["judge"]["wait_s"] = Value::Null;
    record
}

#[test]
fn every_seed_gives_another_run_and_the_same_seed_the_same_one() {
    let folder = TempFolder::new("varied-seeds");
    let workspace = folder.workspace("follow.py", FOLLOWER);
    for world in ["oval", "technical"] {
        let run = |name: &str, seed: &str| {
            let arguments = ["--world", world, "--workspace", &workspace, "--command", "python3 follow.py"];
            save(&folder, &format!("{world}-{name}"), &[&arguments[..], &["--seed", seed]].concat())
        };
        let files: Vec<String> = ["0", "1", "2", "3"].iter().map(|seed| run(seed, seed)).collect();
        let records: Vec<Value> = files.iter().map(|file| record_in(file)).collect();
        let scores: BTreeSet<String> = records.iter().map(|record| record["record"].to_string()).collect();
        assert_eq!(scores.len(), 4, "{world}: {scores:?}");
        assert!(records.iter().all(|record| record["outcome"] == "finished"), "{world}: {scores:?}");
        assert_eq!(records[0]["variation"], Value::Null, "seed 0 is the world as published");
        let sums: BTreeSet<&str> =
            records[1..].iter().filter_map(|record| record["variation"]["sha256"].as_str()).collect();
        assert!(sums.len() == 3 && sums.iter().all(|sum| sum.len() == 64), "{world}: {sums:?}");
        for (seed, record) in records.iter().enumerate().skip(1) {
            let keys: Vec<&String> = record["variation"].as_object().expect("an object").keys().collect();
            assert_eq!(keys, ["seed", "sha256"], "{world}");
            assert_eq!(record["variation"]["seed"], seed, "{world}");
        }
        files.iter().for_each(|file| assert_verified(file));
        assert_eq!(comparable(&run("again", "2")), comparable(&files[2]), "{world}");
    }
}

/// A project with everything that a seed can change, and a script that reads the world.
fn varied_project(folder: &TempFolder) -> String {
    let script = "def evaluate(sim):\n    pose, lights = sim.state.pose, sim.state.lights\n    \
                  sim.record([round(pose.x, 6), round(pose.y, 6), sim.state.brightness, sorted(sim.origins), \
                  sorted(lights.items())])\n    if sim.state.time >= 2:\n        sim.finish()\n";
    let path = folder.project(script);
    let mut project: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("read")).expect("JSON");
    project["evaluation"]["config"]["vary"] = json!({
        "start": {"along": [-0.3, 0.3], "across": [-0.05, 0.05], "yaw": [-0.1, 0.1]},
        "objects": {"jitter": 0.1, "turn": 1, "scatter": [2, 4]},
        "lights": {"phase": [0.5, 1.5]},
        "brightness": [0.5, 0.9],
        "friction": [0.5, 0.9],
        "mass": [1.1, 1.3],
        "noise": {"lidar": [2, 3], "imu": [2, 3], "camera": [2, 3]},
        "latency": [0.02, 0.1],
        "surface": ["damp", "wet"],
    });
    folder.file("project.json", &project.to_string())
}

#[test]
fn a_run_with_every_change_is_verified_and_replayed() {
    let folder = TempFolder::new("varied-everything");
    let world = varied_project(&folder);
    let drive = folder.file("drive.csv", "0,0.5,0.1\n1,0.7,-0.1\n");
    let file = save(&folder, "run", &["--world", &world, "--drive", &drive, "--seed", "4"]);
    let record = record_in(&file);
    let brightness = record["record"][2].as_f64().expect("a brightness");
    assert!((0.5..=0.9).contains(&brightness), "{record}");
    let origins = record["record"][3].as_array().expect("names");
    assert!(origins.contains(&json!("extra1")) && origins.contains(&json!("extra2")), "{origins:?}");
    assert_verified(&file);
    let tracks = folder.path("tracks.bin");
    let output = chicane(&["replay", &file, "--tracks", &tracks]);
    assert!(output.status.success(), "{output:?}");
    let shorter = "def evaluate(sim):\n    sim.record(sorted(sim.objects))\n    if sim.state.time >= 1:\n        sim.finish()\n";
    let output = chicane(&["rejudge", &file, "--script", &folder.file("shorter.py", shorter)]);
    assert!(output.status.success() && text(&output.stdout).contains("extra1"), "{output:?}");
}

/// Changes a run, and asserts that the change is found. `found` is a part of the line that names
/// the difference.
fn assert_found(file: &str, folder: &TempFolder, found: &str, change: impl FnOnce(&mut Value, &mut Journal)) {
    let mut parts = unpack(&std::fs::read(file).expect("read")).expect("unpacked");
    let mut record: Value = serde_json::from_slice(&parts["record.json"]).expect("JSON");
    let mut journal = Journal::decode(&parts["journal"]).expect("a journal");
    change(&mut record, &mut journal);
    let bytes = journal.encode().expect("encoded");
    record["journal"] = json!({"sha256": Sum::of(&bytes).hex(), "bytes": bytes.len()});
    parts.insert("journal".to_owned(), bytes);
    parts.insert("record.json".to_owned(), record.to_string().into_bytes());
    let false_file = folder.path("false.chicane");
    std::fs::write(&false_file, pack(&parts)).expect("written");
    let line = assert_not_verified(&false_file);
    assert!(line.contains(found), "{line}");
}

#[test]
fn a_false_variation_is_found() {
    let folder = TempFolder::new("varied-false");
    let world = varied_project(&folder);
    let drive = folder.file("drive.csv", "0,0.5,0.1\n");
    let file = save(&folder, "run", &["--world", &world, "--drive", &drive, "--seed", "4"]);
    assert_found(&file, &folder, "\"variation\" in the record", |record, _| {
        record["variation"] = Value::Null
    });
    assert_found(&file, &folder, "the seed changes the world in another way", |_, journal| {
        journal.head.variation = Value::Null;
    });
    assert_found(&file, &folder, "\"variation\" in the record", |record, journal| {
        record["seed"] = json!(5);
        journal.head.seed = 5;
    });
    assert_found(&file, &folder, "brightness", |_, journal| journal.head.brightness = 1.0);
}

#[test]
fn a_wrong_document_is_refused_with_its_place() {
    let folder = TempFolder::new("varied-wrong");
    let path = varied_project(&folder);
    let project: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("read")).expect("JSON");
    let with = |vary: Value| {
        let mut project = project.clone();
        project["evaluation"]["config"]["vary"] = vary;
        let path = folder.file("wrong.json", &project.to_string());
        let output = chicane(&["check", &path]);
        assert!(!output.status.success(), "{output:?}");
        last_line(&output.stderr)
    };
    let line = with(json!({"frictoin": [1, 1]}));
    assert!(line.contains("evaluation.config.vary.frictoin is not a known field"), "{line}");
    let line = with(json!({"latency": [0, 3]}));
    assert!(
        line.contains("evaluation.config.vary.latency must be [least, most] with numbers from 0 to 0.5"),
        "{line}"
    );
    // This part changes the evaluation of a built world, as a person could do by hand.
    let built = folder.path("built");
    assert!(chicane(&["build", &path, "-o", &built]).status.success());
    let evaluation = std::path::Path::new(&built).join("evaluations/loop.json");
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(&evaluation).expect("read")).expect("JSON");
    assert_eq!(document["config"]["vary"], project["evaluation"]["config"]["vary"], "a bundle carries it");
    document["config"]["vary"]["mass"] = json!([2, 1]);
    std::fs::write(&evaluation, document.to_string()).expect("written");
    let output = chicane(&["check", &built]);
    let line = last_line(&output.stderr);
    assert!(!output.status.success(), "{output:?}");
    assert!(
        line.contains("evaluations/loop.json:1:")
            && line.contains("vary.mass must have its smaller number first"),
        "{line}"
    );
}

#[test]
fn check_says_what_a_seed_changes() {
    let folder = TempFolder::new("varied-check");
    let project = varied_project(&folder);
    for target in [project.as_str(), "oval"] {
        let output = chicane(&["check", target]);
        let shown = text(&output.stdout);
        let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with("seed       ")).collect();
        assert!(lines.len() > 8, "{shown}");
        assert!(lines.iter().any(|line| line.starts_with("seed       start along the road: -0.")), "{shown}");
    }
}
