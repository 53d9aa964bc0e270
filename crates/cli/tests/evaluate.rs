//! Evaluations from the command line: `chicane evaluate`, `judge`, `records` and `check`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "evaluate/failing.rs"]
mod failing;
#[path = "evaluate/parallel.rs"]
mod parallel;
#[path = "evaluate/support.rs"]
mod support;
#[path = "evaluate/terminal.rs"]
mod terminal;

use serde_json::Value;
use support::{TempFolder, chicane, record_of, root, text};

#[test]
fn one_command_evaluates_a_lap_of_the_technical_track() {
    // The box shows the package `chicane`, so the workspace needs only the program.
    let scratch = TempFolder::new("lap");
    let workspace = scratch.workspace(
        "lap_by_route.py",
        &std::fs::read_to_string(root().join("examples/lap_by_route.py")).expect("an example"),
    );
    let run = || {
        let program = "python3 lap_by_route.py";
        let world = ["evaluate", "--world", "technical"];
        chicane(&[&world[..], &["--workspace", &workspace, "--command", program, "--json"]].concat())
    };
    let output = run();
    let record = record_of(&output);
    assert_eq!(record["outcome"], "finished", "{} {}", record["reason"], text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    let time = record["record"].as_f64().expect("a time");
    assert!((15.0..120.0).contains(&time), "{time} s");
    assert!(record["elapsed_s"].as_f64().is_some_and(|elapsed| elapsed >= time), "{time}");
    let penalties =
        record["events"].as_array().expect("a list of events").iter().filter(|e| e["kind"] == "log").count();
    assert_eq!(penalties, 0, "the lap has penalties");
    // Time is virtual, so the record does not depend on the speed of the machine.
    let again: Value = serde_json::from_slice(&run().stdout).expect("JSON");
    assert_eq!(again["record"], record["record"]);
}

/// Regression test: escape sequences in the output of a judging script reached the terminal. The
/// script could therefore clear the screen or overwrite earlier output.
#[test]
fn escape_sequences_of_a_script_reached_the_terminal() {
    let scratch = TempFolder::new("escapes");
    let script = scratch.file(
        "script.py",
        "def evaluate(sim):\n    print('\\x1b[2Jred\\x9b1m \\u202eevil')\n    sim.record('\\x7f\\u202e')\n    \
         raise ValueError('\\x1b]0;title\\x07')\n",
    );
    let drive = scratch.file("drive.csv", "0, 0.5, 0\n");
    let output = chicane(&["judge", &script, "--world", "oval", "--drive", &drive]);
    let said = text(&output.stdout) + &text(&output.stderr);
    let obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!said.contains(obeyed), "{said:?}");
    for shown in
        [r"\x1b[2Jred\x9b1m \u{202e}evil", r"ValueError: \x1b]0;title\x07", r#"record "\x7f\u{202e}""#]
    {
        assert!(said.contains(shown), "{shown}: {said:?}");
    }
}

#[test]
fn the_exit_status_depends_on_the_outcome() {
    let scratch = TempFolder::new("status");
    let data = scratch.0.join("data");
    let data = data.to_str().expect("UTF-8");
    let output = chicane(&[
        "evaluate",
        "--world",
        "oval",
        "--command",
        "echo hello",
        "--time-limit",
        "2",
        "--speed",
        "0",
        "--data-dir",
        data,
    ]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stdout).contains("timeout   the time limit of 2 s passed"), "{output:?}");
    // The session may end before the command reads it for the first time, so only the last line of
    // the progress is certain.
    assert!(text(&output.stderr).contains("ended at 2.00 s"), "no progress: {output:?}");
    let kept = chicane(&["records", "export", "--csv", "--data-dir", data]);
    let lines: Vec<String> = text(&kept.stdout).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{kept:?}");
    assert!(lines[1].contains(",oval,") && lines[1].contains(",timeout,"), "{}", lines[1]);
    let kept: Value =
        serde_json::from_slice(&chicane(&["records", "export", "--json", "--data-dir", data]).stdout)
            .expect("JSON");
    assert_eq!(
        kept[0]["events"].as_array().and_then(|e| e.last()).map(|e| e["kind"].clone()),
        Some("end".into())
    );
}

#[test]
fn judge_runs_a_script_on_a_recorded_drive() {
    let scratch = TempFolder::new("judge");
    let drive = scratch.file("drive.csv", "time,speed,steering\n0, 0.5, 0\n1, 0, 0\n");
    let script = scratch.file(
        "judge.py",
        "def evaluate(sim):\n    sim.record(round(sim.state.pose.speed, 2))\n    if sim.state.time >= 0.9:\n        \
         print('fast enough')\n        sim.finish()\n",
    );
    let output = chicane(&["judge", &script, "--world", "oval", "--drive", &drive]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(
        text(&output.stdout),
        "judge   │ fast enough\nfinished  record 0.5 (lower is better) after 0.90 s\n"
    );
    let wrong = scratch.file("wrong.py", "def evaluate(sim):\n    raise RuntimeError('no')\n");
    let output = chicane(&["judge", &wrong, "--world", "oval", "--drive", &drive]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("script error  RuntimeError: no"), "{output:?}");
    let torn = scratch.file("torn.csv", "0, 1\n");
    let output = chicane(&["judge", &script, "--world", "oval", "--drive", &torn]);
    assert!(text(&output.stderr).contains("torn.csv:1: \"0, 1\" is not a drive command"), "{output:?}");
}

#[test]
fn judge_accepts_a_project_that_was_not_built() {
    let scratch = TempFolder::new("project");
    let drive = scratch.file("drive.csv", "0, 0.5, 0\n");
    let script = scratch
        .file("judge.py", "def evaluate(sim):\n    sim.record(sorted(sim.objects))\n    sim.finish()\n");
    let output = chicane(&["judge", &script, "--world", "examples/projects/loop.json", "--drive", &drive]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("\"cone1\",\"signal1\""), "{output:?}");
    let torn = scratch.file("torn.json", "{\"version\": 1}");
    let output = chicane(&["evaluate", "--world", &torn]);
    assert_eq!(output.status.code(), Some(64));
    assert!(text(&output.stderr).contains("torn.json: name is missing"), "{output:?}");
}

#[test]
fn check_fails_for_a_world_with_an_invalid_script() {
    let scratch = TempFolder::new("check");
    for folder in ["worlds", "evaluations"] {
        std::fs::create_dir_all(scratch.0.join(folder)).expect("a folder");
    }
    scratch.file("worlds/bad.world", "<sdf version='1.7'><world name='bad'></world></sdf>");
    scratch.file("evaluations/bad.json", "{\"version\": 1, \"config\": {}}");
    let folder = scratch.0.to_str().expect("UTF-8");
    for (script, says) in [
        ("def evaluate(sim)\n", "line 1: expected ':'"),
        ("def judge(sim): pass\n", "it does not define evaluate(sim)"),
        ("import os\nos.abort()\n", "it does not define evaluate(sim)"),
    ] {
        scratch.file("evaluations/bad.py", script);
        let output = chicane(&["check", folder]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains(says), "{output:?}");
    }
    scratch.file("evaluations/bad.py", "if True:\n    def evaluate(sim): pass\n");
    let output = chicane(&["check", folder]);
    assert!(output.status.success() && text(&output.stdout).contains("can judge"), "{output:?}");
}
