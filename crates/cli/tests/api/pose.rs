//! The vehicle: `/pose`, `/reset`, `/respawn` and `/vehicle`.

use crate::support::{near, number, pretty, start, start_paused};
use serde_json::{Value, json};
use std::f64::consts::PI;

fn is_at(pose: &Value, x: f64, y: f64, yaw: f64) -> bool {
    near(&pose["x"], x) && near(&pose["y"], y) && near(&pose["yaw"], yaw)
}

#[test]
fn the_car_starts_at_the_start_of_the_route() {
    let (_simulator, mut api) = start_paused();
    let pose = api.get("/pose");
    insta::assert_snapshot!(pretty(&pose));
    let points = api.get("/route")["waypoints"].clone();
    let (dx, dy) =
        (number(&points[1][0]) - number(&points[0][0]), number(&points[1][1]) - number(&points[0][1]));
    let (x, y) = (number(&points[0][0]), number(&points[0][1]));
    assert!((number(&pose["x"]) - x).abs() < 0.005 && (number(&pose["y"]) - y).abs() < 0.005, "{pose}");
    assert!((number(&pose["yaw"]) - dy.atan2(dx)).abs() < 0.005, "{pose}");
    assert!(number(&pose["z"]).abs() < 0.01, "{pose}");
}

#[test]
fn a_pose_is_applied_and_returned() {
    let (_simulator, mut api) = start_paused();
    let placed = api.post("/pose", json!({"x": 2.5, "y": 1.25, "yaw": 0.75}));
    insta::assert_snapshot!(pretty(&placed));
    assert_eq!(placed["applied"], true);
    assert_eq!(placed["pose"], api.get("/pose"));
}

#[test]
fn a_pose_is_seen_by_the_next_reader_on_another_connection() {
    let simulator = start();
    let (mut one, mut other) = (simulator.api(), simulator.api());
    other.get("/pose");
    for i in 0..50 {
        let (x, y, yaw) = (2.0 + 0.01 * f64::from(i), 3.0, 0.1);
        one.post("/pose", json!({"x": x, "y": y, "yaw": yaw}));
        // The simulation is running, so the car settles and moves a little, but less than this
        // tolerance.
        let pose = other.get("/pose");
        assert!((number(&pose["x"]) - x).abs() < 2e-3, "{pose} after {x}");
        let state = other.get("/state");
        assert!((number(&state["vehicle"]["x"]) - x).abs() < 2e-3, "{state} after {x}");
    }
}

#[test]
fn a_paused_world_applies_poses_and_shows_them() {
    let (simulator, mut api) = start_paused();
    let mut other = simulator.api();
    for i in 0..20 {
        let x = 1.0 + 0.1 * f64::from(i);
        api.post("/pose", json!({"x": x}));
        assert!(near(&other.get("/pose")["x"], x));
        assert!(near(&other.get("/state")["vehicle"]["x"], x));
    }
    assert_eq!(other.time(), 0.0);
}

#[test]
fn omitted_and_null_fields_keep_their_value() {
    let (_simulator, mut api) = start_paused();
    api.post("/pose", json!({"x": 2, "y": 3, "yaw": 1}));
    for (body, expected) in [
        (json!({"x": 2.5}), (2.5, 3.0, 1.0)),
        (json!({"y": 3.5, "x": null}), (2.5, 3.5, 1.0)),
        (json!({"yaw": -1}), (2.5, 3.5, -1.0)),
        (json!({}), (2.5, 3.5, -1.0)),
        (json!({"unknown": "key", "z": 50, "yaw": -1.0}), (2.5, 3.5, -1.0)),
        (json!({"yaw": 1.5 * PI}), (2.5, 3.5, -0.5 * PI)),
        (json!({"x": -100, "y": 100}), (-100.0, 100.0, -0.5 * PI)),
    ] {
        let (x, y, yaw) = expected;
        let pose = api.post("/pose", body.clone())["pose"].clone();
        assert!(is_at(&pose, x, y, yaw), "{pose} after {body}");
        assert!(is_at(&api.get("/pose"), x, y, yaw));
    }
}

#[test]
fn an_invalid_pose_is_refused_and_moves_nothing() {
    let (_simulator, mut api) = start_paused();
    let before = api.get("/state");
    let numbers = (400, "x, y, yaw must be numbers".to_owned());
    for body in [
        json!({"x": "1.0"}),
        json!({"x": 1, "y": true}),
        json!({"x": 1, "yaw": "north"}),
        json!({"yaw": [0]}),
        json!({"x": {}}),
    ] {
        assert_eq!(api.refused("/pose", body.clone()), numbers, "{body}");
    }
    let range = (400, "position out of range".to_owned());
    for body in [
        json!({"x": 100.001}),
        json!({"x": 1, "y": -100.5}),
        json!({"y": 1e300}),
        json!({"x": -1e9, "y": 1, "yaw": 1}),
    ] {
        assert_eq!(api.refused("/pose", body.clone()), range, "{body}");
    }
    for body in ["{\"x\": 1e999}", "{\"x\": NaN}", "{\"x\": Infinity}"] {
        assert_eq!(api.refused_raw("/pose", body).0, 400, "{body}");
    }
    assert_eq!(api.get("/state"), before);
}

#[test]
fn a_pose_sets_an_overturned_car_upright() {
    let (_simulator, mut api) = start_paused();
    // The car drives over a box into the fence at full speed.
    api.post("/pose", json!({"x": 6.0, "y": 5.3, "yaw": 0}));
    api.post("/models/box1/pose", json!({"x": 7.2, "y": 5.3, "yaw": 0}));
    let crashed = api.post("/step", json!({"duration": 2, "speed": 3, "steering": 0.3}));
    let (x, y) = (number(&crashed["vehicle"]["x"]), number(&crashed["vehicle"]["y"]));
    let pose = api.post("/pose", json!({}))["pose"].clone();
    assert!(near(&pose["x"], x) && near(&pose["y"], y), "{pose}");
    assert!(near(&pose["roll"], 0.0) && near(&pose["pitch"], 0.0) && near(&pose["z"], 0.0), "{pose}");
    assert!(near(&api.get("/state")["vehicle"]["speed"], 0.0));
}

#[test]
fn a_pose_stops_the_car() {
    let (_simulator, mut api) = start_paused();
    let driven = api.post("/step", json!({"duration": 1, "speed": 1}));
    assert!(number(&driven["vehicle"]["speed"]) > 0.8);
    api.post("/pose", json!({"x": 3, "y": 3}));
    assert!(near(&api.get("/state")["vehicle"]["speed"], 0.0));
}

#[test]
fn a_reset_returns_the_names_of_everything_it_reset() {
    let (_simulator, mut api) = start_paused();
    insta::assert_snapshot!(pretty(&api.post("/reset", json!({}))));
    let (_simulator, mut technical) = crate::support::setup().world("technical").start_paused();
    let objects = technical.get("/objects");
    let movable = objects["objects"].as_array().expect("a list").iter().filter(|o| o["movable"] == true);
    let mut names: Vec<Value> = movable.map(|o| o["name"].clone()).collect();
    names.push(json!("vehicle"));
    assert_eq!(technical.post("/reset", json!({}))["reset"], Value::Array(names));
}

#[test]
fn a_reset_restores_all_poses_and_time_continues() {
    let (_simulator, mut api) = start_paused();
    let (pose, origin) = (api.get("/pose"), api.object("box1"));
    api.post("/models/box1/pose", json!({"path": [[3, 3], [4, 4]], "speed": 1, "loop": true}));
    api.post("/models/signal1/pose", json!({"x": 4, "y": 4}));
    api.post("/traffic_lights/signal1", json!({"state": "red"}));
    api.post("/step", json!({"steps": 700, "speed": 1, "steering": 0.1}));
    assert_eq!(api.light("signal1"), "red");
    api.post("/reset", json!({}));

    assert!(near(&api.get("/clock")["sim_time"], 3.5));
    assert_eq!(api.get("/pose"), pose);
    assert_eq!(api.object("box1")["current"], origin["current"]);
    assert_eq!(api.object("signal1")["current"], api.object("signal1")["origin"]);
    assert_eq!(api.light("signal1"), "green");
    assert!(near(&api.get("/state")["vehicle"]["speed"], 0.0));
    // The reset must also have ended the motion of the box and the drive command, so that both the
    // box and the car stay where they are.
    api.step(200);
    let moved = |now: &Value, then: &Value| (number(now) - number(then)).abs();
    let current = api.object("box1")["current"].clone();
    assert!(moved(&current["x"], &origin["current"]["x"]) < 1e-3, "{current}");
    assert!(moved(&api.get("/pose")["x"], &pose["x"]) < 1e-2);
}

#[test]
fn a_reset_ends_the_yellow_phase_of_a_light() {
    let (_simulator, mut api) = start_paused();
    api.post("/traffic_lights/signal1", json!({"state": "red"}));
    api.step(100);
    api.post("/reset", json!({}));
    assert_eq!(api.light("signal1"), "green");
    api.step(700);
    assert_eq!(api.light("signal1"), "green");
}

#[test]
fn no_client_sees_an_incomplete_reset() {
    let simulator = start();
    let mut api = simulator.api();
    let origin = number(&api.object("box1")["origin"]["x"]);
    let (done, stop_signal) = std::sync::mpsc::channel::<()>();
    let mut reader = simulator.api();
    let watching = std::thread::spawn(move || {
        let mut seen = 0;
        while stop_signal.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            let state = reader.get("/state");
            let box_away = (number(&state["objects"]["box1"]["x"]) - origin).abs() > 0.5;
            let light_away = (number(&state["objects"]["signal1"]["x"]) - 5.3).abs() > 0.5;
            // The box is moved before the light, and a reset moves both back at once. So there must
            // be no state in which only the light is away.
            assert!(box_away || !light_away, "{state}");
            seen += 1;
        }
        seen
    });
    for _ in 0..100 {
        api.post("/models/box1/pose", json!({"x": 3, "y": 3}));
        api.post("/models/signal1/pose", json!({"x": 4, "y": 3}));
        api.post("/reset", json!({}));
    }
    drop(done);
    assert!(watching.join().expect("no incomplete reset") > 0);
}

#[test]
fn a_respawn_restores_the_initial_state() {
    let (_simulator, mut api) = start_paused();
    let before = api.get("/state");
    api.post("/models/box1/pose", json!({"path": [[3, 3], [4, 4]], "speed": 1, "loop": true}));
    api.post("/step", json!({"steps": 300, "speed": 1}));
    let answer = api.post("/respawn", json!({}));
    assert_eq!(answer, json!({"ok": true, "world": "oval.world", "inplace": false}));
    let mut after = api.get("/state");
    assert!(after["epoch"].as_u64() > before["epoch"].as_u64(), "the respawn began no new epoch");
    after["epoch"] = before["epoch"].clone();
    assert_eq!(after, before);
    api.step(200);
    let moved = number(&api.object("box1")["current"]["x"]) - number(&api.object("box1")["origin"]["x"]);
    assert!(moved.abs() < 1e-3, "the motion did not end");
}

#[test]
fn the_seed_of_a_respawn_determines_the_sensor_noise() {
    let (_simulator, mut api) = start_paused();
    let mut scan = |body: serde_json::Value| {
        api.post("/respawn", body);
        let step = json!({"steps": 20, "speed": 1, "observe": ["lidar", "imu"]});
        api.post("/step", step)["observations"].take()
    };
    let first = scan(json!({}));
    assert_eq!(scan(json!({"seed": 0})), first, "0 if omitted");
    let seventh = scan(json!({"seed": 7}));
    assert_ne!(seventh, first);
    assert_eq!(scan(json!({"seed": 7})), seventh);
    assert_eq!(scan(json!({"seed": null})), first);
    for wrong in [json!(-1), json!(1.5), json!("7"), json!(9_007_199_254_740_992u64)] {
        let refusal = api.refused("/respawn", json!({"seed": wrong}));
        assert_eq!(refusal, (400, "seed must be a whole number from 0 to 9007199254740991".to_owned()));
    }
}

#[test]
fn the_profile_of_the_robot() {
    let (_simulator, mut api) = start_paused();
    insta::assert_snapshot!(pretty(&api.get("/vehicle")));
}

#[test]
fn moving_the_car_by_command_begins_a_new_epoch() {
    let (_simulator, mut api) = start_paused();
    let mut last = api.get("/state")["epoch"].as_u64().expect("a number");
    for (path, body) in [
        ("/pose", json!({"x": 2})),
        ("/pose", json!({})),
        ("/reset", json!({})),
        ("/respawn", json!({})),
        ("/switch", json!({"world": "field.world"})),
    ] {
        api.post(path, body);
        let epoch = api.get("/state")["epoch"].as_u64().expect("a number");
        assert!(epoch > last, "{path}: {epoch} after {last}");
        last = epoch;
    }
    api.post("/models/box1/pose", json!({"x": 3}));
    api.step(10);
    assert_eq!(api.get("/state")["epoch"], last, "the car was not moved by a command");
}
