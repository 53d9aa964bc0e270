//! Runs of different kinds are verified: both paces, several endings, commands of the judging
//! script, other cars.

use super::{assert_verified, record_in, save};
use crate::support::{TempFolder, chicane, last_line, record_of, records, root};

/// A judging script that records the position x of the car, and finishes after this number of
/// simulated seconds.
fn finishing_after(seconds: f64) -> String {
    format!(
        "def evaluate(sim):\n    sim.record(round(sim.state.pose.x, 6))\n    if sim.state.time >= {seconds}:\n        sim.finish()\n"
    )
}

/// A program that reads the lidar and drives accordingly.
const DRIVER: &str = r#"
import json, os, time, urllib.request

url = os.environ["CHICANE_URL"]

def get(path):
    return json.load(urllib.request.urlopen(url + path))

def post(path, **body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))

for turn in range(12):
    ranges = [r for r in get("/lidar")["ranges"].values() if r is not None]
    post("/speed", value=0.6)
    post("/steering", value=0.1 if min(ranges) < 1 else -0.05)
    print("turn", turn, min(ranges), flush=True)
    time.sleep(0.1)
"#;

/// A program that steps the simulation.
const STEPPER: &str = r#"
import json, os, urllib.request

def step(**body):
    url = os.environ["CHICANE_URL"] + "/sim/api/step"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))

for turn in range(20):
    step(steps=10, speed=0.8, steering=0.02 * (turn % 5 - 2))
"#;

#[test]
fn a_program_in_virtual_time() {
    let folder = TempFolder::new("verify-virtual");
    let (world, workspace) = (folder.project(&finishing_after(1.5)), folder.workspace("run.py", DRIVER));
    let arguments = ["--world", &world, "--workspace", &workspace, "--command", "python3 run.py"];
    let file = save(&folder, "virtual", &arguments);
    let record = record_in(&file);
    assert_eq!((&record["pace"], &record["outcome"]), (&"virtual".into(), &"finished".into()), "{record}");
    assert_eq!(record["run"]["exit_code"], 0, "the program did not drive: {record}");
    assert!(record["journal"]["bytes"].as_u64().is_some_and(|bytes| bytes > 1000), "{}", record["journal"]);
    assert_verified(&file);
    // If the same evaluation runs again, its journal is the same to the byte.
    let again = save(&folder, "again", &arguments);
    assert_eq!(record_in(&again)["journal"], record["journal"]);
}

#[test]
fn a_program_in_real_time_and_a_stepping_one() {
    let folder = TempFolder::new("verify-real");
    let world = folder.project(&finishing_after(1.5));
    let workspace = folder.workspace("run.py", DRIVER);
    folder.workspace("step.py", STEPPER);
    for (name, command, speed) in
        [("real", "python3 run.py", "1"), ("fast", "python3 run.py", "4"), ("step", "python3 step.py", "1")]
    {
        let common = ["--world", &world, "--workspace", &workspace, "--command", command];
        let file = save(&folder, name, &[&common[..], &["--pace", "real", "--speed", speed]].concat());
        let record = record_in(&file);
        assert_eq!((&record["pace"], &record["outcome"]), (&"real".into(), &"finished".into()), "{record}");
        assert_verified(&file);
    }
}

#[test]
fn every_ending() {
    let folder = TempFolder::new("verify-endings");
    let workspace = folder.workspace("exit.sh", "echo out; echo err >&2; exit 3");
    folder.workspace("killed.sh", "kill -9 $$");
    folder.workspace("sleep.sh", "sleep 1000");
    let forever = "def evaluate(sim):\n    print('at', sim.state.time)\n";
    let failing = "def evaluate(sim):\n    if sim.state.time >= 0.5:\n        raise ValueError('no')\n";
    let at_exit = "def evaluate(sim):\n    if not sim.state.run.running:\n        sim.record(1)\n        sim.finish()\n";
    for (name, script, command, more, outcome) in [
        ("timeout", forever, "sh sleep.sh", &["--time-limit", "1"][..], "timeout"),
        ("no-program", forever, "", &["--time-limit", "1"], "timeout"),
        ("script-error", failing, "sh sleep.sh", &[], "script_error"),
        ("crash", at_exit, "sh exit.sh", &[], "finished"),
        ("signal", at_exit, "sh killed.sh", &[], "finished"),
        ("wall-limit", forever, "sh sleep.sh", &["--pace", "real", "--wall-limit", "1"], "stopped"),
        ("no-command", at_exit, "./missing", &[], "finished"),
    ] {
        let world = folder.project(script);
        let with = ["--workspace", &workspace, "--command", command];
        let with = if command.is_empty() { &[][..] } else { &with[..] };
        let file = save(&folder, name, &[&["--world", world.as_str()], with, more].concat());
        let record = record_in(&file);
        assert_eq!(record["outcome"], outcome, "{name}: {record}");
        assert_verified(&file);
    }
}

/// The commands of the script change the world, and the script notices which commands are refused.
#[test]
fn a_script_that_acts() {
    let folder = TempFolder::new("verify-acts");
    let script = r#"
calls = 0

def evaluate(sim):
    global calls
    calls += 1
    if calls == 3:
        sim.teleport(x=0.5, y=0.2, yaw=0.3)
        sim.overlay("go", secs=2)
        sim.set_brightness(0.8)
    if calls == 5:
        for name in sorted(sim.state.objects)[:2] + ["nobody", "vehicle"]:
            try:
                sim.move_object(name, x=1.0, y=-0.5)
                print("moved", name)
            except Exception as error:
                print("refused", error)
    if calls == 8:
        sim.pause()
    if calls == 12:
        sim.pause(False)
    sim.record({"calls": calls, "x": round(sim.state.pose.x, 6)})
    if calls >= 60:
        sim.finish()
"#;
    let world = folder.project(script);
    let drive = folder.file("drive.csv", "0,0.5,0.1\n0.5,0.7,-0.1\n");
    let file = save(&folder, "acts", &["--world", &world, "--drive", &drive]);
    let record = record_in(&file);
    assert_eq!(record["outcome"], "finished", "{record}");
    assert_verified(&file);
}

#[test]
fn other_cars_seeds_and_built_in_worlds() {
    let folder = TempFolder::new("verify-cars");
    let drive = folder.file("drive.csv", "0,1,0\n2,1,0.2\n");
    let profile = root().join("vehicles");
    let profiles = std::fs::read_dir(&profile).expect("profiles").flatten();
    let profiles: Vec<String> = profiles
        .map(|entry| entry.path().to_str().expect("UTF-8").to_owned())
        .filter(|path| path.ends_with(".json"))
        .collect();
    assert!(!profiles.is_empty(), "there are no profiles in {}", profile.display());
    for (number, robot) in profiles.iter().enumerate() {
        let seed = number.to_string();
        let arguments =
            ["--world", "oval", "--robot", robot, "--drive", &drive, "--seed", &seed, "--time-limit", "3"];
        let file = folder.path(&format!("{number}.chicane"));
        let output = chicane(&[&["evaluate", "--json", "--save", &file], &arguments[..]].concat());
        // If the evaluation of `oval` is for another robot than this one, the outcome is `unsupported`.
        // Such a run has no journal, so there is nothing to verify.
        if record_of(&output)["outcome"] == "unsupported" {
            assert!(last_line(&output.stderr).contains("has no journal"), "{output:?}");
            continue;
        }
        assert_verified(&file);
    }
}

#[test]
fn a_stored_run_is_exported_and_verified() {
    let folder = TempFolder::new("verify-export");
    let (world, data) = (folder.project(&finishing_after(0.5)), folder.path("data"));
    let output = chicane(&["evaluate", "--world", &world, "--data-dir", &data]);
    assert!(output.status.success(), "{output:?}");
    let session = records(&data)[0]["session"].as_str().expect("an id").to_owned();
    let file = folder.path("run.chicane");
    let export = |session: &str, file: &str| {
        chicane(&["records", "export", "--run", session, "-o", file, "--data-dir", &data])
    };
    let output = export(&session, &file);
    assert!(output.status.success(), "{output:?}");
    assert_verified(&file);
    let missing = export("nobody", &folder.path("none"));
    assert_eq!(missing.status.code(), Some(64));
    assert_eq!(last_line(&missing.stderr), format!("chicane: there is no session nobody in {data}"));
    let unwritable = export(&session, &folder.path("no/such/folder/run.chicane"));
    assert_eq!(unwritable.status.code(), Some(1));
    // The command verifies all runs of a folder, and refuses a folder without runs.
    std::fs::copy(&file, folder.path("second.chicane")).expect("copied");
    let output = chicane(&["verify", folder.0.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("verified  ").count(), 2);
    let empty = folder.path("empty");
    std::fs::create_dir(&empty).expect("a folder");
    assert_eq!(chicane(&["verify", &empty]).status.code(), Some(64));
    assert_eq!(chicane(&["verify", &folder.path("missing")]).status.code(), Some(64));
}
