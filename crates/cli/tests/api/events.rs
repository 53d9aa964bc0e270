//! `GET /events`: server-sent events.

use crate::support::{Api, LoadGate, Setup, Simulator, number, plain, setup, start, until};
use chicane_testkit::http::{EventWait, Events, SseEvent};
use chicane_wire::{EvaluationEvent, EvaluationKind, Num, OutputStream, RunEvent, StoryEvent};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A stream without an event for this long counts as idle.
const QUIET: Duration = Duration::from_millis(400);

fn data(event: &SseEvent) -> Value {
    serde_json::from_str(&event.data).unwrap_or_else(|e| panic!("{e}: {event:?}"))
}

/// Starts a paused simulator, and waits until the event stream has sent all changes of the start.
fn start_settled() -> (Simulator, Api) {
    settled(setup())
}

fn settled(setup: Setup) -> (Simulator, Api) {
    let (simulator, mut api) = setup.start_paused();
    let mut events = simulator.events();
    // Events are sent in order. So when this change arrives, all earlier changes were sent.
    api.post("/overlay", json!({"text": "settled", "ttl": 3600}));
    until("the overlay is sent", || (state(&mut events)["overlay"] == "settled").then_some(()));
    // The first state of a stream may already contain the first change, and the event for this
    // change then comes later. So the test makes a second change. When the second change arrives,
    // the event for the first change has been sent too.
    api.post("/overlay", json!({"text": "", "ttl": 3600}));
    until("the overlay is removed", || (state(&mut events)["overlay"] == "").then_some(()));
    (simulator, api)
}

/// Waits for the next state. Other events are skipped.
fn state(events: &mut Events) -> Value {
    data(&events.next_of("state"))
}

fn line(text: &str) -> StoryEvent {
    StoryEvent::Run(RunEvent::Log { stream: OutputStream::Stdout, line: text.to_owned(), truncated: None })
}

fn send_lines(simulator: &Simulator, from: usize, to: usize) {
    for i in from..to {
        simulator.server().host().feed.send(&line(&format!("line {i}")));
    }
}

/// Waits for the next line of the student's program, and returns its id and text.
fn next_line(events: &mut Events) -> (u64, String) {
    let event = events.next_of("run");
    let text = data(&event)["line"].as_str().expect("a line").to_owned();
    (event.id.parse().expect("an id"), text)
}

#[test]
fn a_stream_begins_with_the_whole_state() {
    let (simulator, mut api) = start_settled();
    let mut events = simulator.events();
    let first = events.next().expect("an event");
    assert_eq!(first.event, "state");
    assert!(first.id.parse::<u64>().is_ok(), "{first:?}");
    assert_eq!(data(&first), api.get("/state"));
    assert!(!first.data.contains('\n') && !first.data.contains(": "), "one line of compact JSON");
}

#[test]
fn nothing_is_sent_while_nothing_changes() {
    let (simulator, mut api) = start_settled();
    let mut events = simulator.events();
    state(&mut events);
    assert_eq!(events.hear(QUIET), EventWait::TimedOut);
    // Reads and refused commands change nothing, so no event is sent.
    api.get("/state");
    api.refused("/pose", json!({"x": "1.0"}));
    api.refused("/traffic_lights/nothing", json!({"state": "red"}));
    assert_eq!(events.hear(QUIET), EventWait::TimedOut);
}

#[test]
fn every_command_is_sent_even_while_paused() {
    let (simulator, mut api) = start_settled();
    let mut events = simulator.events();
    state(&mut events);
    let mut last_id = 0;
    let mut assert_sent = |api: &mut Api, path: &str, body: Value, holds: &dyn Fn(&Value) -> bool| {
        api.post(path, body);
        loop {
            let event = events.next_of("state");
            let id: u64 = event.id.parse().expect("an id");
            assert!(id > last_id, "{id} after {last_id}");
            last_id = id;
            if holds(&data(&event)) {
                break;
            }
        }
    };
    assert_sent(&mut api, "/pose", json!({"x": 2.5}), &|s| s["vehicle"]["x"] == 2.5);
    assert_sent(&mut api, "/models/box1/pose", json!({"x": 3.5}), &|s| s["objects"]["box1"]["x"] == 3.5);
    assert_sent(&mut api, "/traffic_lights/signal1", json!({"state": "red"}), &|s| {
        s["lights"][0]["state"] == "yellow"
    });
    assert_sent(&mut api, "/step", json!({"steps": 600}), &|s| s["lights"][0]["state"] == "red");
    assert_sent(&mut api, "/brightness", json!({"value": 0.5}), &|s| s["brightness"] == 0.5);
    assert_sent(&mut api, "/overlay", json!({"text": "x"}), &|s| s["overlay"] == "x");
    assert_sent(&mut api, "/overlay", json!({"text": ""}), &|s| s["overlay"] == "");
    assert_sent(&mut api, "/reset", json!({}), &|s| s["lights"][0]["state"] == "green");
    assert_sent(&mut api, "/switch", json!({"world": "field.world"}), &|s| s["current"] == "field");
    assert_sent(&mut api, "/clock", json!({"paused": false}), &|s| s["paused"] == false);
    assert_sent(&mut api, "/clock", json!({"paused": true}), &|s| s["paused"] == true);
}

#[test]
fn a_state_is_sent_at_least_ten_times_a_second_while_time_runs() {
    let simulator = start();
    let mut events = simulator.events();
    let mut last = number(&state(&mut events)["time"]);
    // A busy machine may miss the rate in some seconds, but not in all of them.
    until("ten frames in a second", || {
        let (since, mut frames) = (Instant::now(), 0);
        while since.elapsed() < Duration::from_secs(1) {
            let time = number(&state(&mut events)["time"]);
            assert!(time >= last, "{time} after {last}");
            last = time;
            frames += 1;
        }
        (frames >= 10).then_some(())
    });
}

#[test]
fn motion_is_sent_at_most_thirty_times_a_second() {
    let simulator = start();
    let mut api = simulator.api();
    api.post("/models/box1/pose", json!({"path": [[2, 3], [6, 3]], "speed": 1, "loop": true}));
    let mut events = simulator.events();
    state(&mut events);
    // The test uses the server's count of frames, because a late reader receives several frames at
    // once. The time starts before the first count and ends after the second count. So the measured
    // time can only be too long, and the upper bound stays valid.
    let frames_made = || simulator.metric("chicane_state_frames_total");
    let (since, before) = (Instant::now(), frames_made());
    for _ in 0..60 {
        state(&mut events);
    }
    let made = frames_made() - before;
    let most = since.elapsed().as_secs_f64() * 30.0 + 3.0;
    assert!(made <= most, "{made} frames; at most {most} are allowed");
}

#[test]
fn story_lines_are_sent_in_order_between_states() {
    let (simulator, mut api) = start_settled();
    let mut events = simulator.events();
    state(&mut events);
    let story = [
        StoryEvent::Run(RunEvent::Start { command: "python3 drive.py".to_owned() }),
        line("hello"),
        StoryEvent::Evaluation(EvaluationEvent {
            session: "abc".to_owned(),
            time: Num(1.5),
            kind: EvaluationKind::Record { record: json!(12.5) },
        }),
        StoryEvent::Run(RunEvent::Exit { exit_code: -9 }),
    ];
    for event in &story {
        simulator.server().host().feed.send(event);
    }
    api.post("/brightness", json!({"value": 0.5}));
    let expected = [
        ("run", json!({"phase": "start", "command": "python3 drive.py"})),
        ("run", json!({"phase": "log", "stream": "stdout", "line": "hello"})),
        ("evaluation", json!({"kind": "record", "session": "abc", "time": 1.5, "record": 12.5})),
        ("run", json!({"phase": "exit", "exit_code": -9})),
    ];
    let mut last = 0;
    for (name, expected) in expected {
        let event = events.next().expect("an event");
        let id: u64 = event.id.parse().expect("an id");
        assert!(id > last, "{event:?} after {last}");
        last = id;
        assert_eq!((event.event.as_str(), data(&event)), (name, expected));
    }
    assert_eq!(state(&mut events)["brightness"], 0.5);
}

#[test]
fn a_client_continues_after_its_last_event_id() {
    let (simulator, _) = start_settled();
    let mut events = simulator.events();
    state(&mut events);
    send_lines(&simulator, 0, 5);
    let mut ids = Vec::new();
    for i in 0..5 {
        let (id, text) = next_line(&mut events);
        assert_eq!(text, format!("line {i}"));
        ids.push(id.to_string());
    }
    drop(events);
    send_lines(&simulator, 5, 8);

    // The second stream continues after `line 2`.
    let mut again = simulator.events_after(Some(&ids[2]));
    let first = again.next().expect("an event");
    assert_eq!(first.event, "state", "a stream must start with a state");
    for i in 3..8 {
        assert_eq!(next_line(&mut again).1, format!("line {i}"));
    }
    assert_eq!(again.hear(QUIET), EventWait::TimedOut);
    send_lines(&simulator, 8, 9);
    assert_eq!(next_line(&mut again).1, "line 8");
    // The first state of the second stream has an id too. A third stream that continues after this
    // id starts with the same line as the second stream.
    let mut third = simulator.events_after(Some(&first.id));
    state(&mut third);
    assert_eq!(next_line(&mut third).1, "line 3");
}

#[test]
fn nothing_is_replayed_without_a_valid_id() {
    let (simulator, _) = start_settled();
    send_lines(&simulator, 0, 5);
    for last in [None, Some("nonsense"), Some("-1"), Some("99999999999"), Some("")] {
        let mut events = simulator.events_after(last);
        state(&mut events);
        assert_eq!(events.hear(QUIET), EventWait::TimedOut, "{last:?}");
    }
}

#[test]
fn a_burst_of_lines_arrives_completely() {
    let (simulator, mut api) = start_settled();
    let mut events = simulator.events();
    state(&mut events);
    send_lines(&simulator, 0, 2000);
    api.post("/pose", json!({"x": 2.5}));
    for i in 0..2000 {
        assert_eq!(next_line(&mut events).1, format!("line {i}"));
    }
}

#[test]
fn ids_increase_when_states_and_many_lines_are_mixed() {
    let (simulator, mut api) = start_settled();
    let mut events = simulator.events();
    let mut last: u64 = events.next().expect("a state").id.parse().expect("an id");
    for round in 0..20 {
        std::thread::scope(|scope| {
            scope.spawn(|| send_lines(&simulator, 0, 2000));
            for i in 0..10 {
                api.post("/pose", json!({"x": 2.0 + f64::from(10 * round + i) * 0.001}));
            }
        });
        let mut lines = 0;
        while lines < 2000 {
            let event = events.next().expect("an event");
            let id: u64 = event.id.parse().expect("an id");
            assert!(id > last, "{id} after {last}: {event:?}");
            last = id;
            lines += usize::from(event.event == "run");
        }
    }
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_affects_no_other() {
    let simulator = start();
    let (mut slow, mut quick) = (simulator.events(), simulator.events());
    state(&mut slow);
    state(&mut quick);
    // 6,000 lines of 2,000 characters exceed the socket buffers and the ring buffer of story lines.
    let filler = "x".repeat(1990);
    let mut next = 0;
    for batch in 0..60 {
        for i in 0..100 {
            simulator.server().host().feed.send(&line(&format!("{} {filler}", batch * 100 + i)));
        }
        // The other client keeps up.
        for _ in 0..100 {
            let (_, text) = next_line(&mut quick);
            assert_eq!(text.split(' ').next(), Some(next.to_string().as_str()));
            next += 1;
        }
    }
    let mut api = simulator.api();
    let time = api.time();
    until("time advances", || (api.time() > time).then_some(()));
    // The slow client reads the buffered lines, and then its stream ends.
    let mut received = 0;
    loop {
        match slow.hear(Duration::from_secs(10)) {
            EventWait::Event(event) if event.event == "run" => {
                assert!(
                    data(&event)["line"].as_str().is_some_and(|l| l.starts_with(&format!("{received} ")))
                );
                received += 1;
            }
            EventWait::Event(_) => {}
            EventWait::End => break,
            EventWait::TimedOut => panic!("the slow stream is still open after {received} lines"),
        }
    }
    assert!(received < 6000, "the slow client received all lines");
    simulator.server().host().feed.send(&line("after"));
    assert_eq!(next_line(&mut quick).1, "after");
}

#[test]
fn a_slow_client_skips_old_states_and_gets_the_newest() {
    let (simulator, mut api) = start_settled();
    let mut slow = simulator.events();
    // The loop makes 600 different states, which the client does not read yet.
    for i in 1..=600 {
        api.post("/pose", json!({"x": 2.0 + f64::from(i) * 0.001}));
    }
    let newest = until("the newest state", || {
        let seen = state(&mut slow);
        (seen["vehicle"]["x"] == 2.6).then_some(seen)
    });
    assert_eq!(newest, api.get("/state"));
}

#[test]
fn loading_a_world_is_sent_as_a_transition() {
    let gate = LoadGate::default();
    let (simulator, mut api) = settled(setup().with_world("slow", gate.wrap(plain("slow"))));
    let mut events = simulator.events();
    state(&mut events);
    let mut switching = simulator.client();
    switching.send("POST", "/sim/api/switch", &[], b"{\"world\": \"slow.world\"}");
    let during = state(&mut events);
    assert_eq!(during["switching"], true);
    assert_eq!(during["transition"]["target"], "slow.world");
    gate.open();
    assert_eq!(switching.answer().status, 200);
    let after = until("the world is ready", || {
        let now = state(&mut events);
        (now["switching"] == false).then_some(now)
    });
    assert_eq!(after, api.get("/state"));
}

#[test]
fn all_clients_receive_the_same_frames() {
    let (simulator, mut api) = start_settled();
    let mut readers: Vec<Events> = (0..50).map(|_| simulator.events()).collect();
    for reader in &mut readers {
        state(reader);
    }
    api.post("/pose", json!({"x": 2.5, "y": 3}));
    let expected = api.get("/state");
    for reader in &mut readers {
        assert_eq!(state(reader), expected);
    }
}
