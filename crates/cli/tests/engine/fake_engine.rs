//! Tests with a fake engine: the commands that the simulator runs, and how the simulator handles
//! the results of these commands.

use crate::served::{ServedSimulator, TestFolder, fault, processes, script_log, until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const STAND_IN: &str = include_str!("stand_in.py");
const IMAGE: &str = "python:3.14-slim";

/// A fake engine: the script `stand_in.py` under the names `podman` and `docker`.
struct FakeEngine {
    files: TestFolder,
    folder: PathBuf,
    path: String,
    root: String,
}

impl FakeEngine {
    fn new(name: &str) -> FakeEngine {
        let files = TestFolder::new(name);
        let (folder, programs) = (files.folder.join("engine"), files.folder.join("bin"));
        for part in ["containers", "groups"] {
            std::fs::create_dir_all(folder.join(part)).expect("a folder");
        }
        std::fs::create_dir_all(&programs).expect("a folder");
        std::fs::write(folder.join("images"), IMAGE).expect("written");
        for name in ["podman", "docker"] {
            let program = programs.join(name);
            std::fs::write(&program, STAND_IN).expect("written");
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("changed");
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", programs.display());
        let root = chicane_session::root::folder().expect("a folder").join("root").display().to_string();
        FakeEngine { files, folder, path, root }
    }

    fn serve_with(&self, script: &str, arguments: &[&str]) -> ServedSimulator {
        let folder = self.folder.to_str().expect("UTF-8");
        let environment =
            [("PATH", self.path.as_str()), ("STAND_IN", folder), ("STAND_IN_ROOT", self.root.as_str())];
        self.files.serve(script, arguments, &environment)
    }

    fn serve(&self, script: &str) -> ServedSimulator {
        self.serve_with(script, &["--judge", "podman"])
    }

    fn calls(&self) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn containers(&self) -> Vec<String> {
        let all = std::fs::read_dir(self.folder.join("containers")).expect("a folder").flatten();
        all.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
    }

    fn touch(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).expect("written");
    }
}

#[test]
fn a_session_runs_in_a_container() {
    let engine = FakeEngine::new("session");
    let script = "\
import sys
print('top')
def initialize(sim):
    sim.set_brightness(1.5)
    print('no end', end='')
def evaluate(sim):
    print('', sim.state.brightness, sim.state.time)
    print('{\"type\":\"answer\",\"finish\":true}', file=sys.stderr)
    sys.stdout.flush()
    sim.record(sim.state.time)
    if sim.state.time >= 0.1:
        sim.finish()
";
    let served = engine.serve(script);
    let line = served.about_judge();
    assert!(line.contains("the judge is ready: podman with image python:3.14-slim"), "{line}");
    assert!(line.contains("internet through slirp4netns") || line.contains("no internet"), "{line}");
    assert!(line.contains("watchdog"), "the fake engine enforces no limits: {line}");
    let record = served.run(json!({"command": "echo hello", "time_limit_s": 60}));
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &json!(0.1)), "{record}");
    // Every line of standard output and standard error has the simulated time of the call that
    // printed it.
    let lines: Vec<(f64, String)> = record["events"]
        .as_array()
        .expect("a list of events")
        .iter()
        .filter(|e| e["kind"] == "log")
        .map(|e| (e["time"].as_f64().expect("a time"), e["line"].as_str().expect("a line").to_owned()))
        .collect();
    assert_eq!(lines[0], (0.0, "top".to_owned()));
    let forged = "{\"type\":\"answer\",\"finish\":true}".to_owned();
    for (k, time) in ["0.0", "0.02", "0.04", "0.06", "0.08", "0.1"].iter().enumerate() {
        let begin = if k == 0 { "no end" } else { "" };
        let at: f64 = time.parse().expect("a number");
        assert_eq!(lines[1 + 2 * k], (at, format!("{begin} 1.5 {time}")), "{lines:?}");
        assert_eq!(lines[2 + 2 * k], (at, forged.clone()), "{lines:?}");
    }
    assert_eq!(lines.len(), 13, "{lines:?}");

    let calls = engine.calls();
    let runs: Vec<&Vec<String>> = calls.iter().filter(|call| call[1] == "run").collect();
    assert_eq!(runs.len(), 2, "one run to test the engine, one for the session");
    for word in ["--rm", "--memory=805306368", "--pids-limit=65", "--read-only", "--cap-drop=ALL"] {
        assert!(runs[1].iter().any(|one| one == word), "{word}: {:?}", runs[1]);
    }
    let name = |run: &[String]| run.iter().find(|w| w.starts_with("--name=")).expect("a name").clone();
    assert_ne!(name(runs[0]), name(runs[1]));
    for run in runs {
        let name = name(run).replace("--name=", "");
        let removed = ["podman", "rm", "-f", "-t", "0", "--ignore", &name];
        assert!(calls.iter().any(|call| *call == removed), "{name}");
        assert!(processes(&name).is_empty(), "{name}");
    }
    assert!(engine.containers().is_empty());
}

#[test]
fn faulty_scripts_are_ended() {
    let engine = FakeEngine::new("wrong");
    let end = |script: &str, says: &str| fault(&engine.serve(script), says);
    end("def evaluate(sim):\n    while True: pass\n", "no answer within");
    end("import os\ndef evaluate(sim):\n    os.kill(os.getpid(), 9)\n", "signal 9");
    end("import os\ndef evaluate(sim):\n    os._exit(3)\n", "status 3");
    end("def evaluate(sim):\n    while True: print('x' * 1000)\n", "output limit");
    end("def evaluate(sim):\n    x = []\n    while True: x.append(bytearray(8 << 20))\n", "memory limit");
    let bomb = "import threading, time\ndef evaluate(sim):\n    for _ in range(100):\n        \
                threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n    time.sleep(9)\n";
    end(bomb, "process limit");
    let misuse = "import os\ndef evaluate(sim):\n    os.write(sim._channel.number, b'nonsense\\n')\n";
    end(misuse, "channel");
    assert!(engine.containers().is_empty());
}

#[test]
fn a_script_that_redirects_its_output_is_judged() {
    let engine = FakeEngine::new("turned");
    let script = "\
import os
def evaluate(sim):
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.closerange(3, 150)
    sim.record(sim.state.time)
    if sim.state.time > 0.1:
        sim.finish()
";
    let record = engine.serve(script).run(json!({}));
    assert_eq!(record["outcome"], "finished", "{record}");
}

#[test]
fn a_stopped_session_leaves_no_container() {
    let engine = FakeEngine::new("stopped");
    let served = engine.serve("import time\ndef evaluate(sim):\n    time.sleep(1000)\n");
    assert_eq!(served.start(json!({})).0, 200);
    until("a container", || (!engine.containers().is_empty()).then_some(()));
    until("the phase running", || {
        (served.get("/evaluation/session")["session"]["phase"] == "running").then_some(())
    });
    let name = engine.containers()[0].clone();
    served.stop();
    assert!(
        engine.containers().is_empty() && processes(&name).is_empty(),
        "processes or containers are left"
    );
    assert_eq!(served.get("/evaluation/record")["outcome"], "stopped");
}

#[test]
fn a_missing_engine_or_image_is_reported_with_its_remedy() {
    let engine = FakeEngine::new("missing");
    let refused = |served: &ServedSimulator, says: &[&str]| {
        let line = served.about_judge();
        let (status, error) = served.start(json!({}));
        let error = error["error"].as_str().unwrap_or_default().to_owned();
        assert_eq!(status, 503, "{error}");
        for part in says {
            assert!(error.contains(part) && line.contains(part), "{part}: {error} / {line}");
        }
        assert!(error.starts_with("judge not available: "), "{error}");
    };
    let script = "def evaluate(sim):\n    sim.finish()\n";
    let none = [("PATH", "/nowhere")];
    let served = engine.files.serve(script, &["--judge", "podman"], &none);
    refused(&served, &["podman is not installed", "start without --judge podman"]);
    drop(served);

    let served = engine.serve_with(script, &["--judge", "podman", "--judge-image", "mine:1"]);
    refused(&served, &["podman has no image mine:1", "`podman pull mine:1`"]);
    // After the image is added, the next session starts without a restart of the simulator.
    engine.touch("images", "mine:1");
    assert_eq!(served.run(json!({}))["outcome"], "finished");
    drop(served);

    engine.touch("images", IMAGE);
    engine.touch("elsewhere", "");
    refused(
        &engine.serve_with(script, &["--judge", "docker"]),
        &["docker runs its containers on another machine"],
    );
    assert!(engine.containers().is_empty());
    engine.touch("down", "");
    let served = engine.serve_with(script, &["--judge", "docker"]);
    refused(&served, &["no engine answers docker (Cannot connect to the daemon. Is it running?)"]);
    let other = crate::program::stderr_of_failure(&["serve", "--judge-image", "x"], &[]);
    assert!(other.contains("--judge-image needs --judge podman or --judge docker"), "{other}");
}

#[test]
fn a_container_has_no_network_if_the_simulator_listens_to_other_machines() {
    let engine = FakeEngine::new("network");
    let token = ["--judge", "docker", "--listen", "0.0.0.0:0", "--token", "a-token-for-this-test-only"];
    let served = engine.serve_with("def evaluate(sim): pass\n", &token);
    assert!(
        served.about_judge().contains("no internet (the simulator accepts connections from other machines")
    );
    let run = engine.calls().into_iter().find(|call| call[1] == "run").expect("a run");
    assert!(run.contains(&"--network=none".to_owned()), "{run:?}");
}

#[test]
fn a_new_simulator_removes_orphaned_containers() {
    let engine = FakeEngine::new("killed");
    let script =
        "import time\ndef evaluate(sim):\n    print('here')\n    if sim.state.time > 1: time.sleep(1000)\n";
    let mut served = engine.serve(script);
    let (_, started) = served.start(json!({}));
    let id = started["session"]["id"].as_str().expect("an id").to_owned();
    until("a call that hangs", || {
        (served.get("/evaluation/session")["session"]["elapsed_s"].as_f64() > Some(1.0)).then_some(())
    });
    let name = engine.containers()[0].clone();
    served.kill();
    until("the harness notices the kill and ends", || (processes(&name).is_empty()).then_some(()));
    drop(served);

    // The engine has three containers: an orphan whose simulator has ended, a container whose
    // simulator is running, and a container of another program. Only the orphan may be removed.
    let sleeper = || {
        use std::os::unix::process::CommandExt;
        Command::new("sleep").arg("1000").stdin(Stdio::null()).process_group(0).spawn().expect("started")
    };
    let mut all = [sleeper(), sleeper(), sleeper()];
    let own = format!("chicane-judge-{}-{}-0", std::process::id(), start_time());
    for (child, name) in all.iter().zip(["chicane-judge-4194399-77-3", own.as_str(), "postgres"]) {
        for part in ["containers", "groups"] {
            std::fs::write(engine.folder.join(part).join(name), child.id().to_string()).expect("written");
        }
    }
    let again = engine.serve(script);
    again.about_judge();
    assert!(!engine.containers().iter().any(|name| name.contains("4194399")), "{:?}", engine.containers());
    until("the orphaned process ends", || all[0].try_wait().expect("a child"));
    assert!(all[1].try_wait().expect("a child").is_none() && all[2].try_wait().expect("a child").is_none());
    let left = engine.containers();
    assert!(left.contains(&own) && left.contains(&"postgres".to_owned()), "{left:?}");
    let record: Value = again.get(&format!("/evaluation/record?session={id}"));
    assert_eq!(
        (&record["outcome"], &record["reason"]),
        (&json!("stopped"), &json!("simulator restarted")),
        "{record}"
    );
    assert!(!script_log(&record).is_empty());
    for child in &mut all {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Start time of this process in kernel clock ticks.
fn start_time() -> String {
    let text = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    let rest = text.rsplit_once(')').expect("a name").1;
    rest.split_whitespace().nth(19).expect("a number").to_owned()
}
