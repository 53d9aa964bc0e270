//! The WebSocket `/audio/stream`: samples at the pace of simulated time.

use crate::audio::{ids, play};
use crate::support::{Socket, Spoken, start_paused, until};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_testkit::http::Events;
use chicane_testkit::sounds::wav;
use serde_json::{Value, json};
use std::time::Instant;

/// Data of the next event of a name.
fn next(events: &mut Events, name: &str) -> Value {
    serde_json::from_str(&events.next_of(name).data).expect("json")
}

/// Samples of the next event with some.
fn samples(events: &mut Events) -> Vec<u8> {
    STANDARD.decode(next(events, "pcm")["data"].as_str().expect("text")).expect("base64")
}

#[test]
fn samples_go_from_a_client_to_whoever_listens() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut events = simulator.follow("/audio/events");
    let mut socket = simulator.socket("/audio/stream?sample_rate=16000&channels=2&volume=0.5");
    let opened = json!({"id": "a1", "sample_rate": 16_000, "channels": 2});
    assert_eq!(socket.hear(), Spoken::Text(opened));
    let playing = json!({
        "id": "a1", "kind": "stream", "source": "stream", "format": null, "volume": 0.5, "loop": false,
        "position": 0.0, "duration": null, "sample_rate": 16_000, "channels": 2,
    });
    assert_eq!(robot.get("/audio"), json!({"playing": [playing]}));
    let begun = next(&mut events, "play");
    assert_eq!((&begun["kind"], &begun["url"], &begun["id"]), (&json!("stream"), &json!(null), &json!("a1")));
    // A quarter of a second in two frames.
    let sent: Vec<u8> = (0..16_000u32).map(|i| (i % 251) as u8).collect();
    socket.send_bytes(&sent[..640]);
    socket.send_bytes(&[]);
    socket.send_bytes(&sent[640..]);
    let mut came = Vec::new();
    while came.len() < sent.len() {
        came.extend(samples(&mut events));
    }
    assert_eq!(came, sent);
    api.step(20);
    assert_eq!(robot.get("/audio")["playing"][0]["position"], 0.1);
    api.step(200);
    assert_eq!(robot.get("/audio")["playing"][0]["position"], 0.25, "nothing more came");
    robot.post("/audio/volume", json!({"id": "a1", "volume": 1}));
    assert_eq!(next(&mut events, "volume"), json!({"id": "a1", "volume": 1.0}));
    socket.close();
    assert_eq!(next(&mut events, "stop"), json!({"id": "a1"}));
    assert!(ids(&mut robot).is_empty());
    assert_eq!(robot.0.get("/audio/file/a1").status, 404);
}

#[test]
fn a_whole_file_at_once_is_taken_at_the_pace_of_simulated_time() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut events = simulator.follow("/audio/events");
    let mut socket = simulator.socket("/audio/stream?sample_rate=8000");
    socket.hear();
    // Ten seconds; pieces are a tenth of one.
    let sent: Vec<u8> = (0..160_000u32).map(|i| (i % 253) as u8).collect();
    socket.send_bytes(&sent);
    let mut came = Vec::new();
    for _ in 0..21 {
        came.extend(samples(&mut events));
    }
    for _ in 0..3 {
        // Two seconds ahead, and not more until time has passed.
        robot.post("/audio/volume", json!({"id": "a1", "volume": 1}));
        assert_eq!(events.next().expect("an event").event, "volume");
        api.step(20);
        came.extend(samples(&mut events));
    }
    while came.len() < sent.len() {
        api.step(200);
        let due = (sent.len() - came.len()).min(16_000);
        let before = came.len();
        while came.len() < before + due {
            came.extend(samples(&mut events));
        }
    }
    assert_eq!(came, sent);
    socket.close();
}

#[test]
fn a_client_that_hangs_up_while_its_samples_wait_is_forgotten() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut socket = simulator.socket("/audio/stream?sample_rate=8000");
    socket.hear();
    socket.send_bytes(&[0; 160_000]);
    socket.hang_up();
    until("it is gone", || {
        api.step(200);
        ids(&mut robot).is_empty().then_some(())
    });
}

#[test]
fn a_close_is_a_stop_also_behind_a_large_burst() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    let mut socket = simulator.socket("/audio/stream?sample_rate=8000");
    socket.hear();
    for _ in 0..6 {
        socket.send_bytes(&[0; 500_000]);
    }
    // Three minutes wait for their time, which stands still.
    socket.close();
    assert!(ids(&mut robot).is_empty());
}

#[test]
fn a_client_that_sent_more_than_is_held_and_vanished_is_forgotten_while_time_stands_still() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    let mut stream = simulator.socket("/audio/stream?sample_rate=8000");
    stream.hear();
    for _ in 0..4 {
        // One less would be read to its end.
        stream.send_bytes(&[0; 1 << 20]);
    }
    stream.send_bytes(&[0; 1000]);
    assert_eq!(ids(&mut robot), ["a1"]);
    drop(stream);
    until("it is gone", || ids(&mut robot).is_empty().then_some(()));
}

#[test]
fn thousands_of_tiny_frames_become_a_few_events() {
    let (simulator, _api) = start_paused();
    let mut events = simulator.follow("/audio/events");
    let mut socket = simulator.socket("/audio/stream?sample_rate=24000");
    socket.hear();
    let sent: Vec<u8> = (0..10_000u32).map(|i| (i % 251) as u8).collect();
    let began = Instant::now();
    for frame in sent.chunks(2) {
        socket.send_bytes(frame);
    }
    let (mut came, mut count) = (Vec::new(), 0);
    while came.len() < sent.len() {
        came.extend(samples(&mut events));
        count += 1;
    }
    assert_eq!(came, sent);
    // A hundredth of a second each at least, of sound or of time.
    let most = 25 + began.elapsed().as_millis() / 10;
    assert!(count <= most, "{count} events, at most {most}");
    socket.close();
}

#[test]
fn whatever_ends_a_sound_ends_its_socket() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let open = || {
        let mut socket = simulator.socket("/audio/stream");
        let Spoken::Text(opened) = socket.hear() else { panic!("no first frame") };
        (socket, opened["id"].as_str().expect("an id").to_owned())
    };
    let (mut socket, id) = open();
    robot.post("/audio/stop", json!({"id": id}));
    assert_eq!(socket.hear(), Spoken::Close(1000));
    let (mut socket, _) = open();
    robot.post("/audio/stop", json!({"all": true}));
    assert_eq!(socket.hear(), Spoken::Close(1000));
    let (mut socket, _) = open();
    play(&mut robot, &wav(8000, 1, 8000), json!({"replace": true}));
    assert_eq!(socket.hear(), Spoken::Close(1000));
    for path in ["/reset", "/respawn"] {
        let (mut socket, _) = open();
        // Also one whose samples wait.
        socket.send_bytes(&[0; 480_000]);
        api.post(path, json!({}));
        assert_eq!(socket.hear(), Spoken::Close(1000), "{path}");
        assert!(ids(&mut robot).is_empty(), "{path}");
    }
    let (mut socket, id) = open();
    assert_eq!(id, "a1", "a new world counts anew, and nothing of the old one leaked into it");
    api.post("/switch", json!({"world": "field.world"}));
    assert_eq!(socket.hear(), Spoken::Close(1000));
}

#[test]
fn nonsense_is_refused_before_and_after_the_handshake() {
    let (simulator, _api) = start_paused();
    for query in [
        "sample_rate=7999",
        "sample_rate=48001",
        "sample_rate=fast",
        "sample_rate=",
        "channels=0",
        "channels=3",
        "volume=1.1",
        "volume=-1",
        "volume=NaN",
    ] {
        let refused = Socket::try_open(simulator.address, &format!("/audio/stream?{query}"), &[]);
        assert_eq!(refused.err(), Some(422), "{query}");
    }
    assert_eq!(simulator.client().get("/audio/stream").status, 426);
    let mut socket = simulator.socket("/audio/stream?channels=2");
    socket.hear();
    socket.send("{\"value\": 1}");
    let Spoken::Text(answer) = socket.hear() else { panic!("no answer") };
    assert!(answer["detail"].as_str().is_some_and(|text| text.contains("binary")), "{answer}");
    socket.send_bytes(&[0; 6]);
    assert_eq!(socket.hear(), Spoken::Close(1003));
    let mut socket = simulator.socket("/audio/stream");
    socket.hear();
    socket.send_bytes(&[0; 3]);
    assert_eq!(socket.hear(), Spoken::Close(1003));
    let mut socket = simulator.socket("/audio/stream");
    socket.hear();
    socket.send_bytes(&vec![0; (1 << 20) + 2]);
    assert_eq!(socket.hear(), Spoken::Close(1009));
    until("all are gone", || ids(&mut simulator.robot()).is_empty().then_some(()));
}

#[test]
fn one_stream_too_many_is_told_so() {
    let (simulator, _api) = start_paused();
    let mut open: Vec<_> = (0..16).map(|_| simulator.socket("/audio/stream")).collect();
    for socket in &mut open {
        socket.hear();
    }
    let mut more = simulator.socket("/audio/stream");
    let Spoken::Text(answer) = more.hear() else { panic!("no answer") };
    assert!(answer["detail"].as_str().is_some_and(|text| text.contains("too many sounds")), "{answer}");
    assert_eq!(more.hear(), Spoken::Close(1013));
    open.remove(0).close();
    let mut again = simulator.socket("/audio/stream");
    assert!(matches!(again.hear(), Spoken::Text(opened) if opened["id"] == "a17"));
}
