//! Recordings as MCAP files. The tests in `clients/recordings` compare the messages with the
//! responses of the API.

use crate::support::{Setup, TempFolder, number, pretty, setup, start_paused, until};
use chicane_recording::RecordingOptions;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn recording_in(folder: &TempFolder, change: impl FnOnce(&mut RecordingOptions)) -> Setup {
    let mut options = RecordingOptions { min_free_bytes: 0, ..RecordingOptions::new(folder.path()) };
    change(&mut options);
    setup().recording(options)
}

/// Names of the files in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// The numbers of messages per topic, and the first and the last tick.
fn contents(file: &Path) -> (BTreeMap<String, usize>, [u64; 2]) {
    let bytes = std::fs::read(file).expect("a file");
    let (mut counts, mut times) = (BTreeMap::new(), [u64::MAX, 0]);
    for message in mcap::MessageStream::new(&bytes).expect("an MCAP file") {
        let message = message.expect("a message");
        *counts.entry(message.channel.topic.clone()).or_default() += 1;
        times = [times[0].min(message.log_time), times[1].max(message.log_time)];
    }
    (counts, times.map(|ns| ns / 5_000_000))
}

#[test]
fn a_recording_is_started_and_stopped() {
    let (simulator, mut api) = start_paused();
    let folder = simulator.folder().join("recordings");
    let none = api.get("/recording");
    assert_eq!((&none["active"], &none["file"], &none["messages"]), (&json!(false), &Value::Null, &json!(0)));
    assert!(!folder.exists());
    api.step(100);
    let started = api.post("/recording/start", json!({}))["recording"].clone();
    assert_eq!((&started["active"], &started["file"]), (&json!(true), &json!("000001-oval-0.500s.mcap")));
    let (status, text) = api.refused("/recording/start", json!({}));
    assert_eq!((status, text.as_str()), (409, "a recording is in progress; stop it first"));
    api.step(200);
    let stopped = api.post("/recording/stop", json!({}))["recording"].clone();
    assert_eq!((&stopped["active"], &stopped["failure"]), (&json!(false), &Value::Null));
    assert_eq!((number(&stopped["duration"]), &stopped["dropped_ticks"]), (1.0, &json!(0)));
    assert_eq!(api.get("/recording"), stopped);
    let file = folder.join("000001-oval-0.500s.mcap");
    let (counts, ticks) = contents(&file);
    assert_eq!(ticks, [100, 300]);
    assert_eq!(stopped["messages"], counts.values().sum::<usize>());
    assert_eq!(stopped["bytes"], std::fs::metadata(&file).expect("a file").len());
    let images = counts.get("/camera/image_raw/compressed").copied().unwrap_or(0);
    let images = images + number(&stopped["skipped_images"]) as usize;
    assert_eq!((counts["/clock"], counts["/scan"], counts["/sim/state"], images), (200, 10, 31, 15));
    // A stop without a recording changes nothing.
    assert_eq!(api.post("/recording/stop", json!({}))["recording"], stopped);
}

#[test]
fn images_and_states_can_be_left_out() {
    let (simulator, mut api) = start_paused();
    for body in [json!({"camera": 1}), json!({"state": "no"}), json!([])] {
        assert_eq!(api.refused("/recording/start", body).0, 400);
    }
    api.post("/recording/start", json!({"camera": false, "state": false}));
    api.step(40);
    let stopped = api.post("/recording/stop", json!({}))["recording"].clone();
    let (counts, _) =
        contents(&simulator.folder().join("recordings").join(stopped["file"].as_str().expect("a file")));
    assert!(!counts.contains_key("/camera/image_raw/compressed") && !counts.contains_key("/sim/state"));
    assert_eq!(counts["/clock"], 40);
}

#[test]
fn a_respawn_and_a_switch_begin_a_new_file() {
    let (simulator, mut api) = start_paused();
    api.post("/recording/start", json!({"camera": false}));
    api.step(20);
    api.post("/pose", json!({"x": 1.0, "y": 1.0}));
    api.step(20);
    api.post("/respawn", json!({}));
    api.post("/switch", json!({"world": "technical"}));
    api.step(40);
    let stopped = api.post("/recording/stop", json!({}))["recording"].clone();
    assert_eq!(stopped["files"], 3);
    let folder = simulator.folder().join("recordings");
    let wanted = ["000001-oval-0.000s.mcap", "000002-oval-0.000s.mcap", "000003-technical-0.000s.mcap"];
    assert_eq!(names(&folder), wanted);
    let (counts, ticks) = contents(&folder.join(wanted[0]));
    // Placing the car changes the epoch, so there is a second message about the epoch.
    assert_eq!((counts["/sim/epoch"], ticks), (2, [0, 40]));
    assert_eq!(contents(&folder.join(wanted[2])).1, [0, 40]);
}

#[test]
fn files_are_limited_in_size_and_the_oldest_are_removed() {
    let folder = Arc::new(TempFolder::new());
    let limits = |options: &mut RecordingOptions| {
        (options.max_file_bytes, options.max_folder_bytes) = (100_000, 250_000);
    };
    let (_simulator, mut api) = recording_in(&folder, limits).start_paused();
    api.post("/recording/start", json!({"camera": false}));
    for second in 1..=10 {
        api.step(200);
        until("the ticks are recorded", || {
            let now = api.get("/recording");
            assert_eq!((&now["active"], &now["dropped_ticks"]), (&json!(true), &json!(0)), "{now}");
            (number(&now["duration"]) == f64::from(second)).then_some(())
        });
    }
    let stopped = api.post("/recording/stop", json!({}))["recording"].clone();
    let files = number(&stopped["files"]);
    assert!(files >= 5.0, "{stopped}");
    let left = names(folder.path());
    assert!((1..=4).contains(&left.len()) && !left[0].starts_with("000001-"), "{left:?}");
    assert!(left.last().is_some_and(|name| stopped["file"] == name.as_str()), "{left:?}");
    let mut next = None;
    for name in &left {
        let (counts, ticks) = contents(&folder.path().join(name));
        assert_eq!((counts["/tf_static"], counts["/sim/epoch"]), (1, 1), "{name}");
        assert!(next.is_none_or(|next| ticks[0] == next), "{name}: {ticks:?} {next:?}");
        next = Some(ticks[1] + 1);
    }
    assert_eq!(next, Some(2001));
}

#[test]
fn a_recording_ends_with_a_reason_if_the_disk_is_nearly_full() {
    let folder = Arc::new(TempFolder::new());
    let (_simulator, mut api) =
        recording_in(&folder, |options| options.min_free_bytes = u64::MAX).start_paused();
    let (status, text) = api.refused("/recording/start", json!({}));
    assert_eq!(status, 500);
    assert!(text.contains("MiB of free space"), "{text}");
    assert_eq!(api.get("/recording")["active"], false);
}

#[test]
fn a_recording_ends_with_a_reason_if_its_folder_disappears() {
    let folder = Arc::new(TempFolder::new());
    let limits = |options: &mut RecordingOptions| options.max_file_bytes = 50_000;
    let (_simulator, mut api) = recording_in(&folder, limits).start_paused();
    api.post("/recording/start", json!({"camera": false}));
    std::fs::remove_dir_all(folder.path()).expect("removed");
    std::fs::write(folder.path(), b"a file instead of the folder").expect("a file");
    let ended = until("the recording ends", || {
        api.step(100);
        let now = api.get("/recording");
        (now["active"] == false).then_some(now)
    });
    std::fs::remove_file(folder.path()).expect("removed");
    let failure = ended["failure"].as_str().expect("a reason");
    assert!(failure.contains("can't be used"), "{failure}");
    // The next recording can be started.
    let started = api.post("/recording/start", json!({"camera": false}))["recording"].clone();
    assert_eq!((&started["active"], &started["failure"]), (&json!(true), &Value::Null));
}

#[test]
fn a_simulator_records_from_its_first_tick_and_ends_the_file_when_it_stops() {
    let folder = Arc::new(TempFolder::new());
    let simulator = recording_in(&folder, |_| {}).record_at_once().start();
    let mut api = simulator.api();
    until("ticks are recorded", || (number(&api.get("/recording")["duration"]) > 0.1).then_some(()));
    simulator.stop();
    let files = names(folder.path());
    assert_eq!(files, ["000001-oval-0.000s.mcap"]);
    let (counts, ticks) = contents(&folder.path().join(&files[0]));
    assert_eq!(ticks[0], 0);
    assert!(counts["/clock"] > 20, "{counts:?}");
}

#[test]
fn a_folder_that_cannot_be_used_is_an_error_at_the_start() {
    let folder = Arc::new(TempFolder::new());
    std::fs::write(folder.path().join("file"), b"").expect("a file");
    let setup = setup().recording(RecordingOptions::new(folder.path().join("file"))).record_at_once();
    let Err(error) = setup.try_start() else { panic!("started") };
    assert!(error.to_string().contains("choose another one with --record"), "{error}");
}

#[test]
fn the_response_has_all_fields() {
    let (_simulator, mut api) = start_paused();
    let mut started = api.post("/recording/start", json!({}));
    started["recording"]["folder"] = json!("…");
    started["recording"]["bytes"] = json!(0);
    insta::assert_snapshot!(pretty(&started));
}
