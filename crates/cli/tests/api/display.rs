//! Brightness and overlay.

use crate::support::{number, pretty, setup_in, start, start_paused, until};
use serde_json::{Value, json};

#[test]
fn brightness_is_set_and_read() {
    let (simulator, mut api) = start_paused();
    assert_eq!(api.get("/brightness"), json!({"value": 1.0}));
    for value in [0.2, 2.0, 1.25] {
        assert_eq!(api.post("/brightness", json!({"value": value})), json!({"ok": true, "value": value}));
        let mut other = simulator.api();
        assert_eq!(other.get("/brightness"), json!({"value": value}));
        assert_eq!(other.get("/state")["brightness"], value);
    }
}

#[test]
fn a_wrong_brightness_changes_nothing() {
    let (_simulator, mut api) = start_paused();
    api.post("/brightness", json!({"value": 0.5}));
    for body in [
        json!({}),
        json!({"value": null}),
        json!({"value": 0.19}),
        json!({"value": 2.01}),
        json!({"value": -1}),
        json!({"value": "1.0"}),
        json!({"value": true}),
        json!({"value": [1]}),
    ] {
        let (status, text) = api.refused("/brightness", body.clone());
        assert_eq!(status, 400, "{body}");
        assert!(text.contains("value"), "{text}");
    }
    assert_eq!(api.get("/brightness"), json!({"value": 0.5}));
}

#[test]
fn brightness_survives_switches_and_restarts() {
    let simulator = start();
    let mut api = simulator.api();
    api.post("/brightness", json!({"value": 0.75}));
    for (path, body) in
        [("/switch", json!({"world": "field.world"})), ("/respawn", json!({})), ("/reset", json!({}))]
    {
        api.post(path, body);
        assert_eq!(api.get("/brightness"), json!({"value": 0.75}), "after {path}");
    }
    let data = simulator.stop_and_keep();
    let simulator = setup_in(&data).start();
    let mut api = simulator.api();
    assert_eq!(api.get("/brightness"), json!({"value": 0.75}));
    assert_eq!(api.get("/state")["brightness"], 0.75);
}

#[test]
fn a_new_simulator_has_no_overlay() {
    let (_simulator, mut api) = start_paused();
    insta::assert_snapshot!(pretty(&api.get("/overlay")));
}

#[test]
fn an_overlay_is_shown_with_default_ttl_and_size() {
    let (_simulator, mut api) = start_paused();
    let before = api.get("/overlay")["seq"].as_u64().expect("a number");
    let shown = api.post("/overlay", json!({"text": "Lap 1 – 100 %"}));
    assert_eq!(
        (&shown["text"], &shown["ttl"], &shown["size"]),
        (&json!("Lap 1 – 100 %"), &json!(10.0), &json!(1.0))
    );
    assert!((5.0..=10.0).contains(&number(&shown["remaining_s"])), "{shown}");
    assert_eq!(shown["seq"], before + 1);
    let state = api.get("/state");
    assert_eq!(state["overlay"], "Lap 1 – 100 %");
    assert_eq!((&state["overlay_size"], &state["overlay_seq"]), (&json!(1.0), &json!(before + 1)));
    let same = api.post("/overlay", json!({"text": "Lap 1 – 100 %", "ttl": 3600, "size": 4}));
    assert_eq!(
        (&same["seq"], &same["ttl"], &same["size"]),
        (&json!(before + 2), &json!(3600.0), &json!(4.0))
    );
}

#[test]
fn an_empty_text_removes_the_overlay() {
    let (_simulator, mut api) = start_paused();
    api.post("/overlay", json!({"text": "x", "ttl": 100}));
    let gone = api.post("/overlay", json!({"text": ""}));
    assert_eq!((&gone["text"], &gone["remaining_s"]), (&json!(""), &json!(0.0)));
    assert_eq!(api.get("/state")["overlay"], "");
}

#[test]
fn an_overlay_expires_even_while_paused() {
    let (_simulator, mut api) = start_paused();
    let shown = api.post("/overlay", json!({"text": "soon gone", "ttl": 1}));
    assert!(number(&shown["remaining_s"]) <= 1.0);
    until("the overlay expires", || (api.get("/overlay")["text"] == "").then_some(()));
    assert_eq!(api.get("/overlay")["remaining_s"], 0.0);
    assert_eq!(api.get("/state")["overlay"], "");
    assert_eq!(api.time(), 0.0);
}

#[test]
fn the_text_limit_counts_characters() {
    let (_simulator, mut api) = start_paused();
    let long = "ä€🚗".repeat(100);
    assert_eq!(api.post("/overlay", json!({"text": long}))["text"], long);
    assert_eq!(api.refused("/overlay", json!({"text": format!("{long}x")})).0, 400);
    // The simulator keeps markup and control characters unchanged.
    let odd = "<b>&amp;\"\\\n\u{0}\u{2028}";
    api.post("/overlay", json!({"text": odd}));
    assert_eq!(api.get("/state")["overlay"], odd);
}

#[test]
fn an_invalid_overlay_changes_nothing() {
    let (_simulator, mut api) = start_paused();
    let before = api.get("/overlay");
    for (body, word) in [
        (json!({}), "text"),
        (json!({"text": null}), "text"),
        (json!({"text": 5}), "text"),
        (json!({"text": "x", "ttl": 0.9}), "ttl"),
        (json!({"text": "x", "ttl": 3601}), "ttl"),
        (json!({"text": "x", "ttl": "10"}), "ttl"),
        (json!({"text": "x", "size": 0.4}), "size"),
        (json!({"text": "x", "size": 4.1}), "size"),
    ] {
        let (status, text) = api.refused("/overlay", body.clone());
        assert_eq!(status, 400, "{body}");
        assert!(text.contains(word), "{text}");
    }
    assert_eq!(api.get("/overlay"), before);
}

/// Sends several requests while a long step blocks the sim thread. So the requests wait together
/// and are carried out directly one after the other.
fn send_concurrently(requests: &[(&str, Value)]) -> Vec<Value> {
    let (simulator, mut api) = start_paused();
    std::thread::scope(|scope| {
        scope.spawn(|| simulator.api().step(60_000));
        until("the step has started", || (api.time() > 0.0).then_some(()));
        let all: Vec<_> = requests
            .iter()
            .map(|(path, body)| {
                let simulator = &simulator;
                scope.spawn(move || simulator.api().post(path, body.clone()))
            })
            .collect();
        all.into_iter().map(|one| one.join().expect("an answer")).collect()
    })
}

#[test]
fn concurrent_overlay_requests_each_return_their_own_text() {
    let requests: Vec<(&str, Value)> =
        (0..8).map(|i| ("/overlay", json!({"text": format!("text {i}")}))).collect();
    let responses = send_concurrently(&requests);
    let mut numbers: Vec<u64> = responses.iter().filter_map(|answer| answer["seq"].as_u64()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
    for ((_, body), answer) in requests.iter().zip(&responses) {
        assert_eq!(answer["text"], body["text"]);
    }
}

#[test]
fn concurrent_clock_requests_each_return_their_own_values() {
    let requests: Vec<(&str, Value)> =
        (0..8).map(|i| ("/clock", json!({"paused": i % 2 == 0, "speed": i + 1}))).collect();
    for ((_, body), answer) in requests.iter().zip(send_concurrently(&requests)) {
        assert_eq!(answer["paused"], body["paused"]);
        assert_eq!(number(&answer["speed"]), number(&body["speed"]));
    }
}
