//! `POST /speed` with a duration: answered at the end.

use crate::support::{Api, Robot, Simulator, json as parsed, start, start_paused, until};
use chicane_testkit::http::Client;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

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
    let asked = Instant::now();
    simulator.stop();
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
}
