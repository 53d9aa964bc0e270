//! Event streams of sensor readings: the stream of every path sends the newest sample.

use crate::support::{
    LoadGate, MAX_STOP_TIME, json as parsed, number, plain, setup, start, start_paused, until,
};
use chicane_testkit::http::{Client, EventWait, Events, RESPONSE_TIMEOUT, raw_until};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const FOLLOWED: [&str; 11] = [
    "/speed",
    "/steering",
    "/camera/pan",
    "/camera/tilt",
    "/odom",
    "/imu",
    "/battery",
    "/lidar?step=30",
    "/lidar",
    "/states?include=imu,joints",
    "/health",
];

fn next(events: &mut Events) -> Value {
    let event = events.next_of("message");
    assert!(!event.data.contains('\n'), "{event:?}");
    serde_json::from_str(&event.data).unwrap_or_else(|e| panic!("{e}: {}", event.data))
}

fn silent(events: &mut Events) -> bool {
    events.hear(Duration::from_millis(50)) == EventWait::TimedOut
}

#[test]
fn a_stream_sends_the_current_sample_and_then_every_new_one() {
    let (simulator, mut api) = start_paused();
    let mut client = simulator.client();
    for path in FOLLOWED {
        let mut events = simulator.follow(path);
        assert_eq!(next(&mut events), parsed(&client.get(path)), "{path}");
        assert!(silent(&mut events), "{path}: an event arrived while paused");
        // In one simulated second, every sensor takes a new sample.
        api.step(200);
        let newest = parsed(&client.get(path));
        // Earlier samples may arrive first.
        until(path, || (next(&mut events) == newest).then_some(()));
    }
}

#[test]
fn the_parameter_stream_requests_a_stream() {
    let (simulator, _) = start_paused();
    for path in [
        "/imu?stream=true",
        "/lidar?step=2&stream=1",
        "/states?stream=true&include=speed",
        "/info?stream=true",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", simulator.address);
        let event = |text: &str| text.contains("data: {") && text.contains("}\n\n");
        let text = raw_until(simulator.address, request.as_bytes(), event);
        assert!(text.to_lowercase().contains("content-type: text/event-stream"), "{path}: {text}");
        assert!(event(&text), "{path}: {text}");
    }
    let answer = simulator.client().get("/imu?stream=false");
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[test]
fn samples_arrive_in_order() {
    let simulator = start();
    let mut events = simulator.follow("/lidar?step=30");
    let mut last = -1.0;
    for _ in 0..10 {
        let sample = number(&next(&mut events)["meta"]["sample"]);
        assert!(sample > last, "{sample} after {last}");
        last = sample;
    }
}

#[test]
fn a_stream_that_was_opened_before_the_first_world_receives_its_samples() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).world("slow").start_unready();
    let mut odom = simulator.follow("/odom");
    let mut health = simulator.follow("/health");
    assert_eq!(odom.head.header("x-sim-time"), Some("0.000"));
    assert_eq!(next(&mut health)["status"], "waiting");
    assert!(silent(&mut odom));
    gate.open();
    assert_eq!(next(&mut odom)["frame_id"], "odom");
    until("the health is ok", || (next(&mut health)["status"] == "ok").then_some(()));
}

#[test]
fn a_respawn_restarts_the_samples_of_a_stream() {
    let (simulator, mut api) = start_paused();
    api.step(400);
    let mut events = simulator.follow("/lidar?step=30");
    assert_eq!(next(&mut events)["meta"]["sample"], 20);
    api.post("/respawn", json!({}));
    assert_eq!(next(&mut events)["meta"]["sample"], 0);
}

#[test]
fn commands_are_sent_while_paused() {
    let (simulator, _) = start_paused();
    let mut robot = simulator.robot();
    let mut events = simulator.follow("/states?include=odom");
    assert_eq!(next(&mut events)["cmd"]["speed"], 0.0);
    robot.post("/speed", json!({"value": 0.5}));
    assert_eq!(next(&mut events)["cmd"]["speed"], 0.5);
}

#[test]
fn clients_that_do_not_read_affect_no_other() {
    let simulator = start();
    let mut api = simulator.api();
    api.post("/clock", json!({"speed": 20}));
    let stuck: Vec<Client> = (0..50)
        .map(|i| {
            let path = ["/lidar?step=0.5&stream=true", "/states?stream=true", "/imu?stream=true"][i % 3];
            let mut client = simulator.client();
            client.send("GET", path, &[], b"");
            client
        })
        .collect();
    let mut robot = simulator.robot();
    let mut reader = simulator.follow("/imu");
    let first = api.time();
    // After some seconds the data that the stuck clients do not read exceeds all buffers.
    for _ in 0..250 {
        next(&mut reader);
        robot.post("/speed", json!({"value": 0.0}));
    }
    until("time advances", || (api.time() > first + 2.0).then_some(()));
    drop(stuck);
    assert!(simulator.stop() < MAX_STOP_TIME);
}

#[test]
fn streams_end_when_the_simulator_stops() {
    let simulator = start();
    let mut streams: Vec<Events> = FOLLOWED.iter().map(|path| simulator.follow(path)).collect();
    for stream in &mut streams {
        next(stream);
    }
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
    for stream in &mut streams {
        while let EventWait::Event(_) = stream.hear(Duration::from_secs(5)) {}
        assert_eq!(stream.hear(Duration::from_secs(5)), EventWait::End);
    }
}

#[test]
fn an_idle_stream_sends_comments() {
    let (simulator, _) = start_paused();
    let mut stream = TcpStream::connect(simulator.address).expect("a connection");
    stream.set_read_timeout(Some(RESPONSE_TIMEOUT)).expect("a time limit");
    write!(stream, "GET /info?stream=true HTTP/1.1\r\nHost: {}\r\n\r\n", simulator.address).expect("sent");
    let mut received = String::new();
    while !received.contains(": \n\n") {
        let mut piece = [0; 4096];
        let n = stream.read(&mut piece).expect("a comment arrives before the timeout");
        assert!(n > 0, "the stream ended: {received}");
        received.push_str(&String::from_utf8_lossy(&piece[..n]));
    }
    assert_eq!(received.matches("data: ").count(), 1, "{received}");
}
