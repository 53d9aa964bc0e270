//! `POST /step`: a client advances the simulation step by step (lockstep).

use crate::support::{
    json as parsed, many_boxes, near, number, pretty, refusal, setup, start, start_paused, until,
};
use serde_json::{Value, json};

#[test]
fn a_step_returns_the_state() {
    let (_simulator, mut api) = start_paused();
    let stepped = api.step(1);
    insta::assert_snapshot!(pretty(&stepped));
    let mut state = stepped.clone();
    for more in ["ok", "touched"] {
        state.as_object_mut().expect("an object").remove(more);
    }
    let mut now = api.get("/state");
    // The response to a step omits the epoch. A respawn increases the epoch, but the same steps
    // after a respawn must give the same responses.
    now.as_object_mut().expect("an object").remove("epoch").expect("an epoch");
    assert_eq!(state, now);
}

#[test]
fn time_advances_by_exactly_the_requested_ticks() {
    let (_simulator, mut api) = start_paused();
    let mut ticks = 0;
    for (body, n) in [
        (json!({}), 1),
        (json!({"steps": null, "duration": null}), 1),
        (json!({"steps": 1}), 1),
        (json!({"steps": 7.0}), 7),
        (json!({"steps": 1000}), 1000),
        (json!({"duration": 0.005}), 1),
        (json!({"duration": 0.0076}), 2),
        (json!({"duration": 0.0124}), 2),
        (json!({"duration": 2}), 400),
    ] {
        ticks += n;
        let time = api.post("/step", body.clone())["time"].clone();
        assert!(near(&time, ticks as f64 * 0.005), "{time} after {body}, {ticks} ticks");
    }
}

#[test]
fn a_contact_during_the_step_is_reported_even_if_it_has_ended() {
    let (_simulator, mut api) = start_paused();
    // In the first step the car drives into the fence. In the second step it drives back.
    api.post("/pose", json!({"x": 7.7, "y": 3, "yaw": 0}));
    let hit = api.post("/step", json!({"duration": 1, "speed": 1}));
    assert_eq!(hit["touched"], hit["contacts"]);
    assert_eq!(hit["touched"].as_array().map(Vec::len), Some(1), "{hit}");
    let left = api.post("/step", json!({"duration": 1, "speed": -1}));
    assert_eq!((&left["contacts"], &left["touched"]), (&json!([]), &hit["touched"]), "{left}");
    let free = api.post("/step", json!({"duration": 0.5, "speed": -1}));
    assert_eq!(free["touched"], json!([]), "{free}");
}

#[test]
fn a_step_pauses_a_running_world() {
    let simulator = start();
    let mut api = simulator.api();
    let stepped = api.step(3);
    assert_eq!(stepped["paused"], true);
    assert_eq!(api.get("/clock")["paused"], true);
    assert_eq!(number(&stepped["time"]), api.time(), "time advanced after the step");
}

#[test]
fn an_invalid_step_is_refused_and_changes_nothing() {
    let (_simulator, mut api) = start_paused();
    api.post("/clock", json!({"paused": false}));
    for (body, word) in [
        (json!({"steps": 1, "duration": 1}), "duration"),
        (json!({"steps": 0}), "steps"),
        (json!({"steps": 100_001}), "steps"),
        (json!({"steps": 1.5}), "steps"),
        (json!({"steps": "1"}), "steps"),
        (json!({"steps": -1}), "steps"),
        (json!({"duration": 0}), "duration"),
        (json!({"duration": 500.1}), "duration"),
        (json!({"duration": "1.0"}), "duration"),
        (json!({"speed": "fast"}), "speed"),
        (json!({"steering": [0.1]}), "steering"),
        (json!({"observe": "lidar"}), "observe"),
        (json!({"observe": ["lidar", "smell"]}), "observe"),
        (json!({"observe": [1]}), "observe"),
    ] {
        let (status, text) = api.refused("/step", body.clone());
        assert_eq!(status, 400, "{body}: {text}");
        assert!(text.contains(word), "{body}: {text}");
    }
    assert_eq!(api.get("/clock")["paused"], false, "a refused step paused the simulation");
}

#[test]
fn the_drive_command_is_held_while_stepping() {
    let (_simulator, mut api) = start_paused();
    let start = number(&api.get("/pose")["x"]);
    // The step is longer than the timeout of a drive command.
    let driven = api.post("/step", json!({"duration": 1.5, "speed": 0.5}));
    assert!((number(&driven["vehicle"]["speed"]) - 0.5).abs() < 0.05, "{}", driven["vehicle"]);
    assert!(number(&driven["vehicle"]["x"]) - start > 0.5);
    let left = api.post("/step", json!({"duration": 0.2, "speed": 0.5, "steering": 0.2}));
    assert!((number(&left["vehicle"]["steering"]) - 0.2).abs() < 0.01, "{}", left["vehicle"]);
    assert!(number(&left["vehicle"]["yaw"]) > number(&driven["vehicle"]["yaw"]));
}

/// Drives three steps with observations, and returns the raw response bodies.
fn drive(api: &mut crate::support::Api, accept: &str) -> Vec<Vec<u8>> {
    let bodies = [
        json!({"steps": 40, "speed": 1.0, "steering": 0.1, "observe": ["lidar", "imu"]}),
        json!({"steps": 1, "speed": 2.0, "steering": -0.3, "observe": ["lidar", "imu"]}),
        json!({"duration": 0.7, "speed": 1.0, "steering": 0.3, "observe": ["lidar"]}),
    ];
    let headers = [("accept", accept), ("content-type", "application/json")];
    let mut answers = Vec::new();
    for body in bodies {
        let answer = api.0.request("POST", "/sim/api/step", &headers, body.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        answers.push(answer.body);
    }
    answers
}

#[test]
fn equal_inputs_after_two_respawns_give_equal_bytes() {
    let (_simulator, mut api) = start_paused();
    for accept in ["application/json", "application/octet-stream"] {
        api.post("/respawn", json!({}));
        let first = drive(&mut api, accept);
        // Commands between the two runs must have no effect on the second one.
        api.post("/models/box1/pose", json!({"x": 3}));
        api.step(123);
        api.post("/respawn", json!({}));
        let second = drive(&mut api, accept);
        assert!(first == second, "{accept}: the responses differ");
        assert!(first[0] != first[1]);
    }
}

#[test]
fn two_simulators_return_the_same_bytes() {
    let answers: Vec<_> = (0..2)
        .map(|_| {
            let (_simulator, mut api) = start_paused();
            drive(&mut api, "application/octet-stream")
        })
        .collect();
    assert!(answers[0] == answers[1], "the responses differ");
}

#[test]
fn a_step_returns_lidar_and_imu() {
    let (_simulator, mut api) = start_paused();
    assert!(api.step(20).get("observations").is_none());
    let profile = api.get("/vehicle");
    let stepped = api.post("/step", json!({"steps": 20, "observe": ["lidar", "imu"]}));
    let seen = &stepped["observations"];
    let lidar = &seen["lidar"];
    let beams = lidar["ranges"].as_array().expect("a list").len();
    assert_eq!(Some(beams as u64), profile["lidar"]["beams"].as_u64());
    let (low, high) = (number(&lidar["range_min"]), number(&lidar["range_max"]));
    for range in lidar["ranges"].as_array().expect("a list") {
        assert!(range.is_null() || (low..=high).contains(&number(range)), "{range}");
    }
    assert!(number(&lidar["time"]) <= number(&stepped["time"]));
    // At rest the IMU measures an upward acceleration of 9.81 m/s² and no rotation.
    let imu = &seen["imu"];
    assert!((number(&imu["acceleration"]["z"]) - 9.81).abs() < 0.2, "{imu}");
    for axis in ["x", "y", "z"] {
        assert!(number(&imu["gyro"][axis]).abs() < 0.05, "{imu}");
    }
    let only = api.post("/step", json!({"observe": ["imu", "imu"]}));
    assert_eq!(only["observations"].as_object().expect("an object").len(), 1);
}

#[test]
fn a_step_returns_odometry() {
    let (simulator, mut api) = start_paused();
    let body = json!({"steps": 21, "observe": ["odom"]});
    let stepped = api.post("/step", body.clone());
    let odom = &stepped["observations"]["odom"];
    let mut keys: Vec<&String> = odom.as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(keys, ["forward", "sideways", "time", "turning", "x", "y", "yaw"]);
    assert!(near(&odom["time"], 0.1), "sample 3 at 30 samples per second: {odom}");
    let from_robot = simulator.robot().get("/odom");
    assert_eq!(from_robot["position"]["x"], odom["x"]);
    assert_eq!(from_robot["velocity"]["linear"], odom["forward"]);
    api.post("/respawn", json!({}));
    let headers = [("accept", "application/octet-stream")];
    let answer = api.0.request("POST", "/sim/api/step", &headers, body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let end = answer.body.iter().position(|&b| b == b'\n').expect("a header line");
    let header: Value = serde_json::from_slice(&answer.body[..end]).expect("JSON");
    let info = json!([{"name": "odom", "shape": [6], "type": "<f8", "offset": 0, "time": 0.1}]);
    assert_eq!(header["observations"], info);
    let row: Vec<f64> =
        answer.body[end + 1..].chunks(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight"))).collect();
    for (value, name) in row.iter().zip(["x", "y", "yaw", "forward", "sideways", "turning"]) {
        assert!(near(&odom[name], *value), "{name}: {value} {odom}");
    }
    assert_eq!(row.len(), 6);
}

#[test]
fn observations_are_raw_arrays_in_a_binary_response() {
    let (_simulator, mut api) = start_paused();
    let body = json!({"steps": 40, "observe": ["lidar", "imu"]}).to_string();
    let as_json = api.post("/step", json!({"steps": 40, "observe": ["lidar", "imu"]}));
    api.post("/respawn", json!({}));
    let headers = [("accept", "application/octet-stream")];
    let answer = api.0.request("POST", "/sim/api/step", &headers, body.as_bytes());
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    let end = answer.body.iter().position(|&b| b == b'\n').expect("a header line");
    let header: Value = serde_json::from_slice(&answer.body[..end]).expect("JSON");
    let raw = &answer.body[end + 1..];
    assert_eq!(header["ok"], true);
    assert_eq!(header["state"]["time"], as_json["time"]);

    let array = |name: &str| -> (Vec<f64>, Value) {
        let list = header["observations"].as_array().expect("a list");
        let info = list.iter().find(|a| a["name"] == name).unwrap_or_else(|| panic!("{name}: {header}"));
        let offset = info["offset"].as_u64().expect("an offset") as usize;
        let shape = info["shape"].as_array().expect("a shape");
        let n = shape.iter().map(|n| n.as_u64().expect("a length") as usize).product::<usize>();
        let values = match info["type"].as_str() {
            Some("<f4") => raw[offset..offset + 4 * n]
                .chunks(4)
                .map(|b| f64::from(f32::from_le_bytes(b.try_into().expect("four"))))
                .collect(),
            Some("<f8") => raw[offset..offset + 8 * n]
                .chunks(8)
                .map(|b| f64::from_le_bytes(b.try_into().expect("eight")))
                .collect(),
            other => panic!("type {other:?}"),
        };
        (values, info["shape"].clone())
    };
    let (ranges, shape) = array("lidar");
    assert_eq!(shape, json!([ranges.len()]));
    let listed = as_json["observations"]["lidar"]["ranges"].as_array().expect("a list");
    assert_eq!(ranges.len(), listed.len());
    for (raw, listed) in ranges.iter().zip(listed) {
        let same = if raw.is_finite() { near(listed, *raw) } else { listed.is_null() };
        assert!(same, "{raw} is {listed}");
    }
    let (imu, shape) = array("imu");
    assert_eq!(shape, json!([2, 3]));
    assert!(near(&as_json["observations"]["imu"]["acceleration"]["z"], imu[2]));
    assert!(near(&as_json["observations"]["imu"]["gyro"]["x"], imu[3]));
    let whole = 4 * ranges.len() + 8 * imu.len();
    assert_eq!(raw.len(), whole, "the response contains more than the arrays");
    // Errors are JSON, whatever the header `Accept` says.
    let refused = api.0.request("POST", "/sim/api/step", &headers, b"{\"steps\": 0}");
    assert_eq!(refusal(&refused).0, 400);
}

#[test]
fn a_step_ends_early_when_its_client_disconnects() {
    let (simulator, mut api) = setup().with_world("crowd", many_boxes("crowd")).world("crowd").start_paused();
    let mut gone = simulator.client();
    gone.send("POST", "/sim/api/step", &[], b"{\"steps\": 100000}");
    until("the step has started", || (api.time() > 0.0).then_some(()));
    drop(gone);
    let answer = api.post("/pose", json!({}));
    assert_eq!(answer["applied"], true);
    let time = api.time();
    assert!(time < 500.0, "{time} s: the step ran to its end");
    assert_eq!(api.time(), time, "the step still runs");
}

#[test]
fn reads_succeed_during_a_long_step() {
    let (simulator, mut api) = setup().with_world("crowd", many_boxes("crowd")).world("crowd").start_paused();
    let mut long = simulator.client();
    long.send("POST", "/sim/api/step", &[], b"{\"steps\": 100000}");
    let first = until("the step has started", || Some(api.time()).filter(|t| *t > 0.0));
    until("time advances during the step", || (api.time() > first).then_some(()));
    assert_eq!(parsed(&api.0.get("/sim/api/status"))["running"], true);
}

#[test]
fn too_many_waiting_steps_are_refused() {
    let (simulator, mut api) = start_paused();
    let long = json!({"steps": 100_000}).to_string();
    let one = || simulator.client().post("/sim/api/step", &long).status;
    // At most two steps may wait, so some of eight concurrent steps must be refused.
    until("a step is refused", || {
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            all.into_iter().map(|t| t.join().expect("a client")).collect()
        });
        assert!(statuses.iter().all(|s| *s == 200 || *s == 503), "{statuses:?}");
        assert!(statuses.contains(&200));
        statuses.contains(&503).then_some(())
    });
    api.step(1);
}
