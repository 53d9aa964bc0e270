//! Tests of the option `--robot`: the commands `serve`, `evaluate`, `judge` and `lap` accept the
//! name of a shipped profile, such as `gen1`, or a profile file.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "durable/program.rs"]
mod program;

use program::{Program, TempFolder, command, stderr_of_failure, stdout_of};
use serde_json::{Value, json};
use std::path::Path;

/// Writes a profile that differs from `gen1` in one value, and returns the path of the file.
/// `pointer` is the JSON pointer of that value, such as `/lidar/beams`.
fn profile(folder: &TempFolder, pointer: &str, value: Value) -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vehicles/gen1.json");
    let text = std::fs::read_to_string(shipped).expect("a profile");
    let mut profile: Value = serde_json::from_str(&text).expect("JSON");
    *profile.pointer_mut(pointer).expect("a value of the profile") = value;
    write(folder, "robot.json", &profile.to_string())
}

fn write(folder: &TempFolder, name: &str, text: &str) -> String {
    let file = format!("{}/{name}", folder.path());
    std::fs::write(&file, text).expect("written");
    file
}

fn exit_code(arguments: &[&str]) -> Option<i32> {
    command(arguments, &[]).output().expect("started").status.code()
}

/// Arguments of `chicane judge` with a script that ends at once.
fn judge_arguments(folder: &TempFolder) -> [String; 6] {
    let script = write(folder, "judge.py", "def evaluate(sim):\n    sim.record(1)\n    sim.finish()\n");
    let drive = write(folder, "drive.csv", "0, 0.5, 0\n");
    let words = ["judge", &script, "--world", "oval", "--drive", &drive];
    words.map(str::to_owned)
}

#[test]
fn an_unknown_robot_is_refused_with_the_known_ones() {
    let folder = TempFolder::new("robot-unknown");
    let judge = judge_arguments(&folder);
    let judge: Vec<&str> = judge.iter().map(String::as_str).collect();
    for arguments in [
        &["serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path()][..],
        &["evaluate", "--world", "oval"],
        &["lap", "oval"],
        &judge,
    ] {
        let refused = stderr_of_failure(&[arguments, &["--robot", "gen7"]].concat(), &[]);
        let expected = "chicane: Unknown robot \"gen7\". Give a profile file or one of: gen1";
        assert_eq!(refused, expected, "{arguments:?}");
    }
}

#[test]
fn an_invalid_profile_is_reported_with_its_file() {
    let folder = TempFolder::new("robot-invalid");
    let robot = profile(&folder, "/lidar/beams", json!(0));
    let refused = stderr_of_failure(&["lap", "oval", "--robot", &robot], &[]);
    assert!(refused.contains("robot.json: lidar.beams must be"), "{refused}");
}

#[test]
fn a_robot_with_1080_lidar_beams_is_simulated_by_all_commands() {
    let folder = TempFolder::new("robot-beams");
    let robot = profile(&folder, "/lidar/beams", json!(1080));
    assert!(stdout_of(&["lap", "oval", "--robot", &robot]).contains("0 objects touched"));
    let evaluate = ["evaluate", "--world", "oval", "--time-limit", "1", "--speed", "0", "--robot", &robot];
    assert_eq!(exit_code(&evaluate), Some(2), "the outcome is not a timeout");
    let judge = judge_arguments(&folder);
    let judge: Vec<&str> = judge.iter().map(String::as_str).chain(["--robot", &robot]).collect();
    assert_eq!(exit_code(&judge), Some(0), "the outcome is not finished");

    let data = TempFolder::new("robot-beams-data");
    let program = Program::serve(&["--data-dir", data.path(), "--robot", &robot]);
    let mut client = program.client();
    let vehicle = client.get("/sim/api/vehicle");
    let vehicle: Value = serde_json::from_slice(&vehicle.body).expect("JSON");
    assert_eq!(vehicle["lidar"]["beams"], 1080, "{vehicle}");
    assert_eq!(client.post("/sim/api/clock", "{\"paused\": true}").status, 200);
    let step = client.post("/sim/api/step", "{\"steps\": 20, \"observe\": [\"lidar\"]}");
    assert_eq!(step.status, 200, "{}", step.text());
    let step: Value = serde_json::from_slice(&step.body).expect("JSON");
    let ranges = step["observations"]["lidar"]["ranges"].as_array().expect("ranges");
    assert_eq!(ranges.len(), 1080);
}

#[test]
fn a_lap_depends_on_the_profile() {
    let folder = TempFolder::new("robot-slow");
    let slow = profile(&folder, "/drive/max_speed_mps", json!(0.5));
    let time_s = |robot: &str| -> f64 {
        let text = stdout_of(&["lap", "oval", "--robot", robot]);
        let time = text.split(" m in ").nth(1).and_then(|rest| rest.split(" s,").next());
        time.and_then(|time| time.parse().ok()).unwrap_or_else(|| panic!("no time in {text}"))
    };
    let (usual_s, slow_s) = (time_s("gen1"), time_s(&slow));
    assert!(slow_s > 1.5 * usual_s, "{usual_s} s and {slow_s} s");
}

#[test]
fn an_evaluation_for_another_generation_is_unsupported() {
    let folder = TempFolder::new("robot-generation");
    let robot = profile(&folder, "/generation", json!("other"));
    let judge = judge_arguments(&folder);
    let judge: Vec<&str> = judge.iter().map(String::as_str).collect();
    for arguments in [&["evaluate", "--world", "oval", "--speed", "0"][..], &judge] {
        let arguments = [arguments, &["--robot", &robot]].concat();
        assert_eq!(exit_code(&arguments), Some(5), "{arguments:?}");
    }
}

#[test]
fn an_evaluation_for_another_name_of_the_car_is_judged() {
    let folder = TempFolder::new("robot-alias");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vehicles/gen1.json");
    let mut profile: Value =
        serde_json::from_slice(&std::fs::read(shipped).expect("a profile")).expect("JSON");
    profile["generation"] = json!("other");
    profile["aliases"] = json!(["gen0", "gen1"]);
    let robot = write(&folder, "alias.json", &profile.to_string());
    let judge = judge_arguments(&folder);
    let judge: Vec<&str> = judge.iter().map(String::as_str).chain(["--robot", &robot]).collect();
    assert_eq!(exit_code(&judge), Some(0), "the outcome is not finished");
    profile["aliases"] = json!(["gen0"]);
    let robot = write(&folder, "alias.json", &profile.to_string());
    let judge = judge_arguments(&folder);
    let judge: Vec<&str> = judge.iter().map(String::as_str).chain(["--robot", &robot]).collect();
    assert_eq!(exit_code(&judge), Some(5), "the outcome is not unsupported");
}
