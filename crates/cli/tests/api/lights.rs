//! Traffic lights.

use crate::support::{Api, near, plain, pretty, setup, setup_in, start_paused};
use serde_json::json;

fn ask(api: &mut Api, state: &str) -> serde_json::Value {
    api.post("/traffic_lights/signal1", json!({"state": state}))["light"].clone()
}

fn yellow() -> (u16, String) {
    (409, "yellow transition in progress".to_owned())
}

#[test]
fn lights_start_green() {
    let (_simulator, mut api) = start_paused();
    insta::assert_snapshot!(pretty(&api.get("/traffic_lights")));
}

#[test]
fn a_light_turns_red_after_exactly_600_ticks_of_yellow() {
    let (_simulator, mut api) = start_paused();
    let light = ask(&mut api, "red");
    insta::assert_snapshot!(pretty(&light));
    assert_eq!(light["state"], "yellow");
    assert!(near(&light["yellow_left"], 3.0), "{light}");

    api.step(599);
    let late = api.get("/traffic_lights")["lights"][0].clone();
    assert_eq!(late["state"], "yellow");
    assert!(near(&late["yellow_left"], 0.005), "{late}");
    let red = api.step(1)["lights"][0].clone();
    assert_eq!(red["state"], "red");
    assert!(red.get("yellow_left").is_none(), "{red}");
    assert_eq!(api.light("signal1"), "red");
}

#[test]
fn a_yellow_light_refuses_every_command() {
    let (_simulator, mut api) = start_paused();
    ask(&mut api, "red");
    for ticks in [0, 1, 598] {
        if ticks > 0 {
            api.step(ticks);
        }
        for state in ["red", "green"] {
            assert_eq!(api.refused("/traffic_lights/signal1", json!({"state": state})), yellow());
        }
        assert_eq!(api.light("signal1"), "yellow");
    }
    api.step(1);
    assert_eq!(ask(&mut api, "green")["state"], "green");
}

#[test]
fn the_yellow_phase_is_measured_in_simulated_time() {
    let (_simulator, mut api) = start_paused();
    ask(&mut api, "red");
    for _ in 0..50 {
        assert_eq!(api.light("signal1"), "yellow");
    }
    // At 100 times real time the yellow phase ends soon.
    api.post("/clock", json!({"paused": false, "speed": 100}));
    crate::support::until("the light is red", || (api.light("signal1") == "red").then_some(()));
    assert!(api.time() >= 3.0);
}

#[test]
fn red_turns_green_at_once_and_setting_the_same_state_changes_nothing() {
    let (_simulator, mut api) = start_paused();
    assert_eq!(ask(&mut api, "green")["state"], "green");
    ask(&mut api, "red");
    api.step(600);
    assert_eq!(ask(&mut api, "red")["state"], "red");
    api.step(10);
    assert_eq!(api.light("signal1"), "red");
    assert_eq!(ask(&mut api, "green")["state"], "green");
    assert_eq!(api.light("signal1"), "green");
}

#[test]
fn unknown_lights_and_states_are_refused() {
    let (_simulator, mut api) = start_paused();
    for name in ["nothing", "box1", "wall_0", "SIGNAL1"] {
        let path = format!("/traffic_lights/{name}");
        assert_eq!(api.refused(&path, json!({"state": "red"})), (404, "light not found".to_owned()));
    }
    let wrong = (400, "state must be one of red, green".to_owned());
    for body in [
        json!({}),
        json!({"state": null}),
        json!({"state": "yellow"}),
        json!({"state": "RED"}),
        json!({"state": 1}),
        json!({"state": true}),
    ] {
        assert_eq!(api.refused("/traffic_lights/signal1", body.clone()), wrong, "{body}");
        assert_eq!(api.refused("/traffic_lights/nothing", body), wrong, "the body is checked first");
    }
    assert_eq!(api.light("signal1"), "green");
}

#[test]
fn a_world_without_lights_has_an_empty_list() {
    let (_simulator, mut api) = setup().with_world("plain", plain("plain")).world("plain").start_paused();
    assert_eq!(api.get("/traffic_lights"), json!({"world": "plain", "lights": []}));
}

#[test]
fn a_respawn_keeps_lights_and_turns_yellow_to_red() {
    let (_simulator, mut api) = start_paused();
    ask(&mut api, "red");
    api.step(10);
    api.post("/respawn", json!({}));
    assert_eq!(api.light("signal1"), "red", "a yellow light turns red");
    api.post("/respawn", json!({}));
    assert_eq!(api.light("signal1"), "red");
    ask(&mut api, "green");
    api.post("/respawn", json!({}));
    assert_eq!(api.light("signal1"), "green");
}

#[test]
fn a_switch_turns_all_lights_green() {
    let (_simulator, mut api) = start_paused();
    for world in ["field.world", "oval.world", "oval.world"] {
        ask(&mut api, "red");
        api.step(600);
        assert_eq!(api.light("signal1"), "red");
        api.post("/switch", json!({"world": world}));
        assert_eq!(api.light("signal1"), "green", "after a switch to {world}");
    }
}

#[test]
fn lights_survive_a_restart_and_yellow_turns_to_red() {
    let (simulator, mut api) = setup().world("oval").start_paused();
    ask(&mut api, "red");
    api.step(10);
    let data = simulator.stop_and_keep();
    let (simulator, mut api) = setup_in(&data).start_paused();
    assert_eq!(api.light("signal1"), "red");
    ask(&mut api, "green");
    let data = simulator.stop_and_keep();
    let (simulator, mut api) = setup_in(&data).start_paused();
    assert_eq!(api.light("signal1"), "green");
    // The colour after a reset is stored too.
    ask(&mut api, "red");
    api.post("/reset", json!({}));
    let data = simulator.stop_and_keep();
    assert_eq!(setup_in(&data).start_paused().1.light("signal1"), "green");
}
