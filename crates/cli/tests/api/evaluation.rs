//! Sessions from start to record: statuses of responses, outcomes, and how other responses show a
//! session.

use crate::support::judged::{judged, one_second, run, script_log, wait_for_end, wait_for_phase};
use crate::support::{near, number, plain, refusal, setup, setup_in, start_paused};
use serde_json::{Value, json};

const NOTHING: &str = "def evaluate(sim):\n    pass\n";

#[test]
fn the_evaluation_document_of_a_world() {
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
fn a_world_without_evaluation_refuses_to_start_one() {
    let (_simulator, mut api) = setup().with_world("plain", plain("plain")).world("plain").start_paused();
    assert_eq!(api.get_refused("/evaluation").0, 404);
    assert_eq!(api.refused("/evaluation/start", json!({})).0, 404);
    assert_eq!(api.get("/world")["evaluation"], false);
}

#[test]
fn invalid_values_are_refused_before_other_checks() {
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
fn without_a_session_the_responses_are_empty_and_stop_does_nothing() {
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

#[test]
fn a_session_from_its_start_to_its_record() {
    let script = "def initialize(sim):\n    print('ready')\n\n\
                  def evaluate(sim):\n    sim.record(sim.state.time)\n    if sim.state.time >= 0.5:\n        sim.finish()\n";
    let simulator = judged(setup(), script);
    let mut events = simulator.events();
    let mut api = simulator.api();
    let started = api.post("/evaluation/start", json!({"time_limit_s": 60, "seed": 7}));
    let session = &started["session"];
    assert_eq!(session["phase"], "initializing");
    assert_eq!(
        (&session["world"], &session["world_id"], &session["rev"]),
        (&json!("oval"), &Value::Null, &Value::Null)
    );
    assert_eq!(
        (&session["seed"], &session["better"], &session["command"]),
        (&json!(7), &json!("lower"), &Value::Null)
    );
    let id = session["id"].as_str().expect("an id").to_owned();
    let over = wait_for_end(&mut api);
    assert_eq!(
        (&over["phase"], &over["outcome"], &over["reason"]),
        (&json!("ended"), &json!("finished"), &Value::Null)
    );
    assert!(near(&over["record"], 0.5) && near(&over["elapsed_s"], 0.5), "{over}");
    assert_eq!(over["log"], json!(["ready"]));

    let record = api.get("/evaluation/record");
    assert_eq!(record, api.get(&format!("/evaluation/record?session={id}")));
    assert_eq!((&record["session"], &record["outcome"]), (&json!(id), &json!("finished")));
    assert_eq!(record["judge"]["observations"], 26, "one each at 0, 0.02, ... 0.5 s");
    assert_eq!(record["judge"]["sha256"].as_str().map(str::len), Some(64));
    let kinds: Vec<&str> = record["events"]
        .as_array()
        .expect("a list of events")
        .iter()
        .map(|e| e["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(&kinds[..5], ["start", "phase", "log", "phase", "phase"], "{kinds:?}");
    assert_eq!(kinds.iter().filter(|k| **k == "record").count(), 6, "records are limited to ten per second");
    assert_eq!(kinds.last(), Some(&"end"));

    // The event stream must have sent the events that the record contains.
    let mut streamed = Vec::new();
    while streamed.last().is_none_or(|last: &Value| last["kind"] != "end") {
        let event: Value = serde_json::from_str(&events.next_of("evaluation").data).expect("JSON");
        assert_eq!(event["session"], json!(id));
        streamed.push(event);
    }
    let streamed: Vec<&str> = streamed.iter().map(|e| e["kind"].as_str().expect("a kind")).collect();
    assert_eq!(streamed, kinds);
    let state = api.get("/state");
    assert_eq!(state["evaluation"], json!({"active": false, "session": id, "phase": "ended"}));
    assert_eq!(api.get("/evaluation/records")["records"][0]["session"], json!(id));
}

#[test]
fn a_session_places_the_car_behind_the_line_and_starts_time() {
    let simulator = judged(setup().world("oval"), NOTHING);
    let mut api = simulator.api();
    api.post("/clock", json!({"paused": true}));
    api.post("/traffic_lights/signal1", json!({"state": "red"}));
    api.post("/evaluation/start", json!({"time_limit_s": 3600}));
    wait_for_phase(&mut api, "running");
    assert_eq!(api.get("/clock")["paused"], false, "the simulation is still paused");
    assert_eq!(api.light("signal1"), "green");
    let profile = api.get("/vehicle");
    let front = number(&profile["body"]["centre"][0]) + number(&profile["body"]["size"]["x"]) / 2.0;
    let route = api.get("/route");
    let point = |i: usize| [number(&route["waypoints"][i][0]), number(&route["waypoints"][i][1])];
    let (a, b, pose) = (point(0), point(1), api.get("/pose"));
    let length = ((b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)).sqrt();
    let behind =
        ((a[0] - number(&pose["x"])) * (b[0] - a[0]) + (a[1] - number(&pose["y"])) * (b[1] - a[1])) / length;
    assert!((behind - front - 0.05).abs() < 1e-3, "{behind} m behind the line, front at {front} m");
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
}

#[test]
fn during_a_session_no_other_session_and_no_world_change_is_accepted() {
    let simulator = judged(setup(), NOTHING);
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({}));
    let busy = (409, "evaluation in progress".to_owned());
    assert_eq!(api.refused("/evaluation/start", json!({})), busy);
    wait_for_phase(&mut api, "running");
    assert_eq!(api.refused("/evaluation/start", json!({})), busy);
    assert_eq!(api.refused("/respawn", json!({})), busy);
    assert_eq!(api.refused("/switch", json!({"world": "technical.world"})), busy);
    api.post("/reset", json!({}));
    api.post("/clock", json!({"speed": 2}));
    api.post("/pose", json!({"x": 1, "y": 1}));
    api.step(10);
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], false, "a second stop found a session");
    let record = api.get("/evaluation/record");
    assert_eq!((&record["outcome"], &record["reason"]), (&json!("stopped"), &json!("stopped on request")));
    let beside: Vec<&Value> = record["events"]
        .as_array()
        .expect("a list of events")
        .iter()
        .filter(|e| e["kind"] == "command")
        .map(|e| &e["command"])
        .collect();
    assert_eq!(beside, ["reset", "clock", "pose", "step"]);
    api.post("/respawn", json!({}));
}

#[test]
fn a_session_that_has_just_started_blocks_world_changes() {
    let simulator = judged(setup(), NOTHING);
    let mut api = simulator.api();
    let busy = (409, "evaluation in progress".to_owned());
    for _ in 0..10 {
        api.post("/evaluation/start", json!({}));
        // At this time, the process of the judge and the simulation of the session may still be
        // missing.
        assert_eq!(api.refused("/respawn", json!({})), busy);
        assert_eq!(api.refused("/switch", json!({"world": "technical.world"})), busy);
        assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
    }
}

#[test]
fn a_concurrent_start_and_switch_are_serialized() {
    let simulator = judged(setup(), NOTHING);
    let mut api = simulator.api();
    for round in 0..12 {
        let world = if round % 2 == 0 { "technical" } else { "oval" };
        let body = json!({"world": format!("{world}.world")}).to_string();
        let (switch, start) = std::thread::scope(|scope| {
            let switch = scope.spawn(|| simulator.api().try_post("/switch", &body));
            let start = simulator.api().try_post("/evaluation/start", "{}");
            (switch.join().expect("a response"), start)
        });
        if start.status == 200 {
            wait_for_phase(&mut api, "running");
            let judged = api.get("/evaluation/session")["session"]["world"].clone();
            assert_eq!(api.get("/state")["world"], judged, "switch: {}", switch.text());
            assert_eq!(switch.status == 200, judged == world, "{}", switch.text());
        } else {
            assert_eq!((start.status, switch.status), (409, 200), "{}", start.text());
        }
        api.post("/evaluation/stop", json!({}));
        if switch.status != 200 {
            assert_eq!(refusal(&switch), (409, "evaluation in progress".to_owned()));
            api.post("/switch", json!({"world": format!("{world}.world")}));
        }
    }
}

#[test]
fn an_acknowledged_start_or_stop_is_visible_in_the_state() {
    let simulator = judged(setup().speed(0.0), NOTHING);
    let mut api = simulator.api();
    for round in 0..20 {
        let id = api.post("/evaluation/start", json!({}))["session"]["id"].clone();
        let shown = api.get("/state")["evaluation"].clone();
        assert_eq!((&shown["active"], &shown["session"]), (&json!(true), &id), "round {round}");
        assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
        assert_eq!(api.get("/state")["evaluation"]["active"], false, "round {round}");
        let now = api.get("/evaluation/session");
        assert_eq!((&now["active"], &now["session"]["id"]), (&json!(false), &id));
    }
}

#[test]
fn concurrent_starts_create_one_session() {
    let simulator = judged(setup(), NOTHING);
    let starts: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| simulator.api().try_post("/evaluation/start", "{}").status))
            .collect();
        all.into_iter().map(|one| one.join().expect("a response")).collect()
    });
    assert_eq!(starts.iter().filter(|s| **s == 200).count(), 1, "{starts:?}");
    assert_eq!(starts.iter().filter(|s| **s == 409).count(), 7, "{starts:?}");
    let mut api = simulator.api();
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
    assert_eq!(api.get("/evaluation/records")["records"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_session_ends_at_its_time_limit() {
    let simulator =
        judged(setup().speed(0.0), "def evaluate(sim):\n    sim.record({'at': sim.state.time})\n");
    let record = run(&mut simulator.api(), json!({"time_limit_s": 1.5}));
    assert_eq!(
        (&record["outcome"], &record["reason"]),
        (&json!("timeout"), &json!("the time limit of 1.5 s passed"))
    );
    assert_eq!(record["record"], json!({"at": 1.5}));
    assert!(near(&record["elapsed_s"], 1.505), "{}", record["elapsed_s"]);
}

#[test]
fn an_evaluation_for_another_robot_or_version_is_unsupported() {
    for (json_file, reason) in [
        (
            json!({"version": 1, "config": {"robot": "gen9"}}),
            "the evaluation is for robot gen9, this simulator is gen1",
        ),
        (json!({"version": 2, "config": {}}), "version 2 of the evaluation is not known, only 1 is"),
    ] {
        let mut bundle = plain("other");
        bundle.insert("evaluations/other.json", json_file.to_string());
        bundle.insert("evaluations/other.py", "raise SystemExit('never run')\n");
        let simulator = setup().with_world("other", bundle).world("other").start();
        let record = run(&mut simulator.api(), json!({}));
        assert_eq!((&record["outcome"], &record["reason"]), (&json!("unsupported"), &json!(reason)));
        assert_eq!((&record["judge"]["observations"], script_log(&record).len()), (&json!(0), 0));
    }
}

#[test]
fn without_a_judge_a_start_is_refused_with_advice_and_the_rest_works() {
    let simulator = setup().judge(|judge| judge.folder = Some("/nowhere/at/all".into())).start();
    let mut api = simulator.api();
    let (status, text) = api.refused("/evaluation/start", json!({}));
    assert_eq!(status, 503);
    assert!(text.starts_with("judge not available: ") && text.contains("chicane setup"), "{text}");
    assert_eq!(api.get("/evaluation/session"), json!({"active": false, "session": null}));
    api.post("/reset", json!({}));
}

#[test]
fn stopping_the_simulator_ends_its_session() {
    let simulator = judged(setup(), NOTHING);
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({"command": "sleep 1000"}));
    wait_for_phase(&mut api, "running");
    let data = simulator.stop_and_keep();
    let again = setup_in(&data).start();
    let mut api = again.api();
    let record = api.get("/evaluation/record");
    assert_eq!((&record["outcome"], &record["reason"]), (&json!("stopped"), &json!("simulator shut down")));
    let seen = api.get("/evaluation/session");
    assert_eq!(
        (&seen["active"], &seen["session"]["outcome"]),
        (&json!(false), &json!("stopped")),
        "the session is no longer visible"
    );
}

#[test]
fn records_are_listed_in_pages() {
    let simulator = judged(setup().speed(0.0), "def evaluate(sim):\n    sim.finish()\n");
    let mut api = simulator.api();
    let ids: Vec<Value> = (0..3).map(|_| run(&mut api, one_second())["session"].clone()).collect();
    let page = api.get("/evaluation/records?limit=2");
    let of = |page: &Value| {
        page["records"].as_array().expect("a list").iter().map(|r| r["session"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(&page), [ids[2].clone(), ids[1].clone()]);
    assert!(page["records"][0].get("events").is_none());
    let next = page["next"].as_str().expect("more").to_owned();
    let last = api.get(&format!("/evaluation/records?limit=2&cursor={next}"));
    assert_eq!((of(&last), &last["next"]), (vec![ids[0].clone()], &Value::Null));
    assert_eq!(api.get("/evaluation/records?world=technical"), json!({"records": [], "next": null}));
    for wrong in ["limit=0", "limit=501", "limit=x", "cursor=x", "cursor=-1"] {
        assert_eq!(api.get_refused(&format!("/evaluation/records?{wrong}")).0, 400, "{wrong}");
    }
}
