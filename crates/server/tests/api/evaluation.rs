//! Evaluation, as far as no session can be started.

use crate::support::{plain, setup, start_paused};
use serde_json::json;

#[test]
fn the_document_of_a_world() {
    let (_simulator, mut api) = start_paused();
    let document = api.get("/evaluation");
    assert_eq!(document["version"], 1);
    let config = &document["config"];
    assert_eq!((&config["better"], &config["time_limit_s"]), (&json!("lower"), &json!(180)));
    assert_eq!(config["robot"], api.get("/status")["generation"]);
    assert!(config["description"].as_str().is_some_and(|d| !d.is_empty()));
    let script = document["script"].as_str().expect("a script");
    assert!(script.contains("def initialize") && script.contains("def evaluate"), "{script}");
    assert_eq!(document.as_object().expect("an object").len(), 3);
}

#[test]
fn a_world_without_evaluation_says_so() {
    let (_simulator, mut api) = setup().with_world("plain", plain("plain")).world("plain").start_paused();
    assert_eq!(api.get_refused("/evaluation").0, 404);
    assert_eq!(api.refused("/evaluation/start", json!({})).0, 404);
    assert_eq!(api.get("/world")["evaluation"], false);
}

#[test]
fn wrong_values_are_refused_first() {
    let (_simulator, mut api) = setup().with_world("plain", plain("plain")).world("plain").start_paused();
    for body in [
        json!({"command": 5}),
        json!({"command": ""}),
        json!({"command": "  "}),
        json!({"time_limit_s": 0}),
        json!({"time_limit_s": -5}),
        json!({"time_limit_s": "60"}),
    ] {
        let (status, text) = api.refused("/evaluation/start", body.clone());
        assert_eq!(status, 400, "{body}: {text}");
    }
}

#[test]
fn without_a_session_there_is_none_to_see_and_stop_does_nothing() {
    let (_simulator, mut api) = start_paused();
    assert_eq!(api.get("/evaluation/session"), json!({"active": false, "session": null}));
    assert_eq!(api.get_refused("/evaluation/record").0, 404);
    assert_eq!(api.get_refused("/evaluation/record?session=nothing").0, 404);
    for _ in 0..2 {
        api.post("/evaluation/stop", json!({}));
    }
    let state = api.get("/state");
    assert_eq!(state["evaluation"], json!({"active": false, "session": null, "phase": null}));
    assert_eq!(state["run"], json!({"running": false, "exit_code": null}));
}
