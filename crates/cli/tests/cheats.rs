//! Programs that try to get a result without driving. None of them gets a result, and each record
//! shows the commands that were refused.
//!
//! The programs are in `cheats/`. For each attempt, a program prints a line that begins with
//! `gained` or `refused` (`cheats/cheat.py`).
#![allow(clippy::disallowed_methods)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Time limit of a run, in simulated seconds. Most runs end earlier: the default judging script
/// ends a run when the program has exited and the car has stood still for five simulated seconds.
const TIME_LIMIT: &str = "2000";
/// Real-time factor. With this factor, the time limit takes at least 200 real seconds, so that a
/// program has enough time for its attempts.
const SPEED: &str = "10";

/// A workspace with one program of the suite and the shared module `cheat.py`. The folder is
/// removed on drop.
struct Workspace(PathBuf);

impl Workspace {
    fn new(name: &str) -> Workspace {
        let path = std::env::temp_dir().join(format!("chicane-cheat-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cheats");
        for file in ["cheat.py", &format!("{name}.py")] {
            std::fs::copy(programs.join(file), path.join(file)).expect("copied");
        }
        Workspace(path)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Evaluates a program of the suite in a closed box. Returns the output of `chicane` and the
/// record.
fn evaluate(name: &str) -> (Output, Value) {
    let workspace = Workspace::new(name);
    let data = workspace.0.with_extension("data");
    let binary = env!("CARGO_BIN_EXE_chicane");
    let command = format!("python3 {name}.py");
    let output = Command::new(binary)
        .args(["evaluate", "--world", "oval", "--box", "closed", "--json", "--speed", SPEED])
        .args(["--time-limit", TIME_LIMIT, "--command", &command])
        .args(["--student-env", "CHEAT_DATA", "--student-env", "CHEAT_BINARY"])
        .args([Path::new("--workspace"), &workspace.0, Path::new("--data-dir"), &data])
        .env("CHEAT_DATA", &data)
        .env("CHEAT_BINARY", binary)
        .env("TEACHER_TOKEN", "hunter2")
        .env("GRADING_PASSWORD", "hunter2")
        .output()
        .expect("started");
    let _ = std::fs::remove_dir_all(&data);
    let said = String::from_utf8_lossy(&output.stderr);
    let record = serde_json::from_slice(&output.stdout).map_err(|e| format!("{name}: {e}: {said}"));
    let record = record.expect("a record");
    (output, record)
}

/// Lines that the program printed.
fn lines(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a list of events");
    let lines = events.iter().filter(|e| e["kind"] == "run" && e["phase"] == "log");
    lines.filter_map(|e| e["line"].as_str().map(str::to_owned)).collect()
}

/// Checks that a program got no result and gained nothing. Returns its record.
fn gains_nothing(name: &str) -> Value {
    let (output, record) = evaluate(name);
    let lines = lines(&record);
    assert_eq!(record["record"], Value::Null, "{name} has a result: {record}");
    assert_eq!(record["box"], "closed");
    let status = output.status.code();
    assert!(matches!(status, Some(1 | 2)), "{name}: status {status:?}, outcome {}", record["outcome"]);
    let gained: Vec<&String> = lines.iter().filter(|line| line.starts_with("gained")).collect();
    assert!(gained.is_empty(), "{name}: {gained:#?}");
    record
}

/// Checks that the program made attempts, and that none of them crashed it.
fn tries_and_exits(name: &str) -> Value {
    let record = gains_nothing(name);
    let lines = lines(&record);
    assert!(lines.iter().any(|line| line.starts_with("refused")), "{name} tried nothing: {lines:#?}");
    assert_eq!(record["run"]["exit_code"], 0, "{name}: {}", record["run"]);
    record
}

/// Checks that the record names a path that the program was not allowed to use.
fn is_refused(name: &str, path: &str) -> Value {
    let record = tries_and_exits(name);
    let first = record["refused"]["first"].as_array().expect("a list");
    assert!(
        first.iter().any(|one| one["path"] == path && one["source"] == "student"),
        "{}",
        record["refused"]
    );
    assert_eq!(record["interference"]["count"], 0, "{}", record["interference"]);
    record
}

#[test]
fn hops_of_9_cm_along_the_route() {
    let record = is_refused("teleport_small", "/sim/api/pose");
    assert_eq!(record["refused"]["count"], 20);
}

#[test]
fn one_hop_over_the_line() {
    is_refused("teleport_large", "/sim/api/pose");
}

#[test]
fn a_reset_during_the_run() {
    is_refused("reset", "/sim/api/reset");
}

#[test]
fn moving_the_finish() {
    is_refused("move_the_finish", "/sim/api/switch");
}

#[test]
fn switching_the_lights() {
    is_refused("lights", "/sim/api/traffic_lights/a");
}

#[test]
fn brightening_the_picture() {
    is_refused("brightness", "/sim/api/brightness");
}

#[test]
fn slowing_the_clock_for_time_to_think() {
    is_refused("clock", "/sim/api/clock");
}

#[test]
fn flooding_the_record_before_a_teleport() {
    let record = is_refused("clock_flood", "/sim/api/clock");
    assert_eq!(record["refused"]["count"], 3001, "a refused request was not counted");
    assert_eq!(record["refused"]["first"].as_array().map(Vec::len), Some(20));
}

#[test]
fn a_forged_result_over_the_picture() {
    is_refused("overlay", "/sim/api/overlay");
}

#[test]
fn a_second_process_that_pretends_to_be_the_teacher() {
    let record = is_refused("second_client", "/sim/api/pose");
    assert_eq!(record["refused"]["count"], 3);
}

#[test]
fn the_simulators_real_port() {
    is_refused("other_ports", "/sim/api/pose");
}

#[test]
fn websockets_and_rosbridge() {
    let record = is_refused("websocket", "/sim/api/reset");
    let first = record["refused"]["first"].as_array().expect("a list");
    for path in ["/sim/api/brightness", "/sim/api/clock", "/sim/api/respawn"] {
        assert!(first.iter().any(|one| one["path"] == path), "{path}");
    }
}

#[test]
fn a_session_of_its_own() {
    is_refused("forged_session", "/sim/api/evaluation/start");
}

#[test]
fn a_daemon_after_the_programs_exit() {
    let record = is_refused("fork_after_exit", "/sim/api/pose");
    assert_eq!(record["outcome"], "finished", "the session waited for the daemon");
}

#[test]
fn editing_the_records() {
    tries_and_exits("edit_records");
}

#[test]
fn planting_another_data_folder() {
    tries_and_exits("another_data_folder");
}

#[test]
fn the_channel_of_the_judge() {
    tries_and_exits("judge_socket");
}

#[test]
fn attaching_to_other_processes() {
    tries_and_exits("ptrace");
}

#[test]
fn reading_other_processes() {
    tries_and_exits("proc");
}

#[test]
fn replacing_the_binary_of_the_simulator() {
    let before = std::fs::metadata(env!("CARGO_BIN_EXE_chicane")).expect("the program").len();
    tries_and_exits("replace_binary");
    let after = std::fs::metadata(env!("CARGO_BIN_EXE_chicane")).expect("the program").len();
    assert_eq!(before, after);
}

#[test]
fn secrets_in_the_environment() {
    let record = tries_and_exits("environment_secrets");
    let names: Vec<String> = lines(&record)
        .iter()
        .filter_map(|line| Some(line.strip_prefix("refused variable ")?.to_owned()))
        .collect();
    let known = [
        "PATH",
        "LANG",
        "HOME",
        "TERM",
        "CHICANE_URL",
        "CHICANE_SESSION",
        "CHICANE_PACE",
        "PYTHONHASHSEED",
        "CHEAT_DATA",
        "CHEAT_BINARY",
    ];
    // The shell sets these variables.
    let of_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    for name in &names {
        assert!(known.contains(&name.as_str()) || of_shell.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn filling_the_disk() {
    tries_and_exits("fill_disk");
}

#[test]
fn filling_the_memory() {
    let record = gains_nothing("fill_memory");
    assert_eq!(record["run"]["oom"], true, "{}", record["run"]);
}

#[test]
fn starting_thousands_of_processes() {
    tries_and_exits("fork_bomb");
}

#[test]
fn signals_to_every_process() {
    tries_and_exits("signal_storm");
}

#[test]
fn a_flood_of_output() {
    // Most lines are dropped, so the last line of the program may be missing.
    let record = gains_nothing("output_flood");
    assert_eq!(record["run"]["exit_code"], 0, "{}", record["run"]);
    assert!(lines(&record).len() < 5000, "{} lines", lines(&record).len());
}

#[test]
fn files_for_the_judge_to_import() {
    tries_and_exits("fake_judge");
}

#[test]
fn names_and_addresses_outside() {
    tries_and_exits("dns");
}

#[test]
fn doing_nothing() {
    let record = tries_and_exits("idle");
    assert_eq!(
        (&record["refused"]["count"], &record["outcome"]),
        (&Value::from(0), &Value::from("finished"))
    );
}
