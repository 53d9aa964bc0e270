//! How a judged run ends, who controls its clock, and what its record says.

use crate::support::judged::{judged, run, wait_for_end, wait_for_phase};
use crate::support::{TempFolder, setup, until};
use serde_json::{Value, json};

/// A judging script that never ends the session by itself.
const NOTHING: &str = "def evaluate(sim):\n    pass\n";
/// A judging script that ends the session three simulated seconds after the program's exit.
const AFTER_EXIT: &str = "\
def initialize(sim):
    sim.exited = 0
def evaluate(sim):
    if sim.state.run.exit_code is None:
        sim.exited = sim.state.time
    elif sim.state.time > sim.exited + 3:
        sim.record(0.1 + 0.2)
        sim.finish()
";
/// A program that makes one step of half a second, which pauses time, and then exits.
const ONE_STEP: &str = "python3 - <<'END'\n\
    import json, os, urllib.request\n\
    body = json.dumps({'duration': 0.5, 'speed': 1, 'steering': 0}).encode()\n\
    request = urllib.request.Request(os.environ['CHICANE_URL'] + '/sim/api/step', body, \
    {'Content-Type': 'application/json'})\n\
    urllib.request.urlopen(request)\nEND\n";

#[test]
fn a_program_that_exits_after_a_step_does_not_leave_time_paused() {
    let simulator = judged(setup(), AFTER_EXIT);
    let mut api = simulator.api();
    let record = run(&mut api, json!({"command": ONE_STEP}));
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &json!(0.3)), "{record}");
    assert_eq!(record["run"]["exit_code"], 0);
    assert_eq!(api.get("/clock")["paused"], false);
}

#[test]
fn a_step_of_a_background_process_does_not_leave_time_paused() {
    // The shell exits at once. Therefore the session already controls the clock when the background
    // process requests its step.
    let command = format!("({ONE_STEP}) & exit 0");
    let simulator = judged(setup(), AFTER_EXIT);
    let record = run(&mut simulator.api(), json!({"command": command}));
    assert_eq!(record["outcome"], "finished", "{record}");
}

#[test]
fn a_paused_clock_does_not_keep_a_session_alive() {
    let simulator = judged(setup(), NOTHING);
    let mut api = simulator.api();
    api.post("/clock", json!({"speed": 4}));
    // The limit is long enough for the start of the judge on a busy machine.
    api.post("/evaluation/start", json!({"wall_limit_s": 15, "time_limit_s": 3600}));
    wait_for_phase(&mut api, "running");
    api.post("/clock", json!({"paused": true, "speed": 20}));
    let session = wait_for_end(&mut api);
    assert_eq!(
        (&session["outcome"], &session["reason"]),
        (&json!("stopped"), &json!("wall-clock limit of 15 s"))
    );
    let clock = api.get("/clock");
    assert_eq!((&clock["paused"], &clock["speed"]), (&json!(false), &json!(4.0)), "as before the session");
}

#[test]
fn a_script_that_pauses_the_world_does_not_keep_a_session_alive() {
    let simulator = judged(setup(), "def evaluate(sim):\n    sim.pause(True)\n");
    let mut api = simulator.api();
    let record = run(&mut api, json!({"wall_limit_s": 1.5}));
    assert_eq!(
        (&record["outcome"], &record["reason"]),
        (&json!("stopped"), &json!("wall-clock limit of 1.5 s"))
    );
    assert_eq!((&record["wall_limit_s"], &api.get("/clock")["paused"]), (&json!(1.5), &json!(false)));
}

#[test]
fn a_wall_limit_is_checked_and_has_a_default() {
    let simulator = judged(setup(), "def evaluate(sim):\n    sim.finish()\n");
    let mut api = simulator.api();
    let wrong = (400, "wall_limit_s must be a number from 1 to 86400".to_owned());
    for limit in [json!(0.5), json!(86_401), json!("10")] {
        assert_eq!(api.refused("/evaluation/start", json!({"wall_limit_s": limit})), wrong);
    }
    assert_eq!(run(&mut api, json!({"time_limit_s": 10}))["wall_limit_s"], 120.0);
    assert_eq!(run(&mut api, json!({"time_limit_s": 100}))["wall_limit_s"], 500.0);
}

#[test]
fn a_crash_is_not_only_an_exit_code() {
    let simulator = judged(setup(), AFTER_EXIT);
    let command = "for i in $(seq 60); do echo line $i; done; python3 -c 'import no_such_module' 2>&1";
    let record = run(&mut simulator.api(), json!({"command": command}));
    let run = &record["run"];
    assert_eq!((&run["exit_code"], &run["signal"], &run["oom"]), (&json!(1), &Value::Null, &json!(false)));
    let tail: Vec<&str> =
        run["output_tail"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert_eq!(tail.len(), 40);
    assert!(tail.iter().any(|line| line.contains("No module named 'no_such_module'")), "{tail:?}");
    assert!(!tail.contains(&"line 1"), "{tail:?}");
}

#[test]
fn a_signal_and_the_end_of_the_session_are_told_apart() {
    let simulator = judged(setup(), AFTER_EXIT);
    let record = run(&mut simulator.api(), json!({"command": "kill -SEGV $$"}));
    assert_eq!((&record["run"]["exit_code"], &record["run"]["signal"]), (&Value::Null, &json!(11)));
    let simulator = judged(setup(), "def evaluate(sim):\n    sim.finish()\n");
    let record = run(&mut simulator.api(), json!({"command": "sleep 1000"}));
    assert_eq!((&record["run"]["exit_code"], &record["run"]["signal"]), (&Value::Null, &Value::Null));
}

#[test]
fn commands_of_others_are_counted_without_a_limit() {
    let simulator = judged(setup(), NOTHING);
    let mut api = simulator.api();
    api.post("/pose", json!({"x": 1, "y": 1}));
    api.post("/evaluation/start", json!({"command": "sleep 1000"}));
    wait_for_phase(&mut api, "running");
    api.post("/pose", json!({"x": 1.5, "y": 1}));
    api.post("/overlay", json!({"text": "go left"}));
    api.post("/brightness", json!({"value": 0.5}));
    for _ in 0..100 {
        api.post("/clock", json!({"speed": 1}));
    }
    let shown = || simulator.api().get("/evaluation/session")["session"]["interference"].as_u64();
    until("the shown number", || shown().filter(|count| *count == 103));
    api.post("/evaluation/stop", json!({}));
    let record = api.get("/evaluation/record");
    let interference = &record["interference"];
    assert_eq!(interference["count"], 103, "{interference}");
    let first = interference["first"].as_array().expect("a list");
    assert_eq!(first.len(), 20);
    let of = |i: usize| (&first[i]["source"], &first[i]["path"]);
    assert_eq!(of(0), (&json!("api"), &json!("/sim/api/pose")));
    assert_eq!(first[0]["values"], json!({"x": 1.5, "y": 1.0}));
    assert_eq!(of(1), (&json!("api"), &json!("/sim/api/overlay")));
    assert_eq!((of(2).1, &first[2]["values"]), (&json!("/sim/api/brightness"), &json!({"value": 0.5})));
    assert_eq!(simulator.api().get("/evaluation/records")["records"][0]["interference"]["count"], 103);
}

#[test]
fn commands_of_others_to_the_robot_are_counted_too() {
    let simulator = judged(setup(), NOTHING);
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({"command": "sleep 1000"}));
    wait_for_phase(&mut api, "running");
    let mut bridge = simulator.bridge();
    bridge.publish("/cmd_vel", json!({"linear": {"x": 0.3}, "angular": {"z": 0.1}}));
    let count = || simulator.api().get("/evaluation/session")["session"]["interference"].as_u64();
    until("the command of the bridge", || count().filter(|count| *count == 1));
    for (path, body) in [
        ("/speed", json!({"value": 0.2})),
        ("/speed", json!({"value": 0.2, "duration": 0.01})),
        ("/camera/pan", json!({"value": 0.1})),
    ] {
        assert_eq!(simulator.client().post(path, &body.to_string()).status, 200, "{path}");
    }
    api.post("/evaluation/stop", json!({}));
    let record = api.get("/evaluation/record");
    let first = record["interference"]["first"].as_array().expect("a list");
    let seen: Vec<_> = first.iter().map(|one| (&one["source"], &one["path"], &one["values"])).collect();
    let [ros, by_api] = [json!("ros"), json!("api")];
    let paths = ["/rosbridge", "/speed", "/camera/pan"].map(|path| json!(path));
    let values = [
        json!({"linear": 0.3, "angular": 0.1}),
        json!({"speed": 0.2}),
        json!({"speed": 0.2, "ticks": 2}),
        json!({"pan": 0.1}),
    ];
    let expected = [
        (&ros, &paths[0], &values[0]),
        (&by_api, &paths[1], &values[1]),
        (&by_api, &paths[1], &values[2]),
        (&by_api, &paths[2], &values[3]),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_judged_program_could_read_the_records_of_others() {
    let simulator = judged(setup(), AFTER_EXIT);
    let mut api = simulator.api();
    let first = run(&mut api, json!({"command": "echo a secret of the first student"}));
    let other = first["session"].as_str().expect("an id");
    let program = format!(
        "python3 - <<'END'\n\
         import json, os, urllib.error, urllib.request\n\
         def get(path):\n\
         \x20   try:\n\
         \x20       with urllib.request.urlopen(os.environ['CHICANE_URL'] + '/sim/api/evaluation/' + path) as found:\n\
         \x20           return json.load(found)\n\
         \x20   except urllib.error.HTTPError as error:\n\
         \x20       return error.code\n\
         own = os.environ['CHICANE_SESSION']\n\
         pages = [get('records'), get('records?limit=1'), get('records?cursor=1')]\n\
         for page in pages:\n\
         \x20   assert all(record['session'] == own for record in page['records']), page\n\
         \x20   assert page['next'] is None, page\n\
         assert get('record?session={other}') == 404\n\
         last = get('record')\n\
         assert last == 404 or last['session'] == own, last\n\
         print('only my own')\nEND\n"
    );
    let record = run(&mut api, json!({"command": program}));
    assert_eq!(record["run"]["exit_code"], 0, "{record}");
    assert_eq!(record["run"]["output_tail"], json!(["only my own"]), "{record}");
    assert_eq!(api.get(&format!("/evaluation/record?session={other}"))["session"], other);
    assert_eq!(api.get("/evaluation/records")["records"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_record_says_what_was_judged() {
    let work = TempFolder::new();
    std::fs::write(work.path().join("run.sh"), "exit 0\n").expect("written");
    let simulator = judged(setup().workspace(work.path()), AFTER_EXIT);
    let record = run(&mut simulator.api(), json!({"command": "bash run.sh", "student": "Ada"}));
    assert_eq!((&record["student"], &record["pace"]), (&json!("Ada"), &json!("real")));
    assert_eq!((&record["box"], &record["network"]), (&json!("host"), &json!("internet")));
    assert_eq!(record["chicane"]["version"], env!("CARGO_PKG_VERSION"));
    for name in ["profile_sha256", "world_sha256"] {
        assert_eq!(record[name].as_str().map(str::len), Some(64), "{name}");
    }
    assert_eq!((&record["program"]["files"], &record["program"]["bytes"]), (&json!(1), &json!(7)));
    assert_eq!(record["program"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(record["refused"]["count"], 0);
    assert_eq!(record["journal"]["sha256"].as_str().map(str::len), Some(64), "{}", record["journal"]);
}
