//! A failing program is a failed run, and every run ends.

use crate::support::{TempFolder, chicane, command, last_line, record_of, text};
use serde_json::{Value, json};
use std::process::Output;

/// Python code that sends a request to the simulator. A refused request is ignored.
const REQUEST: &str = r#"
import json, os, time, urllib.error, urllib.request

def post(path, **body):
    url = os.environ["CHICANE_URL"] + "/sim/api" + path
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        return json.load(urllib.request.urlopen(request))
    except urllib.error.HTTPError as error:
        return error.code
"#;

/// Evaluates a command on the oval, in this workspace and with more options.
fn evaluate(workspace: &str, program: &str, more: &[&str]) -> Output {
    let arguments = ["evaluate", "--world", "oval", "--workspace", workspace, "--command", program];
    chicane(&[&arguments, more].concat())
}

/// Regression test: a crash was reported as `finished` with exit status 0, and no traceback was
/// shown.
#[test]
fn a_crash_was_a_success() {
    let scratch = TempFolder::new("crash");
    let workspace = scratch.workspace("crash.py", "import time\nimport no_such_module\n");
    let not_found = "pyton3: command not found";
    let missing = "ModuleNotFoundError: No module named 'no_such_module'";
    for (program, exit_code, signal, last, says) in [
        ("pyton3 x.py", json!(127), Value::Null, not_found, "the program exited with status 127"),
        ("python3 crash.py", json!(1), Value::Null, missing, "the program exited with status 1"),
        ("echo hello; kill -9 $$", Value::Null, json!(9), "hello", "the program was ended by signal 9"),
    ] {
        let output = evaluate(&workspace, program, &["--json"]);
        let (record, shown) = (record_of(&output), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{program}: {shown}");
        assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &Value::Null), "{record}");
        assert_eq!(
            (&record["run"]["exit_code"], &record["run"]["signal"]),
            (&exit_code, &signal),
            "{record}"
        );
        let tail = record["run"]["output_tail"].as_array().expect("lines");
        assert!(tail.last().is_some_and(|line| line.as_str().is_some_and(|l| l.contains(last))), "{tail:?}");
        let end = last_line(&output.stderr);
        assert!(end.starts_with("failed    ") && end.contains(says) && end.contains(last), "{end}");
        assert!(
            shown.contains(
                &format!("{says}, so there is no result").replace("exited with", "ended with exit")
            )
        );
        // The run ends at once. It does not first wait until the car has stood still for some time.
        assert!(record["elapsed_s"].as_f64().is_some_and(|elapsed| elapsed < 5.0), "{record}");
    }
    let record = record_of(&evaluate(&workspace, "python3 crash.py", &["--json"]));
    assert_eq!(record["run"]["output_tail"][0], "Traceback (most recent call last):", "{record}");
}

#[test]
fn a_program_that_ends_without_driving_has_no_record() {
    let scratch = TempFolder::new("idle");
    let output = evaluate(&scratch.workspace("x", ""), "echo done", &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = text(&output.stdout);
    assert!(shown.starts_with("student │ done\n"), "{shown}");
    let end = last_line(&output.stdout);
    assert!(
        end.starts_with("failed    there is no record: ") && end.contains("stood still for 5 s"),
        "{end}"
    );
}

#[test]
fn a_program_that_fails_after_a_record_was_set_has_failed() {
    let scratch = TempFolder::new("late");
    let script = "def evaluate(sim):\n    sim.record(3)\n    if sim.state.run.exit_code is not None:\n        \
                  sim.finish()\n";
    let project = scratch.project(script);
    let workspace = scratch.workspace("x", "");
    for (program, status) in [("exit 3", 1), ("exit 0", 0)] {
        let arguments = ["evaluate", "--world", &project, "--workspace", &workspace, "--command", program];
        let output = chicane(&arguments);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
    }
}

#[test]
fn with_json_standard_output_has_only_the_record() {
    let scratch = TempFolder::new("json");
    let project = scratch.project(
        "def evaluate(sim):\n    print('judging')\n    sim.record(sim.state.time)\n    \
         if sim.state.run.exit_code is not None:\n        sim.finish()\n",
    );
    let workspace = scratch.workspace("x", "");
    let program = "echo to output; echo to errors >&2";
    let arguments = ["evaluate", "--world", &project, "--workspace", &workspace, "--command", program];
    let output = chicane(&[&arguments[..], &["--json", "--student", "Ada"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (record, shown) = (record_of(&output), text(&output.stderr));
    assert_eq!((&record["outcome"], &record["student"]), (&json!("finished"), &json!("Ada")));
    for line in
        ["student │ to output\n", "student │ to errors\n", "judge   │ judging\n", "\nfinished  record "]
    {
        assert!(shown.contains(line), "{line:?} is missing: {shown}");
    }
    let output = chicane(&arguments);
    let shown = text(&output.stdout);
    for line in
        ["student │ to output\n", "student │ to errors\n", "judge   │ judging\n", "\nfinished  record "]
    {
        assert!(shown.contains(line), "{line:?} is missing: {shown}");
    }
}

/// Regression test: a step pauses the clock, and nothing continued the clock when the program had
/// ended.
#[test]
fn a_stepping_program_that_ended_left_the_clock_paused() {
    let scratch = TempFolder::new("straight");
    let program =
        format!("{REQUEST}\nfor _ in range(120):\n    post('/step', duration=0.1, speed=1, steering=0)\n");
    let workspace = scratch.workspace("straight.py", &program);
    let output =
        evaluate(&workspace, "python3 straight.py", &["--time-limit", "60", "--speed", "10", "--json"]);
    let record = record_of(&output);
    assert_ne!(record["outcome"], "stopped", "{record}");
    assert!([Some(1), Some(2)].contains(&output.status.code()), "{output:?}");
    assert!(record["elapsed_s"].as_f64().is_some_and(|elapsed| elapsed > 12.0), "{record}");
}

/// Regression test: a paused clock kept a session alive for ever.
#[test]
fn a_program_that_pauses_the_clock_and_sleeps_never_ended() {
    let scratch = TempFolder::new("paused");
    let program = format!("{REQUEST}\nprint(post('/clock', paused=True), flush=True)\ntime.sleep(1000)\n");
    let workspace = scratch.workspace("pause.py", &program);
    let output = evaluate(&workspace, "python3 pause.py", &["--wall-limit", "5", "--pace", "real"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let end = last_line(&output.stdout);
    assert!(end.starts_with("stopped   wall-clock limit of 5 s"), "{end}");
}

/// Regression test: a script that paused the world kept its session alive for ever.
#[test]
fn a_script_that_pauses_the_world_never_ended() {
    let scratch = TempFolder::new("pausing");
    let project = scratch.project("def evaluate(sim):\n    sim.pause(True)\n");
    let output = chicane(&["evaluate", "--world", &project, "--wall-limit", "3", "--json"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let record = record_of(&output);
    assert_eq!(record["reason"], "wall-clock limit of 3 s", "{record}");
    assert_eq!(record["wall_limit_s"], 3.0, "{record}");
}

#[test]
fn wrong_usage_and_faults_of_the_simulator_have_an_exit_status_of_their_own() {
    let scratch = TempFolder::new("usage");
    let empty = scratch.file("empty.csv", "# nothing\n\n");
    let torn = scratch.file("torn.csv", "a,b\n0, 1, 0\n");
    let broken = scratch.file("broken.json", "{\"version\": 1}");
    let data = scratch.path("data");
    std::fs::create_dir_all(&data).expect("a folder");
    let id = "f".repeat(32);
    for (arguments, says) in [
        (&["--world", "oval", "--time-limit", "soon"][..], "must be a number of seconds"),
        (&["--world", "oval", "--unknown"], "--unknown"),
        (&[], "--world"),
        (&["--world", "nowhere"], "Unknown world \"nowhere\". Give a project file"),
        (&["--world", &id, "--data-dir", &data], "is not installed in"),
        (&["--world", &broken], "broken.json: name is missing"),
        (
            &["--world", "oval", "--workspace", "/no/such/folder"],
            "--workspace /no/such/folder is not a folder",
        ),
        (&["--world", "oval", "--data-dir", &data, "--workspace", &data], "is in the data folder"),
        (&["--world", "oval", "--drive", "/no/such/drive"], "can't read /no/such/drive"),
        (&["--world", "oval", "--drive", &torn], "torn.csv:1: \"a,b\" is not a drive command"),
        (&["--world", "oval", "--drive", &empty], "empty.csv has no drive command"),
        (&["--world", "oval", "--robot", "gen7"], "Unknown robot \"gen7\""),
        (&["--world", "oval", "--judge-image", "x"], "--judge-image needs"),
    ] {
        let output = chicane(&[&["evaluate"], arguments].concat());
        assert_eq!(output.status.code(), Some(64), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty() && text(&output.stderr).contains(says), "{arguments:?}: {output:?}");
    }
    for help in [&["--help"][..], &["--version"], &["evaluate", "--help"]] {
        assert_eq!(chicane(help).status.code(), Some(0), "{help:?}");
    }
    let no_judge =
        command(&["evaluate", "--world", "oval"]).env("CHICANE_JUDGE_ROOT", "/nowhere/at/all").output();
    let no_judge = no_judge.expect("started");
    assert_eq!(no_judge.status.code(), Some(70), "{no_judge:?}");
    assert!(text(&no_judge.stderr).contains("run `chicane setup`"), "{no_judge:?}");
    let file = scratch.file("file", "");
    let no_folder = chicane(&["evaluate", "--world", "oval", "--data-dir", &file]);
    assert_eq!(no_folder.status.code(), Some(70), "{no_folder:?}");
}
