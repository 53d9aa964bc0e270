//! `GET /state`.

use crate::support::{number, pretty, start_paused};
use serde_json::json;

#[test]
fn the_state_of_a_paused_world() {
    let (_simulator, mut api) = start_paused();
    insta::assert_snapshot!(pretty(&api.get("/state")));
}

#[test]
fn numbers_have_at_most_six_decimals() {
    let (_simulator, mut api) = start_paused();
    api.post("/step", json!({"steps": 333, "speed": 1.234567, "steering": 0.123}));
    let text = api.0.get("/sim/api/state").text();
    for part in text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-' || c == 'e')) {
        let decimals = part.split_once('.').map_or(0, |(_, d)| d.len());
        assert!(decimals <= 6 || part.contains('e'), "{part}");
        assert_ne!(part, "-0.0");
    }
}

#[test]
fn contacts_name_the_objects_that_the_car_touches() {
    let (_simulator, mut api) = start_paused();
    assert_eq!(api.get("/state")["contacts"], json!([]));
    // The box stands in front of the car.
    api.post("/pose", json!({"x": 3, "y": 3, "yaw": 0}));
    api.post("/models/box1/pose", json!({"x": 3.5, "y": 3, "yaw": 0}));
    assert_eq!(api.step(10)["contacts"], json!([]));
    let hit = api.post("/step", json!({"duration": 0.8, "speed": 0.5}));
    assert_eq!(hit["contacts"], json!(["box1"]));
    // The car drives into the fence.
    api.post("/pose", json!({"x": 7.6, "y": 3, "yaw": 0}));
    let hit = api.post("/step", json!({"duration": 1, "speed": 0.5}));
    assert_eq!(hit["contacts"], json!(["wall_1"]));
    api.post("/pose", json!({"x": 3, "y": 4}));
    assert_eq!(api.step(1)["contacts"], json!([]));
}

#[test]
fn the_state_agrees_with_the_single_paths() {
    let (_simulator, mut api) = start_paused();
    api.post("/brightness", json!({"value": 1.5}));
    api.post("/traffic_lights/signal1", json!({"state": "red"}));
    let stepped = api.post("/step", json!({"steps": 150, "speed": 1}));
    let state = api.get("/state");
    let pose = api.get("/pose");
    for field in ["x", "y", "z", "roll", "pitch", "yaw", "q"] {
        assert_eq!(state["vehicle"][field], pose[field], "{field}");
    }
    assert!(number(&state["vehicle"]["speed"]) > 0.5);
    assert_eq!(state["lights"], api.get("/traffic_lights")["lights"]);
    assert_eq!(state["objects"]["box1"], api.object("box1")["current"]);
    assert_eq!(state["objects"]["wall_0"], api.object("wall_0")["current"]);
    assert_eq!(state["time"], api.get("/clock")["sim_time"]);
    assert_eq!(state["time"], stepped["time"]);
    assert_eq!(state["brightness"], 1.5);
}
