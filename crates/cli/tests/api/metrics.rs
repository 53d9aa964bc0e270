//! `GET /metrics`.

use crate::support::{start_paused, until};
use serde_json::json;

#[test]
fn every_line_is_valid_for_prometheus() {
    let (simulator, _) = start_paused();
    let answer = simulator.client().get("/metrics");
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").is_some_and(|t| t.starts_with("text/plain; version=0.0.4")));
    let text = answer.text();
    let mut typed = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let words: Vec<&str> = rest.splitn(3, ' ').collect();
            assert!(words[0] == "HELP" || words[0] == "TYPE", "{line}");
            typed.push(words[1].to_owned());
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        let name = name.split('{').next().unwrap_or(name);
        assert!(typed.iter().any(|t| name.starts_with(t.as_str())), "{line} has no type");
        // For metrics about the process itself, Prometheus prescribes names that begin with
        // `process_`.
        assert!(name.starts_with("chicane_") || name.starts_with("process_"), "{line}");
        assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
    }
}

#[test]
fn ticks_responses_and_subscribers_are_counted() {
    let (simulator, mut api) = start_paused();
    let ticks = simulator.metric("chicane_ticks_total");
    api.step(250);
    assert_eq!(simulator.metric("chicane_ticks_total"), ticks + 250.0);
    assert_eq!(simulator.metric("chicane_tick_seconds_count"), ticks + 250.0);

    let refused = simulator.metric("chicane_http_answers_total{class=\"4xx\"}");
    api.refused("/pose", json!({"x": "1"}));
    assert_eq!(simulator.metric("chicane_http_answers_total{class=\"4xx\"}"), refused + 1.0);

    let streams = || simulator.metric("chicane_event_subscribers");
    assert_eq!(streams(), 0.0);
    let (one, two) = (simulator.events(), simulator.events());
    until("two streams", || (streams() == 2.0).then_some(()));
    drop(one);
    drop(two);
    // The server may not notice that a client has disconnected until it sends the next event.
    until("no stream", || {
        api.step(1);
        (streams() == 0.0).then_some(())
    });
    assert_eq!(simulator.metric("chicane_real_time_factor"), 0.0);
}
