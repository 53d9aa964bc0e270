//! `POST /speed` with a duration: the robot holds the speed for this time, and the response is sent
//! at the end.

use crate::support::{
    Api, MAX_STOP_TIME, Robot, Simulator, json as parsed, many_boxes, number, setup, start, start_paused,
    until,
};
use chicane_testkit::http::Client;
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;

/// Sends a speed with a duration, and waits until the speed takes effect. The response comes later.
fn hold(simulator: &Simulator, robot: &mut Robot, value: f64, duration: f64) -> Client {
    let mut client = simulator.client();
    let body = json!({"value": value, "duration": duration}).to_string();
    client.send("POST", "/speed", &[], body.as_bytes());
    until("the speed takes effect", || (robot.commanded("speed") == value).then_some(()));
    client
}

/// Waits for the response to a hold, and returns its body and simulated time.
fn outcome(client: &mut Client) -> (Value, String) {
    let answer = client.answer();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let time = answer.header("x-sim-time").expect("a time").to_owned();
    (parsed(&answer), time)
}

fn start_with_robot() -> (Simulator, Api, Robot) {
    let (simulator, api) = start_paused();
    let robot = simulator.robot();
    (simulator, api, robot)
}

#[test]
fn a_held_speed_ends_after_its_duration() {
    let (simulator, mut api, mut robot) = start_with_robot();
    let mut held = hold(&simulator, &mut robot, 0.8, 2.5);
    api.step(499);
    assert_eq!(robot.commanded("speed"), 0.8, "the speed is held for more than one second");
    api.step(1);
    let expected = json!({"success": true, "value": 0.8, "message": "stopped"});
    assert_eq!(outcome(&mut held), (expected, "2.500".to_owned()));
    assert_eq!(robot.commanded("speed"), 0.0);
}

#[test]
fn a_held_speed_is_clamped_and_lasts_at_least_one_tick() {
    let (simulator, mut api, _) = start_with_robot();
    let mut client = simulator.client();
    client.send("POST", "/speed", &[], b"{\"value\": 99, \"duration\": 1e-9}");
    let mut robot = simulator.robot();
    until("the speed takes effect", || (robot.commanded("speed") == 3.0).then_some(()));
    api.step(1);
    assert_eq!(outcome(&mut client).0, json!({"success": true, "value": 3.0, "message": "stopped"}));
}

#[test]
fn a_newer_command_supersedes_a_held_speed() {
    let newer = ["speed", "drive", "step", "reset", "respawn", "hold"];
    for name in newer {
        let (simulator, mut api, mut robot) = start_with_robot();
        let mut held = hold(&simulator, &mut robot, 0.8, 600.0);
        api.step(10);
        let mut stays = None;
        match name {
            "speed" => drop(robot.post("/speed", json!({"value": 0.4}))),
            "drive" => drop(robot.post("/drive", json!({"speed": 0.4, "steering": 0}))),
            "step" => drop(api.post("/step", json!({"speed": 0.4}))),
            "hold" => stays = Some(hold(&simulator, &mut robot, 0.4, 100.0)),
            command => drop(api.post(&format!("/{command}"), json!({}))),
        }
        let expected = json!({"success": true, "value": 0.8, "message": "superseded"});
        assert_eq!(outcome(&mut held).0, expected, "{name}");
        let then = if name.starts_with("res") { 0.0 } else { 0.4 };
        assert_eq!(robot.commanded("speed"), then, "{name}");
        drop(stays);
    }
}

#[test]
fn a_websocket_frame_supersedes_a_held_speed_and_steering_does_not() {
    let (simulator, mut api, mut robot) = start_with_robot();
    let mut held = hold(&simulator, &mut robot, 0.8, 1.0);
    robot.post("/steering", json!({"value": 0.1}));
    api.step(100);
    assert_eq!(robot.commanded("speed"), 0.8);
    let mut socket = simulator.socket("/speed/stream");
    socket.send(json!({"value": 0.1}));
    assert_eq!(outcome(&mut held).0["message"], "superseded");
    assert_eq!(robot.commanded("speed"), 0.1);
}

#[test]
fn a_held_speed_ends_when_its_client_disconnects() {
    let (simulator, mut api, mut robot) = start_with_robot();
    let held = hold(&simulator, &mut robot, 0.8, 600.0);
    api.step(300);
    assert_eq!(robot.commanded("speed"), 0.8);
    drop(held);
    until("the held speed ends", || {
        api.step(1);
        (robot.commanded("speed") == 0.0).then_some(())
    });
    assert!(api.time() < 300.0, "the speed ended only after its duration");
}

#[test]
fn a_held_speed_ends_when_its_client_disconnects_while_paused() {
    let (simulator, mut api, mut robot) = start_with_robot();
    drop(hold(&simulator, &mut robot, 0.8, 600.0));
    until("the held speed ends without a tick", || (robot.commanded("speed") == 0.0).then_some(()));
    assert_eq!(api.time(), 0.0);
    api.step(100);
    assert!(number(&robot.get("/speed")).abs() < 0.01);
}

/// Sends a speed with a duration, waits until the speed takes effect, and then sends the bytes
/// `more`.
fn hold_and_send(simulator: &Simulator, robot: &mut Robot, more: &str) -> TcpStream {
    let mut stream = TcpStream::connect(simulator.address).expect("a connection");
    let body = json!({"value": 0.8, "duration": 600}).to_string();
    let (address, length) = (simulator.address, body.len());
    let head = format!("POST /speed HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).expect("it is sent");
    until("the speed takes effect", || (robot.commanded("speed") == 0.8).then_some(()));
    stream.write_all(more.as_bytes()).expect("it is sent");
    stream
}

#[test]
fn a_held_speed_ends_when_its_client_disconnects_after_sending_more_bytes() {
    let simulator = start();
    let mut robot = simulator.robot();
    for more in ["G", "GET /speed HTTP/1.1\r\n", "GET /health HTTP/1.1\r\nhost: x\r\n\r\n"] {
        let held = hold_and_send(&simulator, &mut robot, more);
        drop(held);
        until("the held speed ends", || (robot.commanded("speed") == 0.0).then_some(()));
    }
}

#[test]
fn a_step_ends_when_its_client_disconnects_after_sending_more_bytes() {
    let (simulator, mut api) = setup().with_world("crowd", many_boxes("crowd")).world("crowd").start_paused();
    let mut stream = TcpStream::connect(simulator.address).expect("a connection");
    let body = json!({"steps": 100_000}).to_string();
    let (address, length) = (simulator.address, body.len());
    let head = format!("POST /sim/api/step HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}GET /").as_bytes()).expect("it is sent");
    until("the step has started", || (api.time() > 0.0).then_some(()));
    drop(stream);
    // This step waits until the first step has ended.
    api.step(1);
    let time = api.time();
    assert!(time < 500.0, "{time}");
}

#[test]
fn a_disconnecting_client_ends_no_newer_command() {
    let (simulator, mut api, mut robot) = start_with_robot();
    let held = hold(&simulator, &mut robot, 0.8, 600.0);
    robot.post("/speed", json!({"value": 0.5}));
    drop(held);
    api.step(199);
    assert_eq!(robot.commanded("speed"), 0.5);
}

#[test]
fn a_held_speed_does_not_delay_the_stop_of_the_simulator() {
    let simulator = start();
    let mut robot = simulator.robot();
    let _held = hold(&simulator, &mut robot, 0.2, 600.0);
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
}
