//! Stopping the simulator: every connection is closed, and no client delays the stop.

use crate::support::{LoadGate, MAX_STOP_TIME, many_boxes, plain, setup, setup_in, start, until};
use chicane_testkit::http::EventWait;
use serde_json::json;
use std::time::Duration;

#[test]
fn streams_end_when_the_simulator_stops() {
    let simulator = start();
    let mut streams: Vec<_> = (0..10).map(|_| simulator.events()).collect();
    for stream in &mut streams {
        stream.next_of("state");
    }
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
    for stream in &mut streams {
        let ended = std::iter::from_fn(|| match stream.hear(Duration::from_secs(5)) {
            EventWait::Event(_) => Some(true),
            EventWait::End => None,
            EventWait::TimedOut => panic!("a stream is still open"),
        });
        ended.for_each(drop);
    }
}

#[test]
fn a_long_step_and_an_idle_reader_do_not_delay_the_stop() {
    let (simulator, mut api) = setup().with_world("crowd", many_boxes("crowd")).world("crowd").start_paused();
    let _unread = simulator.events();
    let mut long = simulator.client();
    long.send("POST", "/sim/api/step", &[], b"{\"steps\": 100000}");
    until("the step has started", || (api.time() > 0.0).then_some(()));
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
}

#[test]
fn a_world_that_is_being_loaded_does_not_delay_the_stop() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).start();
    let mut waiting = simulator.client();
    waiting.send("POST", "/sim/api/switch", &[], b"{\"world\": \"slow.world\"}");
    gate.wait_until_blocked();
    let took = simulator.stop();
    gate.open();
    assert!(took < MAX_STOP_TIME, "{took:?}");
}

#[test]
fn the_data_folder_is_free_after_a_stop() {
    let simulator = start();
    simulator.api().post("/brightness", json!({"value": 0.5}));
    let mut data = simulator.stop_and_keep();
    for _ in 0..3 {
        let simulator = setup_in(&data).start();
        assert_eq!(simulator.api().get("/brightness")["value"], 0.5);
        data = simulator.stop_and_keep();
    }
}

#[test]
fn a_data_folder_can_be_used_by_one_simulator_only() {
    let simulator = start();
    simulator.api().post("/brightness", json!({"value": 0.5}));
    let data = simulator.stop_and_keep();
    let first = setup_in(&data).start();
    let refused = setup_in(&data).try_start().err().expect("refused").to_string();
    assert!(refused.contains("in use") && refused.contains("--data-dir"), "{refused}");
    assert_eq!(first.api().get("/status")["running"], true);
}

#[test]
fn an_unknown_first_world_is_refused_with_the_list_of_worlds() {
    let refused = setup().world("nosuch").try_start().err().expect("refused").to_string();
    for name in ["nosuch", "field", "oval", "technical"] {
        assert!(refused.contains(name), "{refused}");
    }
}
