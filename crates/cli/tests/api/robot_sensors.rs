//! Sensor readings in single responses.

use crate::support::{
    LoadGate, Robot, Simulator, detail, json as parsed, near, number, plain, pretty, setup, start_paused,
};
use chicane_testkit::http::raw;
use serde_json::{Value, json};

const SENSORS: [(&str, &str); 9] = [
    ("/speed", "speed"),
    ("/steering", "steering"),
    ("/camera/pan", "pan"),
    ("/camera/tilt", "tilt"),
    ("/odom", "odometry"),
    ("/imu", "IMU"),
    ("/battery", "battery"),
    ("/lidar", "scan"),
    ("/camera", "camera"),
];

/// A request for every reading that `GET /states` knows.
const EVERYTHING: &str = "/states?include=cmd,odom,battery,imu,lidar,camera,speed,steering,camera_pan,camera_tilt,\
    joints,audio,joy";

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn before_the_first_world_every_sensor_returns_waiting() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).world("slow").start_unready();
    let mut client = simulator.client();
    for (path, name) in SENSORS {
        let answer = client.get(path);
        assert_eq!(answer.status, 503, "{path}");
        assert_eq!(answer.header("x-sim-time"), Some("0.000"), "{path}");
        assert_eq!(
            parsed(&answer),
            json!({"error": format!("No {name} data"), "status": "waiting", "code": "no_reading"})
        );
    }
    let mut robot = simulator.robot();
    assert_eq!(
        robot.get("/health"),
        json!({"status": "waiting", "time": null, "timestamp": 0.0, "paused": false})
    );
    let states = robot.get(EVERYTHING);
    assert_eq!(states["cmd"], json!({"speed": 0.0, "steering": 0.0, "pan": 0.0, "tilt": 0.0}));
    for name in EVERYTHING.split(['=', ',']).skip(2).filter(|name| *name != "audio") {
        assert_eq!(states.get(name), Some(&Value::Null), "{name}");
    }
    assert_eq!(robot.get("/states?include=camera,imu")["camera"], Value::Null);
    for (path, body) in [
        ("/speed", json!({"value": 1})),
        ("/speed", json!({"value": 1, "duration": 1})),
        ("/steering", json!({"value": 1})),
        ("/drive", json!({"speed": 1, "steering": 0})),
        ("/camera/pan", json!({"value": 1})),
        ("/camera/tilt", json!({"value": 1})),
    ] {
        let answer = client.post(path, &body.to_string());
        assert_eq!(detail(&answer), (409, "world not ready".to_owned()), "{path}");
        assert_eq!(answer.header("x-sim-time"), Some("0.000"), "{path}");
    }
    gate.open();
}

#[test]
fn the_speed_is_measured_and_the_angles_are_those_commanded() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    for path in ["/speed", "/steering", "/camera/pan", "/camera/tilt"] {
        let (value, time) = robot.get_at(path);
        assert!(value.is_number() && time == 0.0, "{path}: {value} at {time}");
    }
    robot.post("/camera/pan", json!({"value": 0.3}));
    let lowest = robot.post("/camera/tilt", json!({"value": -9}))["value"].clone();
    robot.post("/steering", json!({"value": 0.1}));
    assert_eq!(robot.get_at("/steering"), (json!(0.1), 0.0), "the command, before the servo turns");
    assert_eq!(robot.get("/camera/pan"), json!(0.3));
    assert!(number(&lowest) > -1.0 && robot.get("/camera/tilt") == lowest, "clamped");
    let joints = robot.get("/states?include=joints")["joints"].clone();
    assert_eq!(
        (&joints["steering"], &joints["pan"], &joints["tilt"]),
        (&json!(0.0), &json!(0.0), &json!(0.0))
    );
    api.post("/step", json!({"duration": 1.5, "speed": 0.5, "steering": 0.1}));
    // At 30 samples per second, sample 45 is taken at 1.5 s.
    let (speed, time) = robot.get_at("/speed");
    assert!((number(&speed) - 0.5).abs() < 0.05 && time == 1.5, "{speed} at {time}");
    let joints = robot.get("/states?include=joints")["joints"].clone();
    assert!((number(&joints["steering"]) - 0.1).abs() < 0.01, "{joints}");
    assert!((number(&joints["pan"]) - 0.3).abs() < 0.01, "{joints}");
    assert!((number(&joints["tilt"]) - number(&lowest)).abs() < 0.01, "{joints}");
    api.step(1);
    assert_eq!(robot.get_at("/speed"), (speed, 1.5), "the next sample is not due yet");
}

#[test]
fn numbers_may_be_texts() {
    let (simulator, _) = start_paused();
    let mut robot = simulator.robot();
    assert_eq!(robot.post("/speed", json!({"value": "0.5"}))["value"], 0.5);
    assert_eq!(robot.post("/steering", json!({"value": "-0.25"}))["value"], -0.25);
    assert_eq!(robot.post("/camera/pan", json!({"value": " 1e-1 "}))["value"], 0.1);
    assert_eq!(robot.post("/drive", json!({"speed": "1", "steering": "0"}))["value"]["speed"], 1.0);
    for text in ["", "fast", "nan", "inf", "1,5"] {
        let answer = robot.0.post("/speed", &json!({"value": text}).to_string());
        assert_eq!(detail(&answer).0, 422, "{text}");
    }
}

#[test]
fn odometry_has_the_specified_fields() {
    let (simulator, mut api) = start_paused();
    api.step(20);
    let (odom, time) = simulator.robot().get_at("/odom");
    assert_eq!(time, 0.1);
    assert_eq!(keys(&odom), ["frame_id", "orientation", "position", "velocity"]);
    assert_eq!(keys(&odom["position"]), ["x", "y", "z"]);
    assert_eq!(keys(&odom["orientation"]), ["quaternion", "yaw"]);
    assert_eq!(keys(&odom["orientation"]["quaternion"]), ["w", "x", "y", "z"]);
    assert_eq!(keys(&odom["velocity"]), ["angular", "linear"]);
    assert_eq!((&odom["frame_id"], &odom["position"]["z"]), (&json!("odom"), &json!(0.0)));
    assert!((number(&odom["orientation"]["quaternion"]["w"]) - 1.0).abs() < 1e-3, "{odom}");
    assert!(odom["velocity"]["linear"].is_number() && odom["velocity"]["angular"].is_number());
}

#[test]
fn imu_and_battery_have_the_specified_fields() {
    let (simulator, mut api) = start_paused();
    api.step(203);
    let mut robot = simulator.robot();
    let (imu, time) = robot.get_at("/imu");
    assert_eq!((keys(&imu), time), (vec!["acceleration", "gyro", "orientation"], 1.0));
    assert!((number(&imu["acceleration"]["z"]) - 9.81).abs() < 0.2, "{imu}");
    assert_eq!(keys(&imu["orientation"]), ["w", "x", "y", "z"]);
    assert!(number(&imu["orientation"]["w"]) > 0.999_9, "level and not turned: {imu}");
    let (battery, time) = robot.get_at("/battery");
    assert_eq!(time, 1.0);
    assert_eq!(keys(&battery), ["charging", "current", "percentage", "present", "voltage"]);
    assert_eq!((&battery["voltage"], &battery["percentage"]), (&json!(8.4), &json!(100.0)));
    assert_eq!((&battery["charging"], &battery["present"]), (&json!(false), &json!(true)));
}

/// Keys of `ranges` in the order in which the response contains them.
fn written_keys(text: &str) -> Vec<f64> {
    let (_, rest) = text.split_once("\"ranges\":{").expect("ranges");
    let (inside, _) = rest.split_once('}').expect("an end");
    let keys = inside.split(',').map(|pair| pair.split(':').next().unwrap_or("").trim_matches('"'));
    keys.map(|key| key.parse().unwrap_or_else(|e| panic!("{key}: {e}"))).collect()
}

#[test]
fn a_scan_has_ranges_by_degrees() {
    let (simulator, mut api) = start_paused();
    let stepped = api.post("/step", json!({"steps": 43, "observe": ["lidar"]}));
    let beams = stepped["observations"]["lidar"]["ranges"].as_array().expect("a list").clone();
    let mut robot = simulator.robot();
    let (scan, time) = robot.get_at("/lidar");
    assert_eq!(time, 0.2);
    assert_eq!(keys(&scan), ["count", "meta", "range_max", "range_min", "ranges", "step"]);
    let meta = json!({"time": 0.2, "frame_id": "lidar_link", "beams": 720, "angle_increment": 0.5,
        "rate": 10, "sample": 2, "units": {"angle": "degrees", "range": "metres"},
        "orientation": "0 is ahead, positive angles are to the left"});
    assert_eq!(scan["meta"], meta);
    assert_eq!((&scan["step"], &scan["count"]), (&json!(1.0), &json!(361)));
    assert_eq!((&scan["range_min"], &scan["range_max"]), (&json!(0.1), &json!(16.0)));
    for degrees in [-180i32, -90, 0, 1, 179, 180] {
        let beam = &beams[(degrees + 180) as usize * 2 % 720];
        let shown = &scan["ranges"][degrees.to_string()];
        let same = if beam.is_null() { shown.is_null() } else { near3(shown, number(beam)) };
        assert!(same, "{degrees}: {shown} {beam}");
    }
    assert!(scan["ranges"].as_object().expect("an object").values().any(Value::is_number));
    for (step, count, first, second) in [
        ("1", 361, -180.0, -179.0),
        ("0.5", 721, -180.0, -179.5),
        ("30", 13, -180.0, -150.0),
        ("7", 51, -175.0, -168.0),
    ] {
        let answer = robot.0.get(&format!("/lidar?step={step}"));
        let keys = written_keys(&answer.text());
        assert_eq!((keys.len(), keys[0], keys[1]), (count, first, second), "{step}");
        assert!(keys.contains(&0.0) && keys.windows(2).all(|w| w[0] < w[1]), "{step}");
        assert_eq!(parsed(&answer)["count"], count, "{step}");
    }
    for step in ["0.49", "30.01", "0", "-1", "NaN", "inf", "x", ""] {
        let (status, text) = detail(&robot.0.get(&format!("/lidar?step={step}")));
        assert!(status == 422 && text.contains("0.5 to 30"), "{step}: {status} {text}");
    }
}

fn near3(value: &Value, expected: f64) -> bool {
    (number(value) - expected).abs() <= 0.000_501
}

#[test]
fn states_include_the_requested_readings() {
    use base64::Engine;
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    robot.post("/drive", json!({"speed": 9, "steering": 0.1}));
    api.step(10);
    let (usual, time) = robot.get_at("/states");
    assert_eq!((keys(&usual), time), (vec!["battery", "cmd", "odom"], 0.05));
    let all = robot.get(EVERYTHING);
    let mut names: Vec<&str> = EVERYTHING.split(['=', ',']).skip(1).collect();
    names.sort_unstable();
    assert_eq!(keys(&all), names);
    assert_eq!(robot.get(&format!("/states?include={}", keys(&all).join(","))), all, "every key is a name");
    assert_eq!(all["cmd"], json!({"speed": 3.0, "steering": 0.1, "pan": 0.0, "tilt": 0.0}));
    assert_eq!(all["joy"], Value::Null);
    for path in ["odom", "imu", "battery", "lidar", "speed", "steering", "camera/pan", "camera/tilt"] {
        assert_eq!(all[path.replace('/', "_")], robot.get(&format!("/{path}")), "{path}");
    }
    assert_eq!(
        keys(&all["joints"]),
        ["front_wheels", "pan", "steering", "tilt", "wheel_angles", "wheel_spins"]
    );
    let some = robot.get("/states?include=odom%2Clidar&step=30&include=speed");
    assert_eq!(keys(&some), ["cmd", "lidar", "odom", "speed"]);
    assert_eq!(some["lidar"]["count"], 13);
    let camera = &all["camera"];
    assert_eq!(keys(camera), ["data", "encoding", "frame", "height", "time", "width"]);
    assert_eq!((&camera["encoding"], &camera["frame"]), (&json!("jpeg"), &json!(0)));
    let data = camera["data"].as_str().expect("base64");
    let jpeg = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
    assert_eq!(jpeg, robot.0.get("/camera").body);
    assert_eq!(keys(&robot.get("/states?include=")), ["cmd"]);
    assert_eq!(keys(&robot.get("/states?include=odom,smell,joy")), ["cmd", "joy", "odom"]);
    assert_eq!(detail(&robot.0.get("/states?step=99")).0, 422);
}

#[test]
fn info_and_health() {
    let (simulator, mut api) = start_paused();
    api.step(2);
    let mut robot = simulator.robot();
    insta::assert_snapshot!(pretty(&robot.get("/info")));
    assert_eq!(
        robot.get_at("/health"),
        (json!({"status": "ok", "time": 0.01, "timestamp": 0.01, "paused": true}), 0.01)
    );
    api.post("/clock", json!({"paused": false}));
    assert_eq!(robot.get("/health")["paused"], false);
}

#[test]
fn unknown_parameters_are_ignored_and_a_head_response_has_no_body() {
    let (simulator, _) = start_paused();
    let mut robot = simulator.robot();
    for (path, _) in SENSORS {
        assert_eq!(robot.0.get(&format!("{path}?colour=red")).status, 200, "{path}");
        let head = robot.0.request("HEAD", path, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        let (status, text) = detail(&robot.0.get(&format!("{path}?stream=perhaps")));
        assert!(status == 422 && text.contains("stream"), "{path}: {status} {text}");
    }
}

/// Readings of several paths, each with its simulated time.
fn readings(robot: &mut Robot) -> Vec<(Value, f64)> {
    ["/odom", "/imu", "/lidar?step=0.5", "/states"].map(|path| robot.get_at(path)).to_vec()
}

#[test]
fn equal_drives_give_equal_readings() {
    let (simulator, mut api): (Simulator, _) = start_paused();
    let mut robot = simulator.robot();
    let mut run = || {
        api.post("/respawn", json!({}));
        robot.post("/drive", json!({"speed": 1.0, "steering": 0.2}));
        api.step(150);
        readings(&mut robot)
    };
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    assert!(near(&json!(first[0].1), 0.735), "sample 22 of odometry falls on tick 147: {}", first[0].1);
}

#[test]
fn a_get_request_with_a_body_succeeds() {
    let (simulator, _) = start_paused();
    let request =
        format!("GET /speed HTTP/1.1\r\nHost: {}\r\nContent-Length: 5\r\n\r\nhello", simulator.address);
    assert_eq!(raw(simulator.address, request.as_bytes()).status, 200);
}

#[test]
fn the_lidar_measures_the_distance_to_the_fence() {
    let (simulator, mut api) = start_paused();
    // The car stands in the middle of the field and faces +x. The field of the oval is 8 m by 6 m,
    // and its fence is 3 cm thick.
    api.post("/pose", json!({"x": 4, "y": 3, "yaw": 0}));
    api.step(20);
    let scan = simulator.robot().get("/lidar?step=0.5");
    let (x, y) = (4.0 - 0.027, 3.0);
    let (mut on_the_fence, mut before_it) = (0, 0);
    for (key, range) in scan["ranges"].as_object().expect("ranges") {
        let (sin, cos) = key.parse::<f64>().expect("degrees").to_radians().sin_cos();
        let to = |at: f64, direction: f64, end: f64| match direction {
            d if d.abs() < 1e-9 => f64::INFINITY,
            d if d > 0.0 => (end - 0.03 - at) / d,
            d => (0.03 - at) / d,
        };
        let fence = to(x, cos, 8.0).min(to(y, sin, 6.0));
        let range = number(range);
        if range < fence - 0.3 {
            before_it += 1;
        } else {
            assert!(
                (range - fence).abs() < 4.0 * 0.01 + 0.001,
                "{key}°: {range} m; the fence is at {fence} m"
            );
            on_the_fence += 1;
        }
    }
    assert!(
        on_the_fence > 650 && before_it > 0,
        "{on_the_fence} beams hit the fence, {before_it} hit objects before it"
    );
    assert!(scan["ranges"]["0"].is_number(), "straight ahead");
}
