//! `GET /audio/events`: the events that tell a page which sounds to play.

use crate::audio::{data, play};
use crate::support::{MAX_STOP_TIME, Received, start, start_paused};
use chicane_testkit::http::{EventWait, Events};
use chicane_testkit::sounds::{BEEP_OGG, wav};
use serde_json::{Value, json};
use std::time::Duration;

fn next(events: &mut Events) -> (String, Value) {
    let event = events.next().expect("an event");
    (event.event, serde_json::from_str(&event.data).expect("json"))
}

/// An event as a pair of name and data.
fn named(name: &str, data: Value) -> (String, Value) {
    (name.to_owned(), data)
}

#[test]
fn events_report_each_change_and_its_time() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut events = simulator.follow("/audio/events");
    api.step(4);
    robot.post("/audio/play", data(BEEP_OGG));
    let begun = |id: &str, position: f64, time: f64| {
        json!({
            "id": id, "kind": "file", "url": format!("/audio/file/{id}"), "format": "ogg", "volume": 1.0,
            "loop": false, "position": position, "duration": 0.25, "sample_rate": 16_000, "channels": 1,
            "time": time,
        })
    };
    assert_eq!(next(&mut events), named("play", begun("a1", 0.0, 0.02)));
    robot.post("/audio/volume", json!({"id": "a1", "volume": 0.5}));
    assert_eq!(next(&mut events), named("volume", json!({"id": "a1", "volume": 0.5})));
    api.step(49);
    robot.post("/audio/play", data(BEEP_OGG));
    assert_eq!(
        next(&mut events),
        named("play", begun("a2", 0.0, 0.265)),
        "the first sound has not ended yet"
    );
    api.step(1);
    assert_eq!(next(&mut events), named("ended", json!({"id": "a1"})));
    robot.post("/audio/stop", json!({"id": "a2"}));
    assert_eq!(next(&mut events), named("stop", json!({"id": "a2"})));
    play(&mut robot, BEEP_OGG, json!({}));
    next(&mut events);
    play(&mut robot, BEEP_OGG, json!({"replace": true}));
    assert_eq!(next(&mut events), named("stop_all", json!({})));
    assert_eq!(next(&mut events).1["id"], "a4");
    for path in ["/reset", "/respawn"] {
        api.post(path, json!({}));
        assert_eq!(next(&mut events), named("stop_all", json!({})), "{path}");
        play(&mut robot, BEEP_OGG, json!({}));
        assert_eq!(next(&mut events).0, "play");
    }
}

#[test]
fn a_late_client_starts_with_the_playing_sounds() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    play(&mut robot, &wav(8000, 1, 80_000), json!({"loop": true, "volume": 0.5}));
    let mut socket = simulator.socket("/audio/stream");
    socket.receive();
    api.step(300);
    play(&mut robot, BEEP_OGG, json!({}));
    let mut events = simulator.follow("/audio/events");
    let all = [0, 1, 2].map(|_| next(&mut events).1);
    assert_eq!(all.each_ref().map(|e| &e["id"]), ["a1", "a2", "a3"]);
    assert_eq!(
        (&all[0]["position"], &all[0]["volume"], &all[0]["loop"]),
        (&json!(1.5), &json!(0.5), &json!(true))
    );
    assert_eq!((&all[1]["kind"], &all[1]["position"]), (&json!("stream"), &json!(0.0)));
    assert_eq!((&all[2]["position"], &all[2]["time"]), (&json!(0.0), &json!(1.5)));
    robot.post("/audio/stop", json!({"all": true}));
    assert_eq!(next(&mut events), named("stop_all", json!({})), "an event was sent twice");
}

#[test]
fn a_client_that_connects_during_changes_gets_each_event_once() {
    let simulator = start();
    let mut robot = simulator.robot();
    let file = wav(8000, 1, 800_000);
    for round in 0..10 {
        let (id, mut events) = std::thread::scope(|scope| {
            let opened = scope.spawn(|| simulator.follow("/audio/events"));
            let id = play(&mut robot, &file, json!({}));
            (id, opened.join().expect("an open stream"))
        });
        // The stream must report the sound once, either in the initial list or as an event.
        robot.post("/audio/stop", json!({"id": id}));
        let mut begun = 0;
        loop {
            match next(&mut events) {
                (name, sound) if name == "play" && sound["id"] == id.as_str() => begun += 1,
                (name, _) if name == "stop" => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(begun, 1, "round {round}");
    }
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_affects_no_other() {
    let (simulator, mut api) = start_paused();
    let mut slow = simulator.follow("/audio/events");
    let mut good = simulator.follow("/audio/events");
    let mut socket = simulator.socket("/audio/stream?sample_rate=48000&channels=2");
    socket.receive();
    // Each event holds a tenth of a second of sound, so there are ten events per second of sound.
    // The server sends up to two seconds of sound in advance, so the first two seconds need no
    // step.
    let second = vec![7; 192_000];
    for i in 0..100 {
        socket.send_bytes(&second);
        if i >= 2 {
            api.step(200);
        }
        for _ in 0..10 {
            good.next_of("pcm");
        }
    }
    let mut received = 0;
    loop {
        match slow.hear(Duration::from_secs(20)) {
            EventWait::Event(_) => received += 1,
            EventWait::End => break,
            EventWait::TimedOut => panic!("the slow client is still connected after {received} events"),
        }
    }
    assert!(received < 1000, "{received}");
    let mut anew = simulator.follow("/audio/events");
    assert_eq!(next(&mut anew).0, "play");
}

#[test]
fn clients_do_not_delay_the_stop_of_the_simulator() {
    let (simulator, _api) = start_paused();
    let mut events = simulator.follow("/audio/events");
    let mut idle = simulator.socket("/audio/stream");
    idle.receive();
    let mut full = simulator.socket("/audio/stream?sample_rate=8000");
    full.receive();
    // These samples exceed the queue of the server, so the server stops reading this socket.
    for _ in 0..5 {
        full.send_bytes(&vec![0; 1 << 20]);
    }
    while events.next_of("pcm").data.is_empty() {}
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
    loop {
        match events.hear(Duration::from_secs(5)) {
            EventWait::Event(_) => {}
            EventWait::End => break,
            EventWait::TimedOut => panic!("a client is still connected"),
        }
    }
    for mut socket in [idle, full] {
        assert!(matches!(socket.receive(), Received::Close(1001) | Received::End));
    }
}
