//! `POST /switch` and transitions between worlds.

use crate::support::{
    LoadGate, number, plain, refusal, setup, setup_in, start, start_paused, truncated, until,
};
use chicane_testkit::http::HttpResponse;
use chicane_testkit::shipped_bundle;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};

#[test]
fn a_switch_returns_when_the_world_is_ready() {
    let (_simulator, mut api) = start_paused();
    api.step(10);
    let done = api.post("/switch", json!({"world": "field.world"}));
    assert_eq!(done, json!({"ok": true, "world": "field.world"}));
    let status = api.get("/status");
    assert_eq!((&status["current"], &status["switching"]), (&json!("field"), &json!(false)));
    assert_eq!(api.get("/world")["world"], "field");
    assert_eq!(api.get("/route")["world"], "field");
    assert_eq!(api.get("/objects")["world"], "field");
    assert_eq!(api.get("/traffic_lights")["world"], "field");
    assert_eq!(api.get("/state")["world"], "field");
    assert_eq!(api.get("/worlds")["current"], "field");
    assert_eq!(api.time(), 0.0);
}

#[test]
fn a_name_without_the_ending_of_the_file_was_refused() {
    let (_simulator, mut api) = start_paused();
    let done = api.post("/switch", json!({"world": "technical"}));
    assert_eq!(done, json!({"ok": true, "world": "technical.world"}));
    assert_eq!(api.get("/status")["current"], "technical");
}

#[test]
fn invalid_and_unknown_names_are_refused() {
    let (_simulator, mut api) = start_paused();
    let before = api.get("/state");
    let name = (400, "invalid world file name".to_owned());
    for wrong in [
        json!({}),
        json!({"world": null}),
        json!({"world": "oval.world.world"}),
        json!({"world": ""}),
        json!({"world": ".world"}),
        json!({"world": "../oval.world"}),
        json!({"world": "worlds/oval.world"}),
        json!({"world": "oval.world\u{0}"}),
        json!({"world": 5}),
        json!({"world": ["oval.world"]}),
    ] {
        assert_eq!(api.refused("/switch", wrong.clone()), name, "{wrong}");
    }
    let id = (400, "invalid world_id".to_owned());
    for wrong in
        [json!(""), json!("xyz"), json!("0123"), json!(5), json!("g".repeat(32)), json!("0".repeat(33))]
    {
        assert_eq!(api.refused("/switch", json!({"world_id": wrong})), id, "{wrong}");
    }
    for name in ["nowhere.world", "nowhere"] {
        let refused = api.refused("/switch", json!({"world": name}));
        assert_eq!(refused, (404, "world not found".to_owned()), "{name}");
    }
    assert_eq!(
        api.refused("/switch", json!({"world_id": "0123456789abcdef0123456789abcdef"})),
        (404, "world not installed".to_owned())
    );
    assert_eq!(api.get("/state"), before);
}

#[test]
fn an_invalid_world_leaves_the_old_one_running() {
    let simulator = setup().with_world("torn", truncated("torn")).start();
    let mut api = simulator.api();
    let (status, text) = api.refused("/switch", json!({"world": "torn.world"}));
    assert_eq!(status, 422);
    assert!(text.contains("worlds/torn.world"), "the error does not name the file: {text}");
    let status = api.get("/status");
    assert_eq!((&status["current"], &status["switching"]), (&json!("oval"), &json!(false)));
    assert!(api.get("/state")["transition"].is_null());
    let time = api.time();
    until("time advances", || (api.time() > time).then_some(()));
    api.post("/pose", json!({"x": 3}));
    let listed = api.get("/worlds");
    let names: Vec<&Value> =
        listed["worlds"].as_array().expect("a list").iter().map(|w| &w["name"]).collect();
    assert!(names.contains(&&json!("torn")), "{names:?}");
}

#[test]
fn a_start_falls_back_to_the_default_if_the_last_world_is_missing_or_invalid() {
    // The default world becomes the last world, so each case needs its own data folder.
    for is_missing in [true, false] {
        let data = {
            let simulator = setup().with_world("hall", plain("hall")).start();
            simulator.api().post("/switch", json!({"world": "hall.world"}));
            simulator.stop_and_keep()
        };
        let setup = setup_in(&data);
        let setup = if is_missing { setup } else { setup.with_world("hall", truncated("hall")) };
        assert_eq!(setup.start().api().get("/status")["current"], "oval", "is missing: {is_missing}");
    }
}

#[test]
fn the_last_world_is_loaded_again_after_a_restart() {
    let simulator = start();
    simulator.api().post("/switch", json!({"world": "technical.world"}));
    let data = simulator.stop_and_keep();
    let simulator = setup_in(&data).start();
    assert_eq!(simulator.api().get("/status")["current"], "technical");
    // A world that is given as an option takes precedence over the last world. The name in the
    // option may end with `.world`.
    let data = simulator.stop_and_keep();
    let simulator = setup_in(&data).world("field.world").start();
    assert_eq!(simulator.api().get("/status")["current"], "field");
}

/// Sends a command from a separate thread. The channel receives the response.
fn in_background(simulator: &crate::support::Simulator, path: &str, body: Value) -> Receiver<HttpResponse> {
    let (send, receive) = channel();
    let (mut api, path) = (simulator.api(), path.to_owned());
    std::thread::spawn(move || send.send(api.try_post(&path, &body.to_string())));
    receive
}

fn finished(answer: &Receiver<HttpResponse>) -> HttpResponse {
    answer.recv_timeout(chicane_testkit::http::RESPONSE_TIMEOUT).expect("an answer")
}

#[test]
fn while_a_world_is_loading_the_old_one_is_shown_and_refuses_commands() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).start();
    let mut api = simulator.api();
    let switch = in_background(&simulator, "/switch", json!({"world": "slow.world"}));
    gate.wait_until_blocked();

    let status = api.get("/status");
    assert_eq!(
        [&status["running"], &status["switching"], &status["current"]],
        [&json!(true), &json!(true), &json!(null)]
    );
    let state = api.get("/state");
    assert_eq!((&state["world"], &state["current"]), (&json!("oval"), &json!(null)));
    assert_eq!(state["switching"], true);
    assert_eq!(state["transition"]["kind"], "switch");
    assert_eq!(state["transition"]["target"], "slow.world");
    assert!((0.0..=1.0).contains(&number(&state["transition"]["progress"])), "{state}");

    assert_eq!(api.get("/world")["world"], "oval");
    for path in ["/pose", "/route", "/bounds", "/objects", "/traffic_lights", "/clock", "/evaluation"] {
        api.get(path);
    }
    let time = api.time();
    until("the time of the old world advances", || (api.time() > time).then_some(()));

    let not_ready = (409, "world not ready".to_owned());
    for path in ["/pose", "/reset", "/step", "/models/box1/pose", "/evaluation/start"] {
        assert_eq!(api.refused(path, json!({})), not_ready, "{path}");
    }
    assert_eq!(api.refused("/traffic_lights/signal1", json!({"state": "red"})), not_ready);
    let in_progress = (409, "world switch in progress".to_owned());
    assert_eq!(api.refused("/respawn", json!({})), in_progress);
    assert_eq!(api.refused("/switch", json!({"world": "field.world"})), in_progress);

    gate.open();
    assert_eq!(finished(&switch).status, 200);
    assert_eq!(api.get("/status")["current"], "slow");
    api.post("/pose", json!({}));
}

#[test]
fn the_list_of_worlds_does_not_wait_for_a_world_that_is_loading() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).start();
    let switch = in_background(&simulator, "/switch", json!({"world": "slow.world"}));
    gate.wait_until_blocked();
    let (send, listed) = channel();
    let mut api = simulator.api();
    std::thread::spawn(move || send.send(api.get("/worlds")));
    // The gate opens by itself after `RESPONSE_TIMEOUT`. The test waits for a shorter time, so the
    // list must arrive while the gate is closed.
    let listed = listed.recv_timeout(chicane_testkit::http::RESPONSE_TIMEOUT / 2);
    gate.open();
    assert_eq!(finished(&switch).status, 200);
    assert!(listed.expect("a list while a world is loaded")["current"].is_null());
}

#[test]
fn of_concurrent_switches_one_succeeds() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).start();
    let all: Vec<_> =
        (0..4).map(|_| in_background(&simulator, "/switch", json!({"world": "slow.world"}))).collect();
    gate.wait_until_blocked();
    // The refusals must arrive while the first switch is still loading.
    let mut refused = 0;
    until("all others are refused", || {
        for answer in &all {
            if let Ok(answer) = answer.try_recv() {
                assert_eq!(refusal(&answer), (409, "world switch in progress".to_owned()));
                refused += 1;
            }
        }
        (refused == 3).then_some(())
    });
    gate.open();
    let done: Vec<u16> = all.iter().filter_map(|a| a.recv().ok()).map(|a| a.status).collect();
    assert_eq!(done, [200]);
}

#[test]
fn a_respawn_is_a_transition_too() {
    let (simulator, mut api) = setup().world("oval").start_paused();
    // A respawn is short. So the test repeats respawns until a client sees a respawn, and until two
    // respawns overlap.
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut api = simulator.api();
            while !done.load(Relaxed) {
                let answer = api.try_post("/respawn", "{}");
                assert!(answer.status == 200 || refusal(&answer).0 == 409, "{}", answer.text());
            }
        });
        let state = until("a client sees a respawn", || {
            Some(api.get("/state")).filter(|state| !state["transition"].is_null())
        });
        assert_eq!(state["transition"]["kind"], "respawn");
        assert_eq!(state["transition"]["target"], "oval.world");
        assert!(state["current"].is_null());
        let refused = until("two respawns overlap", || {
            Some(api.try_post("/respawn", "{}")).filter(|answer| answer.status != 200)
        });
        assert_eq!(refusal(&refused), (409, "world switch in progress".to_owned()));
        done.store(true, Relaxed);
    });
    assert_eq!(api.get("/status")["current"], "oval");
}

#[test]
fn the_current_world_is_not_read_again() {
    let gate = LoadGate::default();
    gate.open();
    let (simulator, mut api) =
        setup().with_world("oval", gate.wrap(shipped_bundle("oval"))).world("oval").start_paused();
    gate.close();
    api.step(10);
    api.post("/respawn", json!({}));
    assert_eq!(number(&api.get("/clock")["sim_time"]), 0.0);
    api.step(10);
    api.post("/switch", json!({"world": "oval.world"}));
    assert_eq!(number(&api.get("/clock")["sim_time"]), 0.0);
    // After a switch to another world and back, the bundle is read again.
    api.post("/switch", json!({"world": "field.world"}));
    let back = in_background(&simulator, "/switch", json!({"world": "oval.world"}));
    gate.wait_until_blocked();
    gate.open();
    assert_eq!(finished(&back).status, 200);
}

#[test]
fn a_switch_continues_when_its_client_disconnects() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).start();
    let mut api = simulator.api();
    let mut gone = simulator.client();
    gone.send("POST", "/sim/api/switch", &[], b"{\"world\": \"slow.world\"}");
    gate.wait_until_blocked();
    drop(gone);
    gate.open();
    until("the world is ready", || (api.get("/status")["current"] == "slow").then_some(()));
}

#[test]
fn a_switch_is_refused_until_the_first_world_is_loaded() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).world("slow").start_unready();
    let mut api = simulator.api();
    assert_eq!(api.get("/state")["transition"]["kind"], "boot");
    let refused = api.refused("/switch", json!({"world": "field.world"}));
    assert_eq!(refused, (409, "world switch in progress".to_owned()));
    gate.open();
    until("the first world is loaded", || (api.get("/status")["current"] == "slow").then_some(()));
}

#[test]
fn a_concurrent_respawn_never_reverts_a_switch() {
    let simulator = start();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut api = simulator.api();
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let status = api.try_post("/respawn", "{}").status;
                    assert!(status == 200 || status == 409, "{status}");
                }
            });
        }
        let mut api = simulator.api();
        for world in ["field", "technical", "oval"].into_iter().cycle().take(30) {
            let file = format!("{world}.world");
            until("the switch succeeds", || {
                (api.try_post("/switch", &json!({"world": file}).to_string()).status == 200).then_some(())
            });
            for _ in 0..20 {
                assert_eq!(api.get("/state")["world"], world, "the switch was acknowledged");
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
