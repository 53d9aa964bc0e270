//! `GET /objects` and `POST /models/<name>/pose`.

use crate::support::{near, number, plain, pretty, scenery, setup, start_paused};
use serde_json::{Value, json};

#[test]
fn objects_are_listed_in_the_order_of_the_file() {
    let (_simulator, mut api) = start_paused();
    insta::assert_snapshot!(pretty(&api.get("/objects")));
}

#[test]
fn every_kind_of_object_has_its_type_and_size() {
    let (_simulator, mut api) = setup().world("technical").start_paused();
    let objects = api.get("/objects");
    let all = objects["objects"].as_array().expect("a list");
    let facts: Vec<Value> = all
        .iter()
        .map(|o| json!([o["name"], o["type"], o["kind"], o["static"], o["movable"], o["size"]]))
        .collect();
    insta::assert_snapshot!(pretty(&Value::Array(facts)));
    for object in all {
        assert!(["x", "y", "z"].iter().all(|axis| number(&object["size"][axis]) > 0.0), "{object}");
        assert!(object["current"]["q"].as_array().is_some_and(|q| q.len() == 4), "{object}");
    }
}

#[test]
fn a_model_is_moved_and_every_client_sees_it_at_once() {
    let (simulator, mut api) = start_paused();
    let mut other = simulator.api();
    let moved = api.post("/models/box1/pose", json!({"x": 3, "y": 2.5, "z": 0.5, "yaw": 0.25}));
    insta::assert_snapshot!(pretty(&moved));
    let box1 = other.object("box1");
    assert!(near(&box1["current"]["x"], 3.0) && near(&box1["current"]["z"], 0.5), "{box1}");
    assert!(near(&other.get("/state")["objects"]["box1"]["yaw"], 0.25));
    assert_eq!(box1["origin"], api.object("box1")["origin"], "the origin changed");

    let light = api.post("/models/signal1/pose", json!({"y": 2, "yaw": -1}))["model"].clone();
    assert_eq!(light["type"], "light");
    let listed = other.get("/traffic_lights")["lights"][0].clone();
    assert!(near(&listed["y"], 2.0) && near(&listed["yaw"], -1.0) && near(&listed["x"], 5.3), "{listed}");
}

#[test]
fn omitted_fields_keep_their_value() {
    let (_simulator, mut api) = start_paused();
    api.post("/models/box1/pose", json!({"x": 3, "y": 2, "z": 1, "yaw": 0.5}));
    for body in [json!({}), json!({"x": null, "unknown": 1}), json!({"x": 3.0})] {
        let model = api.post("/models/box1/pose", body)["model"].clone();
        assert!(near(&model["x"], 3.0) && near(&model["y"], 2.0), "{model}");
        assert!(near(&model["z"], 1.0) && near(&model["yaw"], 0.5), "{model}");
    }
}

#[test]
fn an_object_below_the_ground_is_lifted_onto_it() {
    let (_simulator, mut api) = start_paused();
    let z = number(&api.object("box1")["origin"]["z"]);
    for asked in [-0.1, -10.0] {
        let model = api.post("/models/box1/pose", json!({"z": asked}))["model"].clone();
        assert!(near(&model["z"], z), "{model}");
    }
}

#[test]
fn a_pose_sets_a_fallen_object_upright() {
    let (_simulator, mut api) = setup().world("technical").start_paused();
    // The cylinder stands on the edge of a box and falls.
    api.post("/models/box1/pose", json!({"x": 3, "y": 3, "yaw": 0}));
    api.post("/models/cylinder1/pose", json!({"x": 3.17, "y": 3, "z": 0.2}));
    let fallen = api.step(400)["objects"]["cylinder1"].clone();
    let lies = number(&fallen["roll"]).abs() + number(&fallen["pitch"]).abs() > 0.1;
    assert!(lies, "the can did not fall: {fallen}");
    api.post("/models/cylinder1/pose", json!({}));
    let stands = api.object("cylinder1")["current"].clone();
    assert!(near(&stands["roll"], 0.0) && near(&stands["pitch"], 0.0), "{stands}");
    assert!(near(&stands["x"], number(&fallen["x"])) && number(&stands["z"]) >= 0.0, "{stands}");
}

#[test]
fn an_object_that_may_not_be_moved_is_refused_with_the_reason() {
    let (_simulator, mut api) = setup().with_world("hall", scenery("hall")).start_paused();
    let body = || json!({"x": 1});
    let model_name = api.get("/vehicle")["model_name"].as_str().expect("a name").replace(' ', "%20");
    for name in ["vehicle", &model_name] {
        let path = format!("/models/{name}/pose");
        assert_eq!(api.refused(&path, body()), (403, "use POST /pose for the vehicle".to_owned()));
    }
    assert_eq!(api.refused("/models/racetrack/pose", body()), (403, "racetrack cannot be moved".to_owned()));
    for wall in ["wall_0", "wall_3"] {
        let path = format!("/models/{wall}/pose");
        assert_eq!(api.refused(&path, body()), (403, "wall cannot be moved".to_owned()));
    }
    for unknown in ["nothing", "wall_4", "BOX1", "box1%20"] {
        let path = format!("/models/{unknown}/pose");
        assert_eq!(api.refused(&path, body()), (404, "model not found in world".to_owned()), "{unknown}");
    }
    api.post("/switch", json!({"world": "hall.world"}));
    let (status, text) = api.refused("/models/table/pose", body());
    assert_eq!(status, 403, "{text}");
    let listed = api.get("/objects")["objects"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "objects without marker are not listed");
}

#[test]
fn an_invalid_request_is_refused_and_moves_nothing() {
    let (_simulator, mut api) = start_paused();
    let before = api.get("/state");
    for body in [
        json!({"x": "1.0"}),
        json!({"x": 1, "z": true}),
        json!({"yaw": {}}),
        json!({"x": 100.5}),
        json!({"y": -101}),
        json!({"z": -10.1}),
        json!({"z": 100.1}),
        json!({"x": 2, "duration": -1}),
        json!({"x": 2, "duration": "1"}),
        json!({"path": []}),
        json!({"path": [[1, 2]]}),
        json!({"path": [[1, 2, 3]], "speed": 1}),
        json!({"path": [[1, "2"]], "speed": 1}),
        json!({"path": [[1, 200]], "speed": 1}),
        json!({"path": "round", "speed": 1}),
        json!({"path": [[1, 2]], "speed": 0}),
        json!({"path": [[1, 2]], "speed": 1, "loop": 1}),
        json!({"path": [[1, 2]], "speed": 1, "duration": 2}),
    ] {
        let (status, text) = api.refused("/models/box1/pose", body.clone());
        assert_eq!(status, 400, "{body}: {text}");
    }
    // The server checks the body of a request before it looks up the name of the object.
    for name in ["nothing", "wall_0", "vehicle", "racetrack"] {
        let path = format!("/models/{name}/pose");
        assert_eq!(api.refused(&path, json!({"x": "1.0"})).0, 400, "{name}");
    }
    assert_eq!(api.get("/state"), before);
}

#[test]
fn a_motion_takes_its_duration() {
    let (_simulator, mut api) = start_paused();
    api.post("/models/box1/pose", json!({"x": 2, "y": 3, "yaw": 0}));
    let begun = api.post("/models/box1/pose", json!({"x": 4, "y": 3, "yaw": 1, "duration": 2}));
    assert!(near(&begun["model"]["x"], 2.0), "{begun}");
    api.step(200);
    let half = api.object("box1")["current"].clone();
    assert!((number(&half["x"]) - 3.0).abs() < 0.01 && (number(&half["yaw"]) - 0.5).abs() < 0.01, "{half}");
    api.step(200);
    let end = api.object("box1")["current"].clone();
    assert!((number(&end["x"]) - 4.0).abs() < 1e-3 && (number(&end["yaw"]) - 1.0).abs() < 1e-3, "{end}");
    api.step(100);
    let rests = api.object("box1")["current"].clone();
    assert!((number(&rests["x"]) - 4.0).abs() < 1e-3, "{rests}");
}

#[test]
fn a_motion_follows_its_path_once() {
    let (_simulator, mut api) = start_paused();
    api.post("/models/box1/pose", json!({"x": 2, "y": 2}));
    api.post("/models/box1/pose", json!({"path": [[3, 2], [3, 3]], "speed": 0.5}));
    api.step(200);
    let first = api.object("box1")["current"].clone();
    assert!((number(&first["x"]) - 2.5).abs() < 0.01 && (number(&first["y"]) - 2.0).abs() < 0.01, "{first}");
    api.step(400);
    let second = api.object("box1")["current"].clone();
    assert!(
        (number(&second["x"]) - 3.0).abs() < 0.01 && (number(&second["y"]) - 2.5).abs() < 0.01,
        "{second}"
    );
    api.step(600);
    let end = api.object("box1")["current"].clone();
    assert!((number(&end["x"]) - 3.0).abs() < 0.01 && (number(&end["y"]) - 3.0).abs() < 0.01, "{end}");
}

#[test]
fn a_loop_goes_from_the_last_point_straight_to_the_first() {
    let (_simulator, mut api) = start_paused();
    api.post("/models/box1/pose", json!({"x": 2, "y": 2}));
    let path = json!([[2, 2], [3, 2], [3, 3]]);
    api.post("/models/box1/pose", json!({"path": path, "speed": 1, "loop": true}));
    let diagonal = 2f64.sqrt();
    // The object must be on the segment from the last point to the first, in the first lap and in
    // the tenth lap.
    for laps in [0.0, 9.0] {
        let due = laps * (2.0 + diagonal) + 2.0 + 0.5 * diagonal;
        let wait = due - api.time();
        api.post("/step", json!({"duration": wait}));
        let at = api.object("box1")["current"].clone();
        assert!((number(&at["x"]) - 2.5).abs() < 0.02 && (number(&at["y"]) - 2.5).abs() < 0.02, "{at}");
    }
}

#[test]
fn a_later_pose_cancels_a_motion() {
    let (_simulator, mut api) = start_paused();
    let path = json!([[2, 2], [3, 2], [3, 3]]);
    for motion in [json!({"path": path, "speed": 1, "loop": true}), json!({"x": 2, "y": 2, "duration": 10})] {
        api.post("/models/box1/pose", motion);
        api.step(100);
        api.post("/models/box1/pose", json!({"x": 5, "y": 3}));
        api.step(200);
        let at = api.object("box1")["current"].clone();
        assert!((number(&at["x"]) - 5.0).abs() < 1e-3 && (number(&at["y"]) - 3.0).abs() < 1e-3, "{at}");
    }
}

#[test]
fn a_respawn_returns_objects_to_their_origin() {
    let (_simulator, mut api) = setup().with_world("plain", plain("plain")).world("plain").start_paused();
    let origin = api.object("box1")["current"].clone();
    api.post("/models/box1/pose", json!({"x": -50, "y": 20, "yaw": 2}));
    api.post("/respawn", json!({}));
    assert_eq!(api.object("box1")["current"], origin);
}
