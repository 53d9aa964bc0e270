//! The WebSocket `/audio/stream`: samples are played at the pace of simulated time.

use crate::audio::{ids, play};
use crate::support::{Received, Socket, start_paused, until};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_testkit::http::Events;
use chicane_testkit::sounds::wav;
use serde_json::{Value, json};
use std::time::Instant;

/// Waits for the next event with this name, and returns its data.
fn next(events: &mut Events, name: &str) -> Value {
    serde_json::from_str(&events.next_of(name).data).expect("json")
}

/// Waits for the next event `pcm`, and returns its samples.
fn samples(events: &mut Events) -> Vec<u8> {
    STANDARD.decode(next(events, "pcm")["data"].as_str().expect("text")).expect("base64")
}

#[test]
fn samples_are_sent_to_all_listeners() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut events = simulator.follow("/audio/events");
    let mut socket = simulator.socket("/audio/stream?sample_rate=16000&channels=2&volume=0.5");
    let opened = json!({"id": "a1", "sample_rate": 16_000, "channels": 2});
    assert_eq!(socket.receive(), Received::Text(opened));
    let playing = json!({
        "id": "a1", "kind": "stream", "source": "stream", "format": null, "volume": 0.5, "loop": false,
        "position": 0.0, "duration": null, "sample_rate": 16_000, "channels": 2,
    });
    assert_eq!(robot.get("/audio"), json!({"playing": [playing]}));
    let begun = next(&mut events, "play");
    assert_eq!((&begun["kind"], &begun["url"], &begun["id"]), (&json!("stream"), &json!(null), &json!("a1")));
    // The client sends a quarter of a second of sound in two frames, with an empty frame between
    // them.
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
    assert_eq!(robot.get("/audio")["playing"][0]["position"], 0.25, "the position passed the last sample");
    robot.post("/audio/volume", json!({"id": "a1", "volume": 1}));
    assert_eq!(next(&mut events, "volume"), json!({"id": "a1", "volume": 1.0}));
    socket.close();
    assert_eq!(next(&mut events, "stop"), json!({"id": "a1"}));
    assert!(ids(&mut robot).is_empty());
    assert_eq!(robot.0.get("/audio/file/a1").status, 404);
}

#[test]
fn a_burst_of_samples_is_sent_at_the_pace_of_simulated_time() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut events = simulator.follow("/audio/events");
    let mut socket = simulator.socket("/audio/stream?sample_rate=8000");
    socket.receive();
    // The client sends ten seconds of sound. Each event holds a tenth of a second.
    let sent: Vec<u8> = (0..160_000u32).map(|i| (i % 253) as u8).collect();
    socket.send_bytes(&sent);
    let mut came = Vec::new();
    for _ in 0..21 {
        came.extend(samples(&mut events));
    }
    for _ in 0..3 {
        // The server sends no further samples while more than two seconds of sound are buffered,
        // and 21 events hold 2.1 s. So the next event is about the volume, and the next samples are
        // sent after the step.
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
fn a_stream_ends_if_its_client_disconnects_while_samples_wait() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut socket = simulator.socket("/audio/stream?sample_rate=8000");
    socket.receive();
    socket.send_bytes(&[0; 160_000]);
    socket.disconnect();
    until("the stream ends", || {
        api.step(200);
        ids(&mut robot).is_empty().then_some(())
    });
}

#[test]
fn a_close_frame_behind_a_large_burst_stops_the_sound() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    let mut socket = simulator.socket("/audio/stream?sample_rate=8000");
    socket.receive();
    for _ in 0..6 {
        socket.send_bytes(&[0; 500_000]);
    }
    // The simulation is paused, so three minutes of sound wait in the queue of the server.
    socket.close();
    assert!(ids(&mut robot).is_empty());
}

#[test]
fn a_stream_with_a_full_buffer_ends_while_paused_if_its_client_disconnects() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    let mut stream = simulator.socket("/audio/stream?sample_rate=8000");
    stream.receive();
    for _ in 0..4 {
        // Together, the four messages have the size of the server's queue.
        stream.send_bytes(&[0; 1 << 20]);
    }
    stream.send_bytes(&[0; 1000]);
    assert_eq!(ids(&mut robot), ["a1"]);
    drop(stream);
    until("the stream ends", || ids(&mut robot).is_empty().then_some(()));
}

#[test]
fn tiny_frames_are_merged_into_few_events() {
    let (simulator, _api) = start_paused();
    let mut events = simulator.follow("/audio/events");
    let mut socket = simulator.socket("/audio/stream?sample_rate=24000");
    socket.receive();
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
    // The samples last about 0.2 s, so at most 21 events hold 10 ms of sound or more. Each of the
    // remaining events is sent at least 10 ms after the previous event.
    let most = 25 + began.elapsed().as_millis() / 10;
    assert!(count <= most, "{count} events; at most {most} are allowed");
    socket.close();
}

#[test]
fn the_socket_is_closed_when_its_sound_ends() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let open = || {
        let mut socket = simulator.socket("/audio/stream");
        let Received::Text(opened) = socket.receive() else { panic!("no first frame") };
        (socket, opened["id"].as_str().expect("an id").to_owned())
    };
    let (mut socket, id) = open();
    robot.post("/audio/stop", json!({"id": id}));
    assert_eq!(socket.receive(), Received::Close(1000));
    let (mut socket, _) = open();
    robot.post("/audio/stop", json!({"all": true}));
    assert_eq!(socket.receive(), Received::Close(1000));
    let (mut socket, _) = open();
    play(&mut robot, &wav(8000, 1, 8000), json!({"replace": true}));
    assert_eq!(socket.receive(), Received::Close(1000));
    for path in ["/reset", "/respawn"] {
        let (mut socket, _) = open();
        // Some samples of this stream are still in the queue when the sound ends.
        socket.send_bytes(&[0; 480_000]);
        api.post(path, json!({}));
        assert_eq!(socket.receive(), Received::Close(1000), "{path}");
        assert!(ids(&mut robot).is_empty(), "{path}");
    }
    let (mut socket, id) = open();
    assert_eq!(id, "a1", "a new world numbers its sounds from 1");
    api.post("/switch", json!({"world": "field.world"}));
    assert_eq!(socket.receive(), Received::Close(1000));
}

#[test]
fn invalid_parameters_and_frames_are_refused() {
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
    socket.receive();
    socket.send("{\"value\": 1}");
    let Received::Text(answer) = socket.receive() else { panic!("no reply") };
    assert!(answer["detail"].as_str().is_some_and(|text| text.contains("binary")), "{answer}");
    socket.send_bytes(&[0; 6]);
    assert_eq!(socket.receive(), Received::Close(1003));
    let mut socket = simulator.socket("/audio/stream");
    socket.receive();
    socket.send_bytes(&[0; 3]);
    assert_eq!(socket.receive(), Received::Close(1003));
    let mut socket = simulator.socket("/audio/stream");
    socket.receive();
    socket.send_bytes(&vec![0; (1 << 20) + 2]);
    assert_eq!(socket.receive(), Received::Close(1009));
    until("all streams have ended", || ids(&mut simulator.robot()).is_empty().then_some(()));
}

#[test]
fn a_stream_over_the_limit_is_refused() {
    let (simulator, _api) = start_paused();
    let mut open: Vec<_> = (0..16).map(|_| simulator.socket("/audio/stream")).collect();
    for socket in &mut open {
        socket.receive();
    }
    let mut more = simulator.socket("/audio/stream");
    let Received::Text(answer) = more.receive() else { panic!("no reply") };
    assert!(answer["detail"].as_str().is_some_and(|text| text.contains("too many sounds")), "{answer}");
    assert_eq!(more.receive(), Received::Close(1013));
    open.remove(0).close();
    let mut again = simulator.socket("/audio/stream");
    assert!(matches!(again.receive(), Received::Text(opened) if opened["id"] == "a17"));
}
