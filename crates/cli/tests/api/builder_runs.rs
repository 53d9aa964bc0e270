//! The rules of a project, tried on recorded runs.

use crate::builder::{Builder, builder};
use crate::support::judged::{run, wait_for_phase};
use crate::support::{Api, MAX_STOP_TIME, Simulator, json as body, refusal, setup, start};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const ENDLESS: &str = "def evaluate(sim):\n    sim.record(round(sim.state.pose.x, 3))\n";
/// A script that needs 15 real seconds for each simulated second of the run. Judging a run of 10 s
/// would take 150 s, so the simulator stops the judging at its limit of 120 s.
const SLOW: &str = "import time\n\n\ndef evaluate(sim):\n    time.sleep(0.3)\n";
/// How long a test waits for a judging to begin or to stop. The time is shorter than the 120 s of a
/// judging by [`SLOW`], so that a test fails if the judging is not stopped early.
const JUDGING_TIMEOUT: Duration = Duration::from_secs(60);

/// Gives a project this judging script. Adds an empty `initialize` at the end, because the builder
/// reports a script without this function.
fn set_script(builder: &mut Builder, id: &str, script: &str) {
    let script = format!("{script}\n\ndef initialize(sim):\n    pass\n");
    let stored = builder.raw("PUT", &format!("/projects/{id}/files/judge.py"), script.as_bytes());
    assert_eq!(stored.status, 200, "{}", stored.text());
    let mut document = builder.document(id);
    document["evaluation"] = json!({"config": {"time_limit_s": 77}, "script": "judge.py"});
    builder.save(id, &document);
}

/// Makes a project whose script never ends a session, and runs a session in its world up to the
/// time limit. Returns a client, the id of the project and the id of the session.
fn driven(simulator: &Simulator, time_limit_s: u32) -> (Builder, String, String) {
    let mut builder = builder(simulator);
    let id = builder.id(json!({"from": "empty", "name": "my_track"}));
    set_script(&mut builder, &id, ENDLESS);
    builder.done("POST", &format!("/projects/{id}/drive"), json!({}));
    let mut api = simulator.api();
    api.post("/clock", json!({"speed": 10}));
    let record = run(&mut api, json!({"time_limit_s": time_limit_s, "student": "Ada"}));
    assert_eq!(record["outcome"], "timeout", "{record}");
    (builder, id, record["session"].as_str().expect("an id").to_owned())
}

fn rejudge(builder: &mut Builder, id: &str, session: &str) -> Value {
    builder.done("POST", &format!("/projects/{id}/rejudge"), json!({"session": session}))
}

#[test]
fn the_rules_of_a_project_judge_a_recorded_run() {
    let simulator = start();
    let (mut builder, id, session) = driven(&simulator, 2);
    let runs = builder.get(&format!("/projects/{id}/runs"))["runs"].clone();
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!(
        (&runs[0]["session"], &runs[0]["student"], &runs[0]["world"], &runs[0]["outcome"]),
        (&json!(session), &json!("Ada"), &json!("my_track"), &json!("timeout"))
    );
    let again = rejudge(&mut builder, &id, &session);
    assert_eq!((&again["outcome"], &again["record"]), (&json!("timeout"), &runs[0]["record"]), "{again}");
    assert_eq!((&again["same_world"], &again["error"]), (&json!(true), &Value::Null), "{again}");

    // The script and the settings come from the project, and the drive comes from the run.
    let script = "def evaluate(sim):\n    print(sim.state.time)\n    if sim.state.time >= 1:\n        \
                  sim.record(sim.config.time_limit_s)\n        sim.finish()\n";
    set_script(&mut builder, &id, script);
    let other = rejudge(&mut builder, &id, &session);
    assert_eq!((&other["outcome"], &other["record"]), (&json!("finished"), &json!(77)), "{other}");
    assert_eq!(other["before"], json!({"outcome": "timeout", "record": runs[0]["record"]}));
    assert_eq!(other["log"].as_array().map(Vec::len), Some(51), "{other}");
    assert_eq!((&other["omitted"], &other["elapsed_s"]), (&json!(0), &json!(1.0)));

    // A run is judged in the world in which it was driven, even if the world of the project has
    // changed since then.
    let mut document = builder.document(&id);
    document["objects"] = json!([{"kind": "cone", "name": "cone1", "x": 4, "y": 3}]);
    builder.save(&id, &document);
    let changed = rejudge(&mut builder, &id, &session);
    assert_eq!((&changed["same_world"], &changed["outcome"]), (&json!(false), &json!("finished")));

    // A judging stores nothing, so the list of runs has not changed.
    assert_eq!(builder.get(&format!("/projects/{id}/runs"))["runs"], runs);
}

#[test]
fn errors_of_the_script_have_their_line() {
    let simulator = start();
    let (mut builder, id, session) = driven(&simulator, 1);
    set_script(&mut builder, &id, "def evaluate(sim):\n    if sim.state.time > 0.5:\n        1 / 0\n");
    let raised = rejudge(&mut builder, &id, &session);
    assert_eq!(raised["outcome"], "script_error", "{raised}");
    assert_eq!(raised["error"], json!({"line": 3, "text": "ZeroDivisionError: division by zero"}));
    set_script(&mut builder, &id, "def evaluate(sim):\n    x = = 3\n");
    let broken = rejudge(&mut builder, &id, &session);
    assert_eq!(
        (&broken["outcome"], &broken["error"]["line"]),
        (&json!("script_error"), &json!(2)),
        "{broken}"
    );
}

#[test]
fn an_uploaded_run_is_judged_and_other_files_are_refused() {
    let simulator = start();
    let (mut builder, id, session) = driven(&simulator, 1);
    let file = simulator.client().get(&format!("/sim/api/evaluation/run?session={session}"));
    let path = format!("/projects/{id}/rejudge/file");
    let judged = builder.raw("POST", &path, &file.body);
    assert_eq!(judged.status, 200, "{}", judged.text());
    assert_eq!((&body(&judged)["session"], &body(&judged)["same_world"]), (&json!(session), &json!(true)));

    let garbage = builder.raw("POST", &path, b"not a run");
    assert_eq!((garbage.status, &body(&garbage)["code"]), (409, &json!("no_journal")), "{}", garbage.text());
    let mut cut = file.body.clone();
    cut.truncate(cut.len() / 2);
    assert_eq!(builder.raw("POST", &path, &cut).status, 409);
    let address = format!("/sim/api/builder{path}");
    let typed = builder.0.0.request("POST", &address, &[("content-type", "text/plain")], &file.body);
    assert_eq!((typed.status, &body(&typed)["code"]), (415, &json!("unsupported_type")));

    // A run in another world can't be judged with the rules of this project.
    let other = builder.id(json!({"from": "empty", "name": "other_track"}));
    set_script(&mut builder, &other, ENDLESS);
    let refused = builder.raw("POST", &format!("/projects/{other}/rejudge/file"), &file.body);
    assert_eq!(
        refusal(&refused),
        (409, "the run was driven in the world \"my_track\", but the project is \"other_track\"".to_owned())
    );
    assert_eq!(builder.get(&format!("/projects/{other}/runs")), json!({"runs": []}));
}

#[test]
fn wrong_requests_are_explained() {
    let simulator = start();
    let (mut builder, id, session) = driven(&simulator, 1);
    let path = format!("/projects/{id}/rejudge");
    builder.refused("POST", &path, &json!({}), (400, "invalid_request"));
    builder.refused("POST", &path, &json!({"session": "nobody"}), (404, "no_record"));
    let content = json!({"session": session});
    builder.refused("POST", "/projects/0123456789abcdef/rejudge", &content, (404, "no_such_project"));
    let mut document = builder.document(&id);
    document.as_object_mut().expect("an object").remove("evaluation");
    builder.save(&id, &document);
    let text = builder.refused("POST", &path, &content, (404, "no_evaluation"));
    assert!(text.contains("no rules"), "{text}");
}

#[test]
fn only_the_teacher_sees_and_judges_runs() {
    let simulator = setup().token("teacher-token-1").student_token("student-token-1").start();
    let client = |token: &str| simulator.client().with_header("authorization", format!("Bearer {token}"));
    let mut teacher = Builder(Api(client("teacher-token-1")));
    let id = teacher.id(json!({"from": "empty"}));
    assert_eq!(teacher.get(&format!("/projects/{id}/runs")), json!({"runs": []}));
    let mut student = Builder(Api(client("student-token-1")));
    student.refused("GET", &format!("/projects/{id}/runs"), &json!({}), (403, "role_forbids"));
    for rest in ["rejudge", "rejudge/file"] {
        let content = json!({"session": "x"});
        student.refused("POST", &format!("/projects/{id}/{rest}"), &content, (403, "role_forbids"));
    }
}

/// Requests that a run is judged again, without waiting for the response.
fn send_only(simulator: &Simulator, id: &str, session: &str) -> TcpStream {
    let content = json!({"session": session}).to_string();
    let mut stream = TcpStream::connect(simulator.address).expect("connected");
    let head = format!(
        "POST /sim/api/builder/projects/{id}/rejudge HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{content}",
        simulator.address,
        content.len()
    );
    stream.write_all(head.as_bytes()).expect("sent");
    stream
}

/// Begins to judge a run, and returns the connection of the client that waits for the response.
fn begin(simulator: &Simulator, builder: &mut Builder, id: &str, session: &str) -> TcpStream {
    let until = Instant::now() + JUDGING_TIMEOUT;
    let mut stream = send_only(simulator, id, session);
    let unknown = json!({"session": "nobody"});
    while builder.send("POST", &format!("/projects/{id}/rejudge"), &unknown).status != 503 {
        assert!(Instant::now() < until, "no run is being judged");
        // The simulator judges one run at a time, and the request for an unknown session takes the
        // only permit for a moment. If the simulator has therefore refused the request of
        // `send_only`, its response is already here, and the test repeats the request.
        stream.set_nonblocking(true).expect("set");
        if stream.peek(&mut [0]).is_ok() {
            stream = send_only(simulator, id, session);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    stream
}

#[test]
fn one_run_is_judged_at_a_time_and_a_client_that_leaves_stops_it() {
    let simulator = start();
    let (mut builder, id, session) = driven(&simulator, 10);
    set_script(&mut builder, &id, SLOW);
    let stream = begin(&simulator, &mut builder, &id, &session);
    let content = json!({"session": session});
    let text = builder.refused("POST", &format!("/projects/{id}/rejudge"), &content, (503, "busy"));
    assert!(text.contains("another recorded run is being judged"), "{text}");

    // While the run is being judged, the simulator responds to other requests and can run a
    // session.
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({"time_limit_s": 600}));
    wait_for_phase(&mut api, "running");
    api.post("/evaluation/stop", json!({}));

    set_script(&mut builder, &id, ENDLESS);
    drop(stream);
    let left = Instant::now();
    while builder.send("POST", &format!("/projects/{id}/rejudge"), &content).status != 200 {
        assert!(left.elapsed() < JUDGING_TIMEOUT, "the judging goes on without its client");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_judging_does_not_delay_the_stop_of_the_simulator() {
    let simulator = start();
    let (mut builder, id, session) = driven(&simulator, 10);
    set_script(&mut builder, &id, SLOW);
    let _stream = begin(&simulator, &mut builder, &id, &session);
    assert!(simulator.stop() < MAX_STOP_TIME);
}
