//! `GET` and `POST /clock`.

use crate::support::{number, start, start_paused, until};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn the_clock_of_a_paused_world_stands_still() {
    let (_simulator, mut api) = start_paused();
    let clock = api.get("/clock");
    assert_eq!(
        (&clock["sim_time"], &clock["rtf"], &clock["paused"]),
        (&json!(0.0), &json!(0.0), &json!(true))
    );
    assert_eq!(clock.as_object().expect("an object").len(), 5, "{clock}");
    let later = until("real time advances", || {
        let later = api.get("/clock");
        (number(&later["real_time"]) > number(&clock["real_time"])).then_some(later)
    });
    assert_eq!(later["sim_time"], 0.0);
}

#[test]
fn a_clock_request_returns_the_clock_and_the_speed() {
    let (_simulator, mut api) = start_paused();
    let changed = api.post("/clock", json!({"speed": 2.5}));
    let mut keys: Vec<&str> = changed.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["ok", "paused", "real_time", "rtf", "sim_time", "speed"]);
    assert_eq!((&changed["speed"], &changed["paused"]), (&json!(2.5), &json!(true)));
    // Omitted and null fields change nothing.
    for body in [json!({}), json!({"paused": null, "speed": null})] {
        let same = api.post("/clock", body);
        assert_eq!((&same["speed"], &same["paused"]), (&json!(2.5), &json!(true)));
    }
    let running = api.post("/clock", json!({"paused": false}));
    assert_eq!((&running["speed"], &running["paused"]), (&json!(2.5), &json!(false)));
}

#[test]
fn a_speed_is_zero_or_from_a_twentieth_to_a_hundred() {
    let (_simulator, mut api) = start_paused();
    for speed in [0.0, 0.05, 1.0, 100.0] {
        assert_eq!(api.post("/clock", json!({"speed": speed}))["speed"], speed);
    }
    for wrong in [json!(0.01), json!(0.049), json!(100.1), json!(101), json!(-1), json!("1.0"), json!(true)] {
        let (status, text) = api.refused("/clock", json!({"speed": wrong, "paused": false}));
        assert_eq!(status, 400, "{wrong}");
        assert!(text.contains("speed"), "{text}");
    }
    for wrong in [json!(1), json!("true"), json!([])] {
        let (status, text) = api.refused("/clock", json!({"speed": 7, "paused": wrong}));
        assert_eq!(status, 400, "{wrong}");
        assert!(text.contains("paused"), "{text}");
    }
    let clock = api.post("/clock", json!({}));
    assert_eq!((&clock["speed"], &clock["paused"]), (&json!(100.0), &json!(true)), "the clock changed");
}

#[test]
fn pause_and_speed_survive_reset_respawn_and_switch() {
    let simulator = start();
    let mut api = simulator.api();
    api.post("/clock", json!({"paused": true, "speed": 3}));
    for (path, body) in
        [("/reset", json!({})), ("/respawn", json!({})), ("/switch", json!({"world": "field.world"}))]
    {
        api.post(path, body);
        let clock = api.post("/clock", json!({}));
        assert_eq!((&clock["speed"], &clock["paused"]), (&json!(3.0), &json!(true)), "after {path}");
    }
    assert_eq!(api.time(), 0.0);
}

#[test]
fn simulated_time_follows_real_time() {
    let simulator = start();
    let mut api = simulator.api();
    until("a factor near 1", || {
        let clock = api.get("/clock");
        (0.8..1.2).contains(&number(&clock["rtf"])).then_some(())
    });
    // Simulated time and real time must agree over one second. A busy machine may miss the bound
    // several times, but not always.
    until("one simulated second takes about one real second", || {
        let (started, from) = (Instant::now(), api.time());
        until("a second has passed", || (api.time() >= from + 1.0).then_some(()));
        (0.9..1.2).contains(&started.elapsed().as_secs_f64()).then_some(())
    });
}

#[test]
fn the_requested_speed_is_kept() {
    let simulator = start();
    let mut api = simulator.api();
    api.post("/clock", json!({"speed": 20}));
    until("a factor near 20", || {
        let rtf = number(&api.get("/clock")["rtf"]);
        (14.0..24.0).contains(&rtf).then_some(())
    });
    api.post("/clock", json!({"speed": 0}));
    until("much faster than before", || (number(&api.get("/clock")["rtf"]) > 30.0).then_some(()));
}

#[test]
fn no_time_is_caught_up_after_a_pause() {
    let simulator = start();
    let mut api = simulator.api();
    let paused = number(&api.post("/clock", json!({"paused": true}))["sim_time"]);
    let since = Instant::now();
    until("600 ms pass", || (since.elapsed() > Duration::from_millis(600)).then_some(()));
    let running = number(&api.post("/clock", json!({"paused": false}))["sim_time"]);
    assert!(running - paused < 0.3, "{running} after {paused}");
}
