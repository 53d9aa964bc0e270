//! Evaluations from the command line: `chicane evaluate`, `judge`, `records` and `check`.
#![allow(clippy::disallowed_methods)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn chicane(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_chicane")).args(arguments).current_dir(root).output().expect("started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A temporary folder for one test. The folder is removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> TempFolder {
        let path = std::env::temp_dir().join(format!("chicane-evaluate-test-{name}-{}", std::process::id()));
        // A killed process with the same id may have left the folder behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        TempFolder(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn one_command_evaluates_a_lap_of_the_technical_track() {
    let run = || {
        chicane(&[
            "evaluate",
            "--world",
            "technical",
            "--command",
            "python3 examples/lap_by_route.py",
            "--json",
        ])
    };
    let output = run();
    let record: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    assert_eq!(record["outcome"], "finished", "{} {}", record["reason"], text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    let time = record["record"].as_f64().expect("a time");
    assert!((15.0..120.0).contains(&time), "{time} s");
    assert!(record["elapsed_s"].as_f64().is_some_and(|elapsed| elapsed >= time), "{time}");
    let penalties =
        record["events"].as_array().expect("a list of events").iter().filter(|e| e["kind"] == "log").count();
    assert_eq!(penalties, 0, "the lap has penalties");
    // The student's program drives the simulator with `POST /step`. So only the simulated time
    // before the first step of the program depends on the speed of the machine.
    let again: Value = serde_json::from_slice(&run().stdout).expect("JSON");
    assert!(
        again["record"].as_f64().is_some_and(|other| (other - time).abs() < 0.2),
        "{time} {}",
        again["record"]
    );
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
    assert!(text(&output.stdout).contains("timeout: the time limit of 2 s passed"), "{output:?}");
    assert!(text(&output.stderr).contains("running"), "no progress: {output:?}");
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
    let nothing = chicane(&["evaluate", "--world", "nowhere"]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).contains("Unknown world \"nowhere\". Give a project file"), "{nothing:?}");
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
    assert_eq!(text(&output.stdout), "fast enough\nfinished\nrecord 0.5 after 0.900 s\n");
    let wrong = scratch.file("wrong.py", "def evaluate(sim):\n    raise RuntimeError('no')\n");
    let output = chicane(&["judge", &wrong, "--world", "oval", "--drive", &drive]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("script_error: RuntimeError: no"), "{output:?}");
    let torn = scratch.file("torn.csv", "0, 1\n");
    let output = chicane(&["judge", &script, "--world", "oval", "--drive", &torn]);
    assert!(text(&output.stderr).contains("torn.csv:1: expected seconds, speed and steering"), "{output:?}");
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
    assert_eq!(output.status.code(), Some(1));
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
