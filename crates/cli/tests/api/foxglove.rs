//! The robot and the simulator over `/foxglove`: topics, scene, parameters, services, commands.

use crate::support::{Api, Event, Foxglove, Socket, number, setup, start, start_paused, until};
use chicane_ros::messages::{
    Clock, CompressedImage, Header, Imu, LaserScan, Odometry, TFMessage, Twist, Vector3,
};
use chicane_ros::{Direction, Topic, cdr};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The robot's topics except images, `/tf_static` and `/sim/epoch`, each with the number of its
/// messages in 401 ticks.
const IN_TWO_SECONDS: [(&str, usize); 10] = [
    ("/battery_state", 2),
    ("/camera/camera_info", 30),
    ("/clock", 401),
    ("/imu", 100),
    ("/joint_states", 60),
    ("/odom", 60),
    ("/odom/laser", 20),
    ("/scan", 20),
    ("/scan_filtered", 20),
    ("/tf", 60),
];

/// Number of subscriptions in the regression test of a forgotten subscription. There are many, so
/// that one of them probably arrives at the same time as a new published view.
const SUBSCRIPTIONS: usize = 1_000;

fn seconds(header: &Header) -> f64 {
    f64::from(header.stamp.sec) + f64::from(header.stamp.nanosec) * 1e-9
}

/// Advances by `ticks` and collects all messages up to the clock message of the last tick.
fn step(api: &mut Api, foxglove: &mut Foxglove, ticks: u64, all: &mut BTreeMap<String, Vec<Event>>) {
    api.step(ticks);
    let end = api.time();
    foxglove.find(|event| {
        let Event::Message { topic, .. } = event else { return None };
        all.entry(topic.clone()).or_default().push(event.clone());
        (topic == "/clock" && event.time_s() > end - 1e-6).then_some(())
    });
}

#[test]
fn every_channel_is_advertised_with_its_schema() {
    let (simulator, _) = start_paused();
    let foxglove = simulator.foxglove();
    assert_eq!(foxglove.info["name"], "chicane");
    let capabilities = json!(["clientPublish", "parameters", "parametersSubscribe", "services", "time"]);
    assert_eq!(foxglove.info["capabilities"], capabilities);
    for topic in Topic::ALL.into_iter().filter(|topic| topic.direction() == Direction::Out) {
        let channel = &foxglove.channels[topic.name()];
        assert_eq!((&channel["encoding"], &channel["schemaEncoding"]), (&json!("cdr"), &json!("ros2msg")));
        assert_eq!(channel["schemaName"], topic.type_name());
        let schema = channel["schema"].as_str().expect("a text");
        assert_eq!(Some(schema.to_owned()), chicane_ros::definitions::full_text(topic.type_name()));
    }
    for (topic, kind) in [
        ("/sim/state", "chicane.State"),
        ("/sim/scene", "foxglove.SceneUpdate"),
        ("/sim/objects", "foxglove.SceneUpdate"),
    ] {
        let channel = &foxglove.channels[topic];
        assert_eq!((&channel["encoding"], &channel["schemaName"]), (&json!("json"), &json!(kind)));
        let schema: Value = serde_json::from_str(channel["schema"].as_str().expect("a text")).expect("JSON");
        assert_eq!((&schema["type"], &schema["title"]), (&json!("object"), &json!(kind)));
    }
    // The session id is the same for all connections, so a client that reconnects recognizes the
    // simulator.
    assert_eq!(simulator.foxglove().info["sessionId"], foxglove.info["sessionId"]);
}

#[test]
fn both_versions_of_the_protocol_are_accepted() {
    let (simulator, _) = start_paused();
    let open = |offered: &[(&str, &str)]| Socket::try_open(simulator.address, "/foxglove", offered).map(drop);
    for offered in ["foxglove.websocket.v1", "foxglove.sdk.v1", "x, foxglove.websocket.v1,foxglove.sdk.v1"] {
        assert_eq!(open(&[("sec-websocket-protocol", offered)]), Ok(()), "{offered}");
    }
    assert_eq!(open(&[("sec-websocket-protocol", "foxglove.sdk.v2")]), Err(400));
    assert_eq!(open(&[]), Err(400));
    assert_eq!(simulator.client().get("/foxglove").status, 426);
}

#[test]
fn every_topic_has_its_rate_in_simulated_time() {
    let (simulator, mut api) = start_paused();
    let mut foxglove = simulator.foxglove();
    for (topic, _) in IN_TWO_SECONDS {
        foxglove.subscribe(topic);
    }
    // The clock is latched, so a subscriber gets its last message at once.
    foxglove.next_on("/clock");
    foxglove.subscribe("/tf_static");
    let fixed: TFMessage = foxglove.next_on("/tf_static").cdr();
    assert!(fixed.transforms.iter().any(|transform| transform.child_frame_id == "lidar_link"));
    foxglove.wait_until_tapped();
    let mut all = BTreeMap::new();
    step(&mut api, &mut foxglove, 1, &mut all);
    for _ in 0..8 {
        step(&mut api, &mut foxglove, 50, &mut all);
    }
    for (topic, count) in IN_TWO_SECONDS {
        assert_eq!(all.get(topic).map_or(0, Vec::len), count, "{topic}");
    }
    for (k, event) in (1..).zip(&all["/imu"]) {
        let stamp = seconds(&event.cdr::<Imu>().header);
        assert!((stamp - f64::from(k) * 0.02).abs() < 1e-6 && (event.time_s() - stamp).abs() < 1e-6);
    }
    let clocks: Vec<Clock> = all["/clock"].iter().map(Event::cdr).collect();
    assert!(clocks.windows(2).all(|pair| pair[1].clock > pair[0].clock));
}

#[test]
fn messages_agree_with_the_web_api() {
    let (simulator, mut api) = start_paused();
    let (mut foxglove, mut robot) = (simulator.foxglove(), simulator.robot());
    for topic in ["/odom", "/imu", "/scan", "/clock"] {
        foxglove.subscribe(topic);
    }
    foxglove.wait_until_tapped();
    let mut all = BTreeMap::new();
    step(&mut api, &mut foxglove, 1, &mut all);
    for _ in 0..4 {
        robot.post("/drive", json!({"speed": 0.8, "steering": 0.1}));
        step(&mut api, &mut foxglove, 50, &mut all);
    }
    let last = |topic: &str| all[topic].last().unwrap_or_else(|| panic!("{topic}"));
    let near = |a: f64, b: &Value| assert!((a - number(b)).abs() < 1e-5, "{a} is not {b}");
    let odom: Odometry = last("/odom").cdr();
    let http = robot.get("/odom");
    assert!(number(&http["position"]["x"]) > 0.2, "the car did not move: {http}");
    near(odom.pose.pose.position.x, &http["position"]["x"]);
    near(odom.pose.pose.position.y, &http["position"]["y"]);
    let imu: Imu = last("/imu").cdr();
    let http = robot.get("/imu");
    near(imu.angular_velocity.z, &http["gyro"]["z"]);
    near(imu.linear_acceleration.x, &http["acceleration"]["x"]);
    let scan: LaserScan = last("/scan").cdr();
    let ranges = robot.get("/lidar?step=0.5")["ranges"].clone();
    let missed = ranges.as_object().expect("ranges").values().filter(|range| range.is_null()).count();
    assert_eq!((scan.ranges.len(), scan.ranges.iter().filter(|r| r.is_infinite()).count()), (721, missed));
}

/// Regression test: a subscription that arrived at the same time as a new published view was
/// forgotten, and the client never got the scene.
#[test]
fn a_subscription_was_forgotten_when_the_view_changed_at_the_same_time() {
    let simulator = start();
    let mut foxglove = simulator.foxglove();
    for _ in 0..SUBSCRIPTIONS {
        let id = foxglove.subscribe("/sim/scene");
        foxglove.next_on("/sim/scene");
        foxglove.send(json!({"op": "unsubscribe", "subscriptionIds": [id]}));
    }
}

#[test]
fn images_are_jpeg_files() {
    let simulator = start();
    let mut foxglove = simulator.foxglove();
    foxglove.subscribe("/camera/image_raw/compressed");
    let image: CompressedImage = foxglove.next_on("/camera/image_raw/compressed").cdr();
    assert_eq!(image.format, "jpeg");
    let decoded = image::load_from_memory(&image.data).expect("an image");
    assert_eq!((decoded.width(), decoded.height()), (480, 360));
}

#[test]
fn the_state_is_the_state_of_the_web_api() {
    let (simulator, mut api) = start_paused();
    let mut foxglove = simulator.foxglove();
    foxglove.subscribe("/sim/state");
    assert_eq!(foxglove.next_on("/sim/state").json(), api.get("/state"), "at once");
    api.post("/pose", json!({"x": 1.25, "y": 0.5}));
    let moved = foxglove.find(|event| {
        matches!(event, Event::Message { .. }).then(|| event.json()).filter(|s| s["vehicle"]["x"] == 1.25)
    });
    assert_eq!(moved, api.get("/state"));
    let schema: Value =
        serde_json::from_str(foxglove.channels["/sim/state"]["schema"].as_str().expect("a text"))
            .expect("JSON");
    let known: Vec<&String> = schema["properties"].as_object().expect("fields").keys().collect();
    let sent: Vec<&String> = moved.as_object().expect("an object").keys().collect();
    assert!(sent.iter().all(|name| known.contains(name)), "{sent:?} and {known:?}");
    api.step(200);
    foxglove.find(|event| (*event == Event::Time(1_000_000_000)).then_some(()));
}

/// The entity with this id in a scene.
fn entity(scene: &Value, id: &str) -> Value {
    let entities = scene["entities"].as_array().expect("a list");
    entities.iter().find(|one| one["id"] == id).cloned().unwrap_or_else(|| panic!("{id} in {scene}"))
}

#[test]
fn the_scene_shows_road_objects_and_car() {
    let (simulator, mut api) = setup().world("town").start_paused();
    let mut foxglove = simulator.foxglove();
    foxglove.subscribe("/sim/scene");
    let scene = foxglove.next_on("/sim/scene").json();
    let route = api.get("/route");
    let road = entity(&scene, "road");
    let points = road["lines"][0]["points"].as_array().expect("points");
    assert_eq!(points.len(), route["waypoints"].as_array().expect("waypoints").len());
    foxglove.subscribe("/sim/objects");
    let objects = foxglove.next_on("/sim/objects").json();
    let listed = api.get("/objects");
    let movable = listed["objects"].as_array().expect("objects").iter().filter(|o| o["type"] != "wall");
    for object in movable {
        let name = object["name"].as_str().expect("a name");
        entity(&objects, &format!("object/{name}"));
    }
    api.post("/pose", json!({"x": 2.0, "y": 3.0, "yaw": 0.5}));
    let car = foxglove.find(|event| {
        let Event::Message { topic, .. } = event else { return None };
        let car = (topic == "/sim/objects").then(|| entity(&event.json(), "car"))?;
        ((number(&car["cubes"][0]["pose"]["position"]["x"]) - 2.0).abs() < 0.2).then_some(car)
    });
    assert_eq!(car["frame_id"], "world");
    assert!((number(&car["cubes"][0]["pose"]["position"]["y"]) - 3.0).abs() < 0.2, "{car}");
    // After a switch to another world, the server sends the new scene without a request.
    api.post("/switch", json!({"world": "oval"}));
    let oval = foxglove.next_on("/sim/scene").json();
    assert_ne!(entity(&oval, "road"), road);
    assert_eq!(oval["deletions"][0]["type"], 1);
}

#[test]
fn the_transform_of_the_odometry_leads_to_the_true_pose() {
    let (simulator, mut api) = start_paused();
    let mut foxglove = simulator.foxglove();
    let mut robot = simulator.robot();
    foxglove.subscribe("/sim/tf");
    for _ in 0..10 {
        robot.post("/drive", json!({"speed": 1.0, "steering": 0.2}));
        api.step(20);
    }
    // The odometry takes a sample at tick 200, the last tick. So the last transform belongs to the
    // current pose.
    let tf: TFMessage = foxglove.find(|event| {
        let is_last = matches!(event, Event::Message { .. }) && event.time_s() > 0.999;
        is_last.then(|| event.cdr())
    });
    let link = &tf.transforms[0];
    assert_eq!((link.header.frame_id.as_str(), link.child_frame_id.as_str()), ("world", "odom"));
    let (odom, truth) = (robot.get("/odom"), api.get("/pose"));
    let [x, y] = ["x", "y"].map(|axis| number(&odom["position"][axis]));
    let turn = 2.0 * f64::atan2(link.transform.rotation.z, link.transform.rotation.w);
    let at = link.transform.translation;
    let found = [at.x + x * turn.cos() - y * turn.sin(), at.y + x * turn.sin() + y * turn.cos()];
    for (found, axis) in found.into_iter().zip(["x", "y"]) {
        assert!((found - number(&truth[axis])).abs() < 1e-4, "{axis}: {found} is not {truth}");
    }
}

#[test]
fn parameters_are_read_and_set() {
    let (simulator, mut api) = start_paused();
    let mut foxglove = simulator.foxglove();
    assert_eq!(foxglove.parameters(&[]), json!({"brightness": 1.0, "paused": true, "speed": 1.0}));
    let set = foxglove.set(json!([{"name": "brightness", "value": 0.5}, {"name": "/speed", "value": 2}]));
    assert_eq!(set, json!({"brightness": 0.5, "speed": 2.0}));
    assert_eq!(api.get("/brightness"), json!({"value": 0.5}));
    assert_eq!(api.get("/clock")["speed"], 2.0);
    assert_eq!(foxglove.set(json!([{"name": "paused", "value": false}])), json!({"paused": false}));
    assert_eq!(api.get("/clock")["paused"], false);
    assert_eq!(foxglove.parameters(&["speed"]), json!({"speed": 2.0}));
    for (wrong, text) in [
        (json!({"name": "brightness", "value": 7}), "brightness must be a number from 0.2 to 2"),
        (json!({"name": "brightness", "value": "0.5"}), "brightness must be a number from 0.2 to 2"),
        (json!({"name": "speed", "value": -1}), "speed must be a number from 0.05 to 100, or 0"),
        (json!({"name": "paused", "value": 1}), "paused must be"),
        (json!({"name": "paused"}), "paused can't be removed"),
        (json!({"name": "gravity", "value": 1}), "unknown parameter \"gravity\"; the parameters are"),
    ] {
        let refused = foxglove.refused(json!({"op": "setParameters", "parameters": [wrong]}));
        assert!(refused.contains(text), "{refused}");
    }
    assert_eq!(foxglove.parameters(&[]), json!({"brightness": 0.5, "paused": false, "speed": 2.0}));
}

#[test]
fn a_client_is_told_of_changed_parameters() {
    let (simulator, mut api) = start_paused();
    let (mut one, mut other) = (simulator.foxglove(), simulator.foxglove());
    one.send(json!({"op": "subscribeParameterUpdates", "parameterNames": ["brightness", "paused"]}));
    other.send(json!({"op": "subscribeParameterUpdates", "parameterNames": []}));
    other.send(json!({"op": "unsubscribeParameterUpdates", "parameterNames": ["brightness"]}));
    // The server processes messages in order. So the subscriptions have taken effect when these
    // replies arrive.
    one.parameters(&["speed"]);
    other.parameters(&["speed"]);
    let changed = |client: &mut Foxglove| client.next_of("parameterValues")["parameters"].clone();
    api.post("/brightness", json!({"value": 0.75}));
    assert_eq!(changed(&mut one), json!([{"name": "brightness", "value": 0.75, "type": "float64"}]));
    // The client `other`, which changes the parameter, gets the update too. `other` got no update
    // of the brightness, because it unsubscribed from this parameter.
    other.send(json!({"op": "setParameters", "parameters": [{"name": "paused", "value": false}]}));
    assert_eq!(changed(&mut one), json!([{"name": "paused", "value": false}]));
    assert_eq!(changed(&mut other), json!([{"name": "paused", "value": false}]));
}

#[test]
fn services_reset_and_respawn() {
    let (simulator, mut api) = start_paused();
    let mut foxglove = simulator.foxglove();
    assert_eq!(foxglove.services["/reset"]["type"], "std_srvs/srv/Trigger");
    let start = api.get("/pose");
    api.post("/pose", json!({"x": 1.0, "y": 1.0}));
    api.step(40);
    assert_eq!(foxglove.call("/reset"), json!({"success": true, "message": ""}));
    assert_eq!(api.get("/pose")["x"], start["x"]);
    assert!(api.time() > 0.1, "a reset does not change the time");
    foxglove.subscribe("/tf_static");
    foxglove.next_on("/tf_static");
    foxglove.subscribe("/clock");
    foxglove.next_on("/clock");
    api.step(4);
    foxglove
        .find(|event| matches!(event, Event::Message { .. }).then(|| event.time_s()).filter(|t| *t > 0.21));
    // Foxglove forgets all messages when time jumps back, so the server sends `/tf_static` again.
    // This message comes with the first tick after the respawn, which may be before the response.
    let id = foxglove.services["/respawn"]["id"].as_u64().expect("an id") as u32;
    foxglove.send_call(id, 6, "json", b"");
    let mut has_frames = false;
    let respawned = foxglove.find(|event| {
        has_frames |= matches!(event, Event::Message { topic, .. } if topic == "/tf_static");
        matches!(event, Event::Response { call: 6, .. }).then(|| event.json())
    });
    assert_eq!(respawned, json!({"success": true, "message": ""}));
    assert_eq!(api.time(), 0.0);
    if !has_frames {
        api.step(1);
        foxglove.next_on("/tf_static");
    }
    // A call of `/reset` that is encoded in CDR.
    let id = foxglove.services["/reset"]["id"].as_u64().expect("an id") as u32;
    foxglove.send_call(id, 77, "cdr", &[0, 1, 0, 0]);
    let payload = foxglove.find(|event| match event {
        Event::Response { service, call: 77, encoding, payload } if *service == id && encoding == "cdr" => {
            Some(payload.clone())
        }
        _ => None,
    });
    assert_eq!(payload, [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]);
}

#[test]
fn wrong_service_calls_fail() {
    let (simulator, _) = start_paused();
    let mut foxglove = simulator.foxglove();
    for (service, encoding, payload, text) in [
        (99, "json", &b"{}"[..], "there is no service with id 99"),
        (1, "protobuf", b"", "unknown encoding \"protobuf\": use cdr or json"),
        (1, "json", b"[1]", "the request must be a JSON object"),
    ] {
        foxglove.send_call(service, 3, encoding, payload);
        let failure = foxglove.next_of("serviceCallFailure");
        assert_eq!((&failure["serviceId"], &failure["callId"]), (&json!(service), &json!(3)));
        assert!(failure["message"].as_str().is_some_and(|message| message.contains(text)), "{failure}");
    }
}

#[test]
fn a_client_drives_the_car() {
    let simulator = start();
    let (mut foxglove, mut robot) = (simulator.foxglove(), simulator.robot());
    let linear = Vector3 { x: 0.5, y: 0.0, z: 0.0 };
    let twist = cdr::encode(&Twist { linear, ..Twist::default() });
    // A command ends after a second, which the test could miss on a busy machine.
    until("the command", || {
        foxglove.publish("/cmd_vel", "geometry_msgs/msg/Twist", "cdr", &twist);
        (robot.commanded("speed") == 0.5).then_some(())
    });
    until("the command", || {
        foxglove.publish("/steering", "std_msgs/Float64", "json", br#"{"data": 0.25}"#);
        (robot.commanded("steering") == 0.25).then_some(())
    });
    for (payload, text) in [
        (&b"{\"data\": \"fast\"}"[..], "/speed: msg.data must be a number"),
        (b"{\"value\": 1}", "/speed: std_msgs/Float64 has no field \"value\"; it has data"),
        (b"{", "/speed: the message is not JSON"),
    ] {
        foxglove.publish("/speed", "", "json", payload);
        let refused = foxglove.next_refusal();
        assert!(refused.contains(text), "{refused}");
    }
    foxglove.publish("/speed", "std_msgs/msg/Float64", "cdr", &cdr::encode(&f64::NAN));
    assert_eq!(foxglove.next_refusal(), "/speed: the numbers of a command must be finite");
    foxglove.publish("/speed", "std_msgs/msg/Float64", "cdr", &twist[..6]);
    assert!(foxglove.next_refusal().starts_with("/speed: "));
}

#[test]
fn only_topics_of_the_robot_can_be_published() {
    let (simulator, _) = start_paused();
    let mut foxglove = simulator.foxglove();
    for (topic, kind, encoding, text) in [
        ("/odom", "nav_msgs/msg/Odometry", "cdr", "a client can't publish \"/odom\", only /speed, /steering"),
        ("/cmd_vel", "geometry_msgs/msg/Pose", "cdr", "/cmd_vel has type geometry_msgs/msg/Twist, not"),
        ("/cmd_vel", "geometry_msgs/msg/Twist", "ros1", "unknown encoding \"ros1\": use cdr or json"),
    ] {
        let channel = json!({"id": 1, "topic": topic, "encoding": encoding, "schemaName": kind});
        let refused = foxglove.refused(json!({"op": "advertise", "channels": [channel]}));
        assert!(refused.contains(text), "{refused}");
    }
    foxglove.socket.send_bytes(&[1, 1, 0, 0, 0, 5]);
    assert_eq!(foxglove.next_refusal(), "there is no client channel with id 1: advertise it first");
}
