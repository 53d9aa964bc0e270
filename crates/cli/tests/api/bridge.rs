//! The robot's topics over `/rosbridge`: their rates, and their values in comparison with the
//! robot's API.

use crate::support::{Api, Bridge, Robot, number, seconds, start, start_paused, until};
use base64::Engine;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// All topics that the robot publishes, except images. Each entry has the name of the topic, its
/// type, and the number of its messages in 401 ticks.
const IN_TWO_SECONDS: [(&str, &str, usize); 12] = [
    ("/battery_state", "sensor_msgs/msg/BatteryState", 2),
    ("/camera/camera_info", "sensor_msgs/msg/CameraInfo", 30),
    ("/clock", "rosgraph_msgs/msg/Clock", 401),
    ("/imu", "sensor_msgs/msg/Imu", 100),
    ("/joint_states", "sensor_msgs/msg/JointState", 60),
    ("/odom", "nav_msgs/msg/Odometry", 60),
    ("/odom/laser", "nav_msgs/msg/Odometry", 20),
    ("/scan", "sensor_msgs/msg/LaserScan", 20),
    ("/scan_filtered", "sensor_msgs/msg/LaserScan", 20),
    ("/sim/epoch", "std_msgs/msg/UInt64", 0),
    ("/tf", "tf2_msgs/msg/TFMessage", 60),
    ("/tf_static", "tf2_msgs/msg/TFMessage", 0),
];

/// Advances by `ticks` and collects all messages up to the last tick. The tests choose `ticks` so
/// that no sensor takes a sample at the last tick. So the last message is the `/clock` message of
/// that tick.
fn step(api: &mut Api, bridge: &mut Bridge, ticks: u64, all: &mut BTreeMap<String, Vec<Value>>) {
    api.step(ticks);
    let end = api.time();
    loop {
        let reply = bridge.next_of("publish");
        let topic = reply["topic"].as_str().expect("a topic").to_owned();
        let over = topic == "/clock" && seconds(&reply["msg"]["clock"]) > end - 1e-6;
        all.entry(topic).or_default().push(reply["msg"].clone());
        if over {
            return;
        }
    }
}

#[test]
fn every_topic_has_its_type_and_rate() {
    let (simulator, mut api) = start_paused();
    let mut bridge = simulator.bridge();
    let known = bridge.call("/rosapi/topics", json!({}));
    for (topic, kind, _) in IN_TWO_SECONDS {
        let all = known["topics"].as_array().expect("a list");
        let place = all.iter().position(|t| t == topic).unwrap_or_else(|| panic!("{topic}"));
        assert_eq!(known["types"][place], kind, "{topic}");
        // These two topics are latched: the bridge sends their last message to every new
        // subscriber. The test subscribes to these topics below and receives their messages before
        // the first step.
        if !["/tf_static", "/sim/epoch"].contains(&topic) {
            bridge.send(json!({"op": "subscribe", "topic": topic, "type": kind, "queue_length": 1000}));
        }
    }
    bridge.subscribe("/tf_static");
    bridge.next_on("/tf_static");
    bridge.wait_until_tapped();
    let mut all = BTreeMap::new();
    step(&mut api, &mut bridge, 1, &mut all);
    for _ in 0..8 {
        step(&mut api, &mut bridge, 50, &mut all);
    }
    for (topic, _, count) in IN_TWO_SECONDS {
        assert_eq!(all.get(topic).map_or(0, Vec::len), count, "{topic}");
    }
    // The time stamps are in simulated time.
    let stamps: Vec<f64> = all["/imu"].iter().map(|m| seconds(&m["header"]["stamp"])).collect();
    for (k, stamp) in (1..).zip(stamps) {
        assert!((stamp - f64::from(k) * 0.02).abs() < 1e-6, "{k}: {stamp}");
    }
    let clocks: Vec<f64> = all["/clock"].iter().map(|m| seconds(&m["clock"])).collect();
    assert!(clocks.windows(2).all(|w| (w[1] - w[0] - 0.005).abs() < 1e-6));
}

fn same(value: &Value, expected: &Value, tolerance: f64) {
    assert!((number(value) - number(expected)).abs() <= tolerance, "{value} is not {expected}");
}

fn same_vector(value: &Value, expected: &Value, tolerance: f64) {
    for axis in ["x", "y", "z"] {
        same(&value[axis], &expected[axis], tolerance);
    }
}

#[test]
fn messages_agree_with_the_web_api() {
    let (simulator, mut api) = start_paused();
    let (mut bridge, mut robot) = (simulator.bridge(), simulator.robot());
    for topic in ["/odom", "/imu", "/battery_state", "/scan", "/joint_states", "/tf", "/clock"] {
        bridge.subscribe(topic);
    }
    bridge.wait_until_tapped();
    robot.post("/camera/pan", json!({"value": 0.3}));
    let mut all = BTreeMap::new();
    step(&mut api, &mut bridge, 1, &mut all);
    for _ in 0..4 {
        robot.post("/drive", json!({"speed": 0.8, "steering": 0.1}));
        step(&mut api, &mut bridge, 50, &mut all);
    }
    let last = |topic: &str| all[topic].last().unwrap_or_else(|| panic!("{topic}"));
    let odom = robot.get("/odom");
    assert!(number(&odom["position"]["x"]) > 0.2, "the car did not move: {odom}");
    let pose = &last("/odom")["pose"]["pose"];
    same_vector(&pose["position"], &odom["position"], 1e-6);
    same(&pose["orientation"]["z"], &odom["orientation"]["quaternion"]["z"], 1e-6);
    same(&last("/odom")["twist"]["twist"]["linear"]["x"], &odom["velocity"]["linear"], 1e-6);
    assert_eq!(last("/odom")["child_frame_id"], "base_footprint");
    let imu = robot.get("/imu");
    same_vector(&last("/imu")["linear_acceleration"], &imu["acceleration"], 1e-6);
    same_vector(&last("/imu")["angular_velocity"], &imu["gyro"], 1e-6);
    assert_eq!(last("/imu")["orientation_covariance"][0], -1.0);
    let battery = robot.get("/battery");
    same(&last("/battery_state")["voltage"], &battery["voltage"], 1e-3);
    assert_eq!(last("/battery_state")["temperature"], Value::Null, "NaN is sent as null");
    let lidar = robot.get("/lidar?step=0.5");
    let ranges = last("/scan")["ranges"].as_array().expect("ranges");
    assert_eq!(ranges.len(), 721);
    let mut hits = 0;
    for (i, range) in ranges.iter().enumerate() {
        let degrees = -180.0 + 0.5 * i as f64;
        let key = if degrees.fract() == 0.0 { format!("{degrees:.0}") } else { format!("{degrees:.1}") };
        let from_api = lidar["ranges"].get(&key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(range.is_null(), from_api.is_null(), "{key}");
        if !range.is_null() {
            same(range, from_api, 1e-3);
            hits += 1;
        }
    }
    assert!(hits > 100, "{hits}");
    let joints = last("/joint_states");
    let place = |name: &str| {
        joints["name"].as_array().expect("names").iter().position(|n| n == name).expect("a joint")
    };
    same(&joints["position"][place("camera_pan_joint")], &robot.get("/camera/pan"), 1e-6);
    let camera = last("/tf")["transforms"]
        .as_array()
        .expect("frames")
        .iter()
        .find(|t| t["child_frame_id"] == "camera_link");
    same(&camera.expect("the camera")["transform"]["rotation"]["z"], &json!((0.15f64).sin()), 1e-6);
}

fn bytes(message: &Value) -> Vec<u8> {
    let text = message["data"].as_str().unwrap_or_else(|| panic!("base64: {}", message["data"]));
    base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
}

#[test]
fn images_are_the_frames_of_the_camera() {
    let (simulator, mut api) = start_paused();
    let (mut bridge, mut raw) = (simulator.bridge(), simulator.bridge());
    bridge.subscribe("camera/image_raw/compressed");
    raw.subscribe("/camera/image_raw");
    bridge.wait_until_tapped();
    raw.wait_until_tapped();
    api.step(14);
    let answer = simulator.client().get("/camera");
    let picture = bridge.next_on("camera/image_raw/compressed");
    assert_eq!(picture["format"], "jpeg");
    assert_eq!(picture["header"]["stamp"], json!({"sec": 0, "nanosec": 70_000_000}));
    assert_eq!(bytes(&picture), answer.body);
    let pixels = raw.next_on("/camera/image_raw");
    assert_eq!(
        (&pixels["width"], &pixels["height"], &pixels["step"]),
        (&json!(480), &json!(360), &json!(1440))
    );
    assert_eq!(
        (&pixels["encoding"], &pixels["header"]["frame_id"]),
        (&json!("rgb8"), &json!("camera_optical_frame"))
    );
    let (pixels, jpeg) = (bytes(&pixels), image::load_from_memory(&answer.body).expect("JPEG").to_rgb8());
    assert_eq!(pixels.len(), jpeg.len());
    let error: f64 = pixels.iter().zip(jpeg.iter()).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    assert!(error / (pixels.len() as f64) < 6.0, "{}", error / pixels.len() as f64);
}

#[test]
fn latched_topics_are_sent_on_subscription() {
    let (simulator, mut api) = start_paused();
    let mut bridge = simulator.bridge();
    let epoch = bridge.wait_until_tapped();
    bridge.subscribe("/tf_static");
    let frames = bridge.next_on("/tf_static");
    let children: Vec<&Value> =
        frames["transforms"].as_array().expect("frames").iter().map(|t| &t["child_frame_id"]).collect();
    assert!(children.contains(&&json!("lidar_link")), "{children:?}");
    bridge.subscribe("clock");
    assert_eq!(bridge.next_on("clock"), json!({"clock": {"sec": 0, "nanosec": 0}}));
    // A client that subscribes later, or a second time, receives the last message too.
    let mut other = simulator.bridge();
    assert_eq!(other.wait_until_tapped(), epoch);
    other.send(json!({"op": "subscribe", "topic": "/sim/epoch", "id": "again"}));
    assert_eq!(other.next_on("/sim/epoch"), json!({"data": epoch}));
    // A new epoch is sent even while the simulation is paused.
    api.post("/pose", json!({"x": 0.5}));
    for client in [&mut bridge, &mut other] {
        let now = client.next_on("/sim/epoch")["data"].as_u64().expect("a number");
        assert!(now > epoch, "{now} after {epoch}");
    }
}

/// Waits until the robot's command for `axis` has this value.
fn wait_for_command(robot: &mut Robot, axis: &str, value: f64) {
    until(axis, || ((robot.commanded(axis) - value).abs() < 1e-5).then_some(()));
}

#[test]
fn published_commands_take_effect() {
    let (simulator, _) = start_paused();
    let (mut bridge, mut robot) = (simulator.bridge(), simulator.robot());
    bridge.send(json!({"op": "advertise", "topic": "/speed", "type": "std_msgs/Float64", "latch": false, "queue_size": 100}));
    bridge.publish("/speed", json!({"data": 0.5}));
    wait_for_command(&mut robot, "speed", 0.5);
    bridge.send(json!({"op": "unadvertise", "topic": "/speed"}));
    bridge.publish("steering", json!({"data": 0.2}));
    wait_for_command(&mut robot, "steering", 0.2);
    bridge.publish("/camera/pan", json!({"data": -0.1}));
    wait_for_command(&mut robot, "pan", -0.1);
    bridge.publish("/camera/tilt", json!({"data": 9}));
    wait_for_command(&mut robot, "tilt", 30f64.to_radians());
    bridge.send(json!({"op": "advertise", "topic": "cmd_vel", "type": "geometry_msgs/msg/Twist"}));
    bridge.publish("cmd_vel", json!({"linear": {"x": 1.0}, "angular": {"z": 1.0}}));
    wait_for_command(&mut robot, "speed", 1.0);
    wait_for_command(&mut robot, "steering", (0.18f64).atan());
    // Missing fields of a message count as zero.
    bridge.publish("/cmd_vel", json!({}));
    wait_for_command(&mut robot, "speed", 0.0);
    wait_for_command(&mut robot, "steering", 0.0);
    // Commands are carried out in order, so the last of many stays in effect, even if the client
    // disconnects.
    for i in 0..500 {
        bridge.publish("/speed", json!({"data": f64::from(i) * 1e-3}));
    }
    bridge.0.close();
    wait_for_command(&mut robot, "speed", 0.499);
}

#[test]
fn published_commands_are_sent_to_other_subscribers() {
    let (simulator, _) = start_paused();
    let (mut bridge, mut other) = (simulator.bridge(), simulator.bridge());
    other.send(json!({"op": "subscribe", "topic": "cmd_vel", "type": "geometry_msgs/Twist"}));
    other.call("/rosapi/nodes", json!({}));
    bridge.publish("/cmd_vel", json!({"linear": {"x": 0.25}}));
    let zero = json!({"x": 0.0, "y": 0.0, "z": 0.0});
    assert_eq!(other.next_on("cmd_vel"), json!({"linear": {"x": 0.25, "y": 0.0, "z": 0.0}, "angular": zero}));
}

#[test]
fn a_command_that_is_refused_is_reported() {
    let simulator = crate::support::setup().world("oval").start();
    let (mut bridge, mut api) = (simulator.bridge(), simulator.api());
    bridge.send(json!({"op": "publish", "topic": "/speed", "id": "mine", "msg": {"data": 0.1}}));
    assert_eq!(bridge.call("/rosapi/nodes", json!({})), json!({"nodes": ["/chicane"]}));
    // Commands are refused while a world is loading.
    api.post("/clock", json!({"paused": true}));
    let mut switching = simulator.client();
    switching.send("POST", "/sim/api/respawn", &[("content-type", "application/json")], b"{}");
    let refused = until("a refusal, or the end of the respawn", || {
        bridge.send(json!({"op": "publish", "topic": "/speed", "id": "mine", "msg": {"data": 0.1}}));
        bridge.send(json!({"op": "call_service", "service": "/rosapi/nodes", "id": 7}));
        let reply = bridge.receive();
        match reply["op"].as_str() {
            Some("status") => Some(Some(reply)),
            _ if api.get("/state")["switching"] == false => Some(None),
            _ => None,
        }
    });
    // The respawn may end before any command is refused. If a command was refused, the reply must
    // give the reason.
    if let Some(reply) = refused {
        assert_eq!(reply["id"], "mine");
        assert!(reply["msg"].as_str().is_some_and(|m| m.starts_with("/speed was refused: ")), "{reply}");
    }
}

#[test]
fn throttled_messages_keep_their_interval_and_end_with_the_subscription() {
    let simulator = start();
    let mut bridge = simulator.bridge();
    // The time is measured from before the subscription, because the first message may arrive late.
    // The interval from a late first message to the next one would be too short.
    let began = Instant::now();
    bridge.send(
        json!({"op": "subscribe", "topic": "/imu", "id": "slow", "throttle_rate": 200, "queue_length": 1000}),
    );
    for n in 0..6 {
        bridge.next_on("/imu");
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(200 * n), "{n}: {took:?}");
    }
    // With a second, unthrottled subscription to the same topic, the client receives every message.
    bridge.send(json!({"op": "subscribe", "topic": "/imu", "id": "fast", "queue_length": 1000}));
    let stamps: Vec<f64> = (0..60).map(|_| seconds(&bridge.next_on("/imu")["header"]["stamp"])).collect();
    assert!(stamps.windows(2).all(|w| (w[1] - w[0] - 0.02).abs() < 1e-6), "{stamps:?}");
    bridge.send(json!({"op": "unsubscribe", "topic": "/imu", "id": "fast"}));
    bridge.send(json!({"op": "unsubscribe", "topic": "/imu", "id": "slow"}));
    bridge.call("/rosapi/get_time", json!({}));
    bridge.subscribe("/clock");
    let reply: Vec<Value> = (0..100).map(|_| bridge.receive()).collect();
    let imu = reply.iter().filter(|s| s["topic"] == "/imu").count();
    assert_eq!(imu, 0, "messages arrived after the unsubscription");
}
