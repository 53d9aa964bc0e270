//! `GET /status`.

use crate::support::{LoadGate, number, pretty, setup, start, start_paused};
use chicane_testkit::shipped_bundle;
use serde_json::json;

#[test]
fn status_of_a_running_world() {
    let (_simulator, mut api) = start_paused();
    let mut status = api.get("/status");
    assert!(number(&status["uptime_s"]) > 0.0);
    assert!(status["assets_version"].is_u64());
    status["uptime_s"] = json!("some");
    insta::assert_snapshot!(pretty(&status));
}

#[test]
fn the_version_of_the_assets_grows_with_every_load() {
    let simulator = start();
    let mut api = simulator.api();
    let mut last = api.get("/status")["assets_version"].as_u64();
    for world in ["field.world", "oval.world", "oval.world"] {
        api.post("/switch", json!({"world": world}));
        let now = api.get("/status")["assets_version"].as_u64();
        assert!(now > last, "{now:?} after {last:?}");
        last = now;
    }
}

#[test]
fn before_the_first_world_only_status_and_state_succeed() {
    let gate = LoadGate::default();
    let simulator =
        setup().with_world("oval", gate.wrap(shipped_bundle("oval"))).world("oval").start_unready();
    gate.wait_until_blocked();
    let mut api = simulator.api();

    let status = api.get("/status");
    assert_eq!(
        [&status["running"], &status["current"], &status["switching"]],
        [&json!(false), &json!(null), &json!(true)]
    );
    let state = api.get("/state");
    assert_eq!((&state["world"], &state["current"]), (&json!(null), &json!(null)));
    assert_eq!((&state["running"], &state["switching"]), (&json!(false), &json!(true)));
    assert_eq!(state["transition"]["kind"], "boot");
    assert_eq!(state["transition"]["target"], "oval.world");
    assert!((0.0..=1.0).contains(&number(&state["transition"]["progress"])));

    assert_eq!(api.get_refused("/clock"), (503, "clock not available yet".to_owned()));
    for path in ["/pose", "/world", "/route", "/bounds", "/objects"] {
        assert_eq!(api.get_refused(path), (404, "no world running".to_owned()), "{path}");
    }
    let not_ready = (409, "world not ready".to_owned());
    for path in ["/pose", "/reset", "/step", "/models/box1/pose", "/evaluation/start"] {
        assert_eq!(api.refused(path, json!({})), not_ready, "{path}");
    }
    assert_eq!(api.refused("/traffic_lights/signal1", json!({"state": "red"})), not_ready);
    let (code, _) = api.refused("/respawn", json!({}));
    assert!(code == 404 || code == 409, "{code}");
    assert_eq!(api.refused("/switch", json!({"world": "field.world"})).0, 409);
    // The server checks the body of a request before it checks whether a world is running.
    assert_eq!(api.refused("/pose", json!({"x": "1"})).0, 400);
    assert_eq!(api.refused("/step", json!({"steps": 0})).0, 400);

    gate.open();
    crate::support::until("the world is ready", || {
        let status = api.get("/status");
        let ready = status["running"] == true && status["switching"] == false && status["current"] == "oval";
        ready.then_some(())
    });
    assert!(api.get("/state")["transition"].is_null());
    api.get("/pose");
}
