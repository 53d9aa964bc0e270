//! `POST /speed` with a duration: answered at the end.

use crate::support::{
    AT_ONCE, Api, Robot, Simulator, crowd, json as parsed, number, setup, start, start_paused, until,
};
use chicane_testkit::http::Client;
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;

/// Sends a speed that is to be held, and waits until it is in force.
fn hold(simulator: &Simulator, robot: &mut Robot, value: f64, duration: f64) -> Client {
    let mut client = simulator.client();
    let body = json!({"value": value, "duration": duration}).to_string();
    client.send("POST", "/speed", &[], body.as_bytes());
    until("it is in force", || (robot.asked("speed") == value).then_some(()));
    client
}

/// What became of it, and when.
fn outcome(client: &mut Client) -> (Value, String) {
    let answer = client.answer();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let time = answer.header("x-sim-time").expect("a time").to_owned();
    (parsed(&answer), time)
}

fn began() -> (Simulator, Api, Robot) {
    let (simulator, api) = start_paused();
    let robot = simulator.robot();
    (simulator, api, robot)
}

#[test]
fn a_held_speed_ends_in_its_time() {
    let (simulator, mut api, mut robot) = began();
    let mut held = hold(&simulator, &mut robot, 0.8, 2.5);
    api.step(499);
    assert_eq!(robot.asked("speed"), 0.8, "longer than a second");
    api.step(1);
    let said = json!({"success": true, "value": 0.8, "message": "stopped"});
    assert_eq!(outcome(&mut held), (said, "2.500".to_owned()));
    assert_eq!(robot.asked("speed"), 0.0);
}

#[test]
fn a_held_speed_is_clamped_and_as_short_as_a_tick() {
    let (simulator, mut api, _) = began();
    let mut client = simulator.client();
    client.send("POST", "/speed", &[], b"{\"value\": 99, \"duration\": 1e-9}");
    let mut robot = simulator.robot();
    until("it is in force", || (robot.asked("speed") == 3.0).then_some(()));
    api.step(1);
    assert_eq!(outcome(&mut client).0, json!({"success": true, "value": 3.0, "message": "stopped"}));
}

#[test]
fn a_newer_command_supersedes_it() {
    let newer = ["speed", "drive", "step", "reset", "respawn", "hold"];
    for name in newer {
        let (simulator, mut api, mut robot) = began();
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
        let said = json!({"success": true, "value": 0.8, "message": "superseded"});
        assert_eq!(outcome(&mut held).0, said, "{name}");
        let then = if name.starts_with("res") { 0.0 } else { 0.4 };
        assert_eq!(robot.asked("speed"), then, "{name}");
        drop(stays);
    }
}

#[test]
fn a_frame_supersedes_it_and_steering_does_not() {
    let (simulator, mut api, mut robot) = began();
    let mut held = hold(&simulator, &mut robot, 0.8, 1.0);
    robot.post("/steering", json!({"value": 0.1}));
    api.step(100);
    assert_eq!(robot.asked("speed"), 0.8);
    let mut socket = simulator.socket("/speed/stream");
    socket.send(json!({"value": 0.1}));
    assert_eq!(outcome(&mut held).0["message"], "superseded");
    assert_eq!(robot.asked("speed"), 0.1);
}

#[test]
fn the_car_stops_when_the_client_goes() {
    let (simulator, mut api, mut robot) = began();
    let held = hold(&simulator, &mut robot, 0.8, 600.0);
    api.step(300);
    assert_eq!(robot.asked("speed"), 0.8);
    drop(held);
    until("the car is told to stop", || {
        api.step(1);
        (robot.asked("speed") == 0.0).then_some(())
    });
    assert!(api.time() < 300.0, "before its time");
}

#[test]
fn the_car_stands_when_the_client_went_while_time_stood_still() {
    let (simulator, mut api, mut robot) = began();
    drop(hold(&simulator, &mut robot, 0.8, 600.0));
    until("it is told to stop, and no tick was needed", || (robot.asked("speed") == 0.0).then_some(()));
    assert_eq!(api.time(), 0.0);
    api.step(100);
    assert!(number(&robot.get("/speed")).abs() < 0.01);
}

/// Sends a speed that is to be held, waits until it is in force, and sends something more.
fn hold_and_say(simulator: &Simulator, robot: &mut Robot, more: &str) -> TcpStream {
    let mut stream = TcpStream::connect(simulator.address).expect("a connection");
    let body = json!({"value": 0.8, "duration": 600}).to_string();
    let (address, length) = (simulator.address, body.len());
    let head = format!("POST /speed HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).expect("it is sent");
    until("it is in force", || (robot.asked("speed") == 0.8).then_some(()));
    stream.write_all(more.as_bytes()).expect("it is sent");
    stream
}

#[test]
fn the_car_stops_when_the_client_goes_with_half_a_request_behind_it() {
    let simulator = start();
    let mut robot = simulator.robot();
    for more in ["G", "GET /speed HTTP/1.1\r\n", "GET /health HTTP/1.1\r\nhost: x\r\n\r\n"] {
        let held = hold_and_say(&simulator, &mut robot, more);
        drop(held);
        until("the car is told to stop", || (robot.asked("speed") == 0.0).then_some(()));
    }
}

#[test]
fn a_step_ends_when_the_client_goes_with_more_behind_it() {
    let (simulator, mut api) = setup().with_world("crowd", crowd("crowd")).world("crowd").start_paused();
    let mut stream = TcpStream::connect(simulator.address).expect("a connection");
    let body = json!({"steps": 100_000}).to_string();
    let (address, length) = (simulator.address, body.len());
    let head = format!("POST /sim/api/step HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}GET /").as_bytes()).expect("it is sent");
    until("it has begun", || (api.time() > 0.0).then_some(()));
    drop(stream);
    // It waits for its turn, behind the step.
    api.step(1);
    let time = api.time();
    assert!(time < 500.0, "{time}");
}

#[test]
fn a_client_that_goes_ends_no_newer_command() {
    let (simulator, mut api, mut robot) = began();
    let held = hold(&simulator, &mut robot, 0.8, 600.0);
    robot.post("/speed", json!({"value": 0.5}));
    drop(held);
    api.step(199);
    assert_eq!(robot.asked("speed"), 0.5);
}

#[test]
fn a_hold_that_nobody_can_finish_does_not_keep_the_simulator_from_stopping() {
    let simulator = start();
    let mut robot = simulator.robot();
    let _held = hold(&simulator, &mut robot, 0.2, 600.0);
    let took = simulator.stop();
    assert!(took < AT_ONCE, "{took:?}");
}
