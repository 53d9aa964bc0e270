//! What is asked of an engine, and what becomes of its answers.

use crate::bench::{Desk, Served, fault, log, processes, until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const STAND_IN: &str = include_str!("stand_in.py");
const IMAGE: &str = "python:3.14-slim";

/// An engine that is none.
struct Engine {
    desk: Desk,
    folder: PathBuf,
    path: String,
    root: String,
}

impl Engine {
    fn new(name: &str) -> Engine {
        let desk = Desk::new(name);
        let (folder, programs) = (desk.folder.join("engine"), desk.folder.join("bin"));
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
        Engine { desk, folder, path, root }
    }

    fn serve_with(&self, script: &str, arguments: &[&str]) -> Served {
        let folder = self.folder.to_str().expect("UTF-8");
        let environment =
            [("PATH", self.path.as_str()), ("STAND_IN", folder), ("STAND_IN_ROOT", self.root.as_str())];
        self.desk.serve(script, arguments, &environment)
    }

    fn serve(&self, script: &str) -> Served {
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
fn a_session_from_beginning_to_end() {
    let engine = Engine::new("session");
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
    assert!(line.contains("watchdog"), "nobody limits anything here: {line}");
    let record = served.run(json!({"command": "echo hello", "time_limit_s": 60}));
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &json!(0.1)), "{record}");
    // Every line at the time of its call, whichever way it came.
    let lines: Vec<(f64, String)> = record["events"]
        .as_array()
        .expect("a story")
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
    assert_eq!(runs.len(), 2, "one to try it out, one for the session");
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
fn scripts_that_go_wrong() {
    let engine = Engine::new("wrong");
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
fn a_script_that_turns_its_prints_away_is_judged_all_the_same() {
    let engine = Engine::new("turned");
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
fn a_session_is_stopped_and_its_container_is_gone() {
    let engine = Engine::new("stopped");
    let served = engine.serve("import time\ndef evaluate(sim):\n    time.sleep(1000)\n");
    assert_eq!(served.start(json!({})).0, 200);
    until("a container", || (!engine.containers().is_empty()).then_some(()));
    until("the phase", || (served.get("/evaluation/session")["session"]["phase"] == "running").then_some(()));
    let name = engine.containers()[0].clone();
    served.stop();
    assert!(engine.containers().is_empty() && processes(&name).is_empty(), "gone when the answer comes");
    assert_eq!(served.get("/evaluation/record")["outcome"], "stopped");
}

#[test]
fn whatever_is_missing_is_said_with_its_remedy() {
    let engine = Engine::new("missing");
    let refused = |served: &Served, says: &[&str]| {
        let line = served.about_judge();
        let (status, said) = served.start(json!({}));
        let said = said["error"].as_str().unwrap_or_default().to_owned();
        assert_eq!(status, 503, "{said}");
        for part in says {
            assert!(said.contains(part) && line.contains(part), "{part}: {said} / {line}");
        }
        assert!(said.starts_with("judge not available: "), "{said}");
    };
    let script = "def evaluate(sim):\n    sim.finish()\n";
    let none = [("PATH", "/nowhere")];
    let served = engine.desk.serve(script, &["--judge", "podman"], &none);
    refused(&served, &["podman is not installed", "start without --judge podman"]);
    drop(served);

    let served = engine.serve_with(script, &["--judge", "podman", "--judge-image", "mine:1"]);
    refused(&served, &["podman has no image mine:1", "`podman pull mine:1`"]);
    // It came: nobody has to start the simulator anew.
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
    let other = crate::program::fails(&["serve", "--judge-image", "x"], &[]);
    assert!(other.contains("--judge-image is for --judge podman and --judge docker"), "{other}");
}

#[test]
fn no_network_where_the_simulator_could_be_reached() {
    let engine = Engine::new("network");
    let token = ["--judge", "docker", "--listen", "0.0.0.0:0", "--token", "a-token-for-this-test-only"];
    let served = engine.serve_with("def evaluate(sim): pass\n", &token);
    assert!(
        served.about_judge().contains("no internet (the simulator accepts connections from other machines")
    );
    let run = engine.calls().into_iter().find(|call| call[1] == "run").expect("a run");
    assert!(run.contains(&"--network=none".to_owned()), "{run:?}");
}

#[test]
fn a_killed_simulator_leaves_nothing() {
    let engine = Engine::new("killed");
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
    until("its first process saw it", || (processes(&name).is_empty()).then_some(()));
    drop(served);

    // One that did not see it, one whose simulator lives, and one of somebody else.
    let sleeper = || {
        use std::os::unix::process::CommandExt;
        Command::new("sleep").arg("1000").stdin(Stdio::null()).process_group(0).spawn().expect("it starts")
    };
    let mut all = [sleeper(), sleeper(), sleeper()];
    let own = format!("chicane-judge-{}-{}-0", std::process::id(), begun());
    for (child, name) in all.iter().zip(["chicane-judge-4194399-77-3", own.as_str(), "postgres"]) {
        for part in ["containers", "groups"] {
            std::fs::write(engine.folder.join(part).join(name), child.id().to_string()).expect("written");
        }
    }
    let again = engine.serve(script);
    again.about_judge();
    assert!(!engine.containers().iter().any(|name| name.contains("4194399")), "{:?}", engine.containers());
    until("the process", || all[0].try_wait().expect("a child"));
    assert!(all[1].try_wait().expect("a child").is_none() && all[2].try_wait().expect("a child").is_none());
    let left = engine.containers();
    assert!(left.contains(&own) && left.contains(&"postgres".to_owned()), "{left:?}");
    let record: Value = again.get(&format!("/evaluation/record?session={id}"));
    assert_eq!(
        (&record["outcome"], &record["reason"]),
        (&json!("stopped"), &json!("simulator restarted")),
        "{record}"
    );
    assert!(!log(&record).is_empty());
    for child in &mut all {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// When this process began, as the kernel counts.
fn begun() -> String {
    let text = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    let rest = text.rsplit_once(')').expect("a name").1;
    rest.split_whitespace().nth(19).expect("a number").to_owned()
}
