//! The loudspeaker: playback, duration and volume, all in simulated time.

use crate::support::{LoadGate, Robot, detail, json as parsed, number, plain, setup, start, start_paused};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_testkit::sounds::{BEEP_FLAC, BEEP_MP3, BEEP_OGG, wav};
use serde_json::{Value, json};

/// A request body whose field `data` holds this file in base64.
pub(crate) fn data(file: &[u8]) -> Value {
    json!({"data": STANDARD.encode(file)})
}

/// Plays a file and returns the id of the sound. `more` holds additional fields of the request.
pub(crate) fn play(robot: &mut Robot, file: &[u8], more: Value) -> String {
    let mut body = data(file);
    for (name, value) in more.as_object().expect("fields") {
        body[name] = value.clone();
    }
    robot.post("/audio/play", body)["id"].as_str().expect("an id").to_owned()
}

/// Ids of the sounds that are playing.
pub(crate) fn ids(robot: &mut Robot) -> Vec<String> {
    let playing = robot.get("/audio")["playing"].clone();
    let id = |sound: &Value| sound["id"].as_str().expect("an id").to_owned();
    playing.as_array().expect("a list").iter().map(id).collect()
}

fn refused(robot: &mut Robot, path: &str, body: &Value) -> (u16, String) {
    detail(&robot.0.post(path, &body.to_string()))
}

#[test]
fn a_file_plays_for_its_length_in_simulated_time() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    api.step(3);
    let file = wav(8000, 1, 8000);
    let (played, time) = robot.post_at("/audio/play", data(&file));
    assert_eq!(played, json!({"success": true, "id": "a1", "duration": 1.0}));
    assert_eq!(time, 0.015);
    let sound = |position: f64| {
        json!({
            "id": "a1", "kind": "file", "source": "data", "format": "wav", "volume": 1.0, "loop": false,
            "position": position, "duration": 1.0, "sample_rate": 8000, "channels": 1,
        })
    };
    assert_eq!(robot.get("/audio"), json!({"playing": [sound(0.0)]}));
    api.step(100);
    let (playing, time) = robot.get_at("/audio");
    assert_eq!((playing, time), (json!({"playing": [sound(0.5)]}), 0.515));
    assert_eq!(robot.get("/states?include=audio")["audio"], json!({"playing": [sound(0.5)]}));
    api.step(99);
    assert_eq!(ids(&mut robot), ["a1"]);
    api.step(1);
    assert_eq!(robot.get("/audio"), json!({"playing": []}));
    assert_eq!(robot.0.get("/audio/file/a1").body, file, "the file is still served after the end");
}

#[test]
fn every_format_is_played_and_served_unchanged() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    for (number, (file, format, kind)) in [
        (&wav(8000, 2, 2000)[..], "wav", "audio/wav"),
        (BEEP_MP3, "mp3", "audio/mpeg"),
        (BEEP_OGG, "ogg", "audio/ogg"),
        (BEEP_FLAC, "flac", "audio/flac"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut body = data(file);
        body["format"] = json!(format);
        let played = robot.post("/audio/play", body);
        let id = format!("a{}", number + 1);
        assert_eq!(played, json!({"success": true, "id": id, "duration": 0.25}), "{format}");
        let served = robot.0.get(&format!("/audio/file/{id}"));
        assert_eq!((served.status, &served.body[..]), (200, file), "{format}");
        assert_eq!(served.header("content-type"), Some(kind));
        assert_eq!(served.header("cache-control"), Some("no-store"));
        assert_eq!(served.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(served.header("x-sim-time"), Some("0.000"));
    }
    for path in ["/audio/file/a5", "/audio/file/a0", "/audio/file/x", "/audio/file/a1.wav"] {
        let answer = robot.0.get(path);
        assert_eq!(answer.status, 404, "{path}");
    }
}

#[test]
fn a_loop_repeats_and_its_volume_can_be_changed() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let id = play(&mut robot, &wav(8000, 1, 8000), json!({"loop": true, "volume": 0.25}));
    api.step(1050);
    let sound = robot.get("/audio")["playing"][0].clone();
    assert_eq!((&sound["loop"], &sound["volume"]), (&json!(true), &json!(0.25)));
    assert!((number(&sound["position"]) - 0.25).abs() < 1e-6, "{sound}");
    let changed = robot.post("/audio/volume", json!({"id": id, "volume": 0.75}));
    assert_eq!(changed, json!({"success": true, "id": "a1", "volume": 0.75}));
    assert_eq!(robot.get("/audio")["playing"][0]["volume"], 0.75);
    assert_eq!(robot.post("/audio/stop", json!({"id": id})), json!({"success": true}));
    assert!(ids(&mut robot).is_empty());
}

#[test]
fn sixteen_sounds_may_play_and_a_new_one_may_replace_them() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let beep = wav(8000, 1, 8000);
    for _ in 0..16 {
        play(&mut robot, &beep, json!({}));
    }
    assert_eq!(refused(&mut robot, "/audio/play", &data(&beep)).0, 409);
    assert_eq!(ids(&mut robot).len(), 16);
    robot.post("/audio/stop", json!({"id": "a3"}));
    assert_eq!(play(&mut robot, &beep, json!({})), "a17");
    assert_eq!(play(&mut robot, &beep, json!({"replace": true})), "a18");
    assert_eq!(ids(&mut robot), ["a18"]);
    play(&mut robot, &beep, json!({}));
    assert_eq!(robot.post("/audio/stop", json!({"all": true})), json!({"success": true}));
    assert!(ids(&mut robot).is_empty());
    robot.post("/audio/stop", json!({"all": true}));
    api.step(1);
}

#[test]
fn invalid_requests_and_unknown_sounds_are_refused() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    let beep = wav(8000, 1, 8000);
    play(&mut robot, &beep, json!({}));
    for id in ["a2", "a0", "", "1", "x"] {
        for (path, body) in
            [("/audio/stop", json!({"id": id})), ("/audio/volume", json!({"id": id, "volume": 1}))]
        {
            let (status, text) = refused(&mut robot, path, &body);
            assert_eq!((status, text.contains("GET /audio")), (404, true), "{path} {id:?}: {text}");
        }
    }
    let file = STANDARD.encode(&beep);
    for (path, body, word) in [
        ("/audio/stop", json!({}), "id"),
        ("/audio/stop", json!({"all": false}), "id"),
        ("/audio/stop", json!({"id": "a1", "all": true}), "either"),
        ("/audio/stop", json!({"id": 1}), "id"),
        ("/audio/volume", json!({"id": "a1"}), "volume"),
        ("/audio/volume", json!({"id": "a1", "volume": 1.01}), "volume"),
        ("/audio/volume", json!({"volume": 1}), "id"),
        ("/audio/play", json!({}), "exactly one"),
        ("/audio/play", json!({"data": file, "path": "x"}), "exactly one"),
        ("/audio/play", json!({"data": file, "url": "http://a.example/"}), "exactly one"),
        ("/audio/play", json!({"data": 7}), "data"),
        ("/audio/play", json!({"data": file, "volume": -0.1}), "volume"),
        ("/audio/play", json!({"data": file, "volume": "loud"}), "volume"),
        ("/audio/play", json!({"data": file, "loop": 1}), "loop"),
        ("/audio/play", json!({"data": file, "replace": "no"}), "replace"),
        ("/audio/play", json!({"data": file, "format": "aac"}), "format"),
        ("/audio/play", json!({"data": file, "format": "mp3"}), "the file is a wav file"),
    ] {
        let (status, text) = refused(&mut robot, path, &body);
        assert_eq!((status, text.contains(word)), (422, true), "{path} {word}: {text}");
    }
    assert_eq!(robot.0.get("/audio/play").status, 405);
    assert_eq!(ids(&mut robot), ["a1"], "a refused request changed something");
}

#[test]
fn a_reset_a_respawn_and_a_switch_stop_all_sounds() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let beep = wav(8000, 1, 80_000);
    for path in ["/reset", "/respawn"] {
        play(&mut robot, &beep, json!({"loop": true}));
        play(&mut robot, &beep, json!({}));
        assert_eq!(ids(&mut robot).len(), 2);
        api.post(path, json!({}));
        assert!(ids(&mut robot).is_empty(), "{path}");
    }
    assert_eq!(robot.0.get("/audio/file/a1").status, 404, "files of the old world are still served");
    assert_eq!(play(&mut robot, &beep, json!({})), "a1");
    api.post("/switch", json!({"world": "field.world"}));
    assert!(ids(&mut robot).is_empty());
}

#[test]
fn before_the_first_world_no_sound_plays() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).world("slow").start_unready();
    let mut robot = simulator.robot();
    let playing = parsed(&robot.0.get("/audio"));
    let (status, text) = refused(&mut robot, "/audio/play", &data(BEEP_OGG));
    gate.open();
    assert_eq!(playing, json!({"playing": []}));
    assert_eq!((status, text.as_str()), (409, "world not ready"));
}

#[test]
fn playing_sounds_can_be_streamed() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut stream = simulator.follow("/audio?stream=true");
    let mut next = || {
        let event = stream.next().expect("an event");
        let sounds: Value = serde_json::from_str(&event.data).expect("json");
        sounds["playing"].clone()
    };
    assert_eq!(next(), json!([]));
    play(&mut robot, &wav(8000, 1, 800), json!({}));
    assert_eq!(next()[0]["position"], 0.0);
    robot.post("/audio/volume", json!({"id": "a1", "volume": 0.5}));
    assert_eq!(next()[0]["volume"], 0.5);
    api.step(20);
    // The sound has ended.
    assert_eq!(next(), json!([]));
}

#[test]
fn slow_uploads_do_not_block_other_bodies() {
    use std::io::Write;
    let simulator = start();
    let slow: Vec<std::net::TcpStream> = (0..3)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(simulator.address).expect("a connection");
            let head = format!(
                "POST /audio/play HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
                simulator.address,
                24 << 20
            );
            stream.write_all(head.as_bytes()).expect("the head is sent");
            stream.write_all(&vec![b' '; 20 << 10]).expect("a part of the body is sent");
            stream
        })
        .collect();
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        let body = format!("{{\"text\": \"hello\", \"more\": \"{}\"}}", "x".repeat(20 << 10));
        assert_eq!(simulator.client().post("/sim/api/overlay", &body).status, 200);
    }
    // A body that waited for the slow ones would wait for their timeout of 20 s.
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(slow);
}
