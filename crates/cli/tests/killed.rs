//! Tests that kill a simulator during an evaluation: its child processes end, and the record is
//! stored.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic, dead_code)]

#[path = "durable/program.rs"]
mod program;

use chicane_testkit::http::{Client, Events};
use program::{Program, TempFolder};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

fn get(client: &mut Client, path: &str) -> Value {
    let answer = client.get(&format!("/sim/api{path}"));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

fn until(what: &str, mut asked: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !asked() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Command lines of all processes that contain `word`.
fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(word)).collect()
}

/// Source of a judging script that starts a background process. `phase` is the phase in which the
/// test ends the simulator.
fn script_of(phase: &str, mark: &str) -> String {
    let sleep = format!("subprocess.Popen(['/usr/bin/sleep', '{mark}'], start_new_session=True)");
    let wait = "print('here', flush=True)\n    time.sleep(1000)";
    match phase {
        "initializing" => format!(
            "import subprocess, time\ndef initialize(sim):\n    {sleep}\n    {wait}\ndef evaluate(sim): pass\n"
        ),
        _ => format!(
            "import subprocess, time\ndef initialize(sim):\n    {sleep}\n\
             def evaluate(sim):\n    print('line', sim.state.time)\n    sim.record(sim.state.time)\n"
        ),
    }
}

/// Starts a session and returns its id.
fn start(client: &mut Client, command: &str) -> String {
    let answer = client.post("/sim/api/evaluation/start", &json!({"command": command}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let started: Value = serde_json::from_slice(&answer.body).expect("JSON");
    started["session"]["id"].as_str().expect("an id").to_owned()
}

/// The next phase in the event stream, or `None` at the end of the stream.
fn next_phase(events: &mut Events) -> Option<String> {
    loop {
        let event = events.next()?;
        let data: Value = serde_json::from_str(&event.data).ok()?;
        if event.event == "evaluation" && data["kind"] == "phase" {
            return data["phase"].as_str().map(str::to_owned);
        }
    }
}

/// The phase `starting` is short. So the simulator is killed as soon as this phase is reported. The
/// test repeats until two kills came before the next phase.
#[test]
fn a_kill_while_the_program_is_being_started() {
    let scratch = TempFolder::new("killed-starting");
    let script = Path::new(scratch.path()).join("script.py");
    let text = "import subprocess\ndef initialize(sim):\n    \
                subprocess.Popen(['/usr/bin/sleep', 'MARK'], start_new_session=True)\n    \
                print('before the start')\ndef evaluate(sim): pass\n";
    let mark = format!("8{:07}9", std::process::id());
    std::fs::write(&script, text.replace("MARK", &mark)).expect("written");
    let data = Path::new(scratch.path()).join("data");
    let data = data.to_str().expect("UTF-8");
    let arguments = ["--data-dir", data, "--judge-script", script.to_str().expect("UTF-8")];
    let command = format!("setsid sleep {mark} & sleep {mark}");
    let mut caught = 0;
    for attempt in 0..50 {
        let mut program = Program::serve(&arguments);
        let mut client = program.client();
        let mut events = Events::open(program.address, "/sim/api/events", &[]);
        let id = start(&mut client, &command);
        while next_phase(&mut events).expect("a phase") != "starting" {}
        program.kill();
        // The stream ends after the last event before the kill. If the stream has no further phase,
        // the kill came during `starting`.
        caught += usize::from(next_phase(&mut events).is_none());
        until("all processes end", || processes(&mark).is_empty());
        drop(program);

        let again = Program::serve(&arguments);
        let record = get(&mut again.client(), &format!("/evaluation/record?session={id}"));
        assert_eq!(record["outcome"], "stopped", "attempt {attempt}: {record}");
        assert_eq!(record["reason"], "simulator restarted");
        let events = record["events"].as_array().expect("a list of events");
        assert_eq!(events[0]["kind"], "start");
        assert!(
            events.iter().any(|e| e["line"] == "before the start"),
            "printed lines are missing: {record}"
        );
        assert!(events.iter().any(|e| e["phase"] == "starting"), "the phase is missing: {record}");
        assert_eq!(get(&mut again.client(), "/evaluation/session")["active"], false);
        if caught == 2 {
            return;
        }
    }
    panic!("no kill hit the phase starting");
}

/// The simulator gets SIGTERM while the script is in `initialize`.
#[test]
fn a_signal_while_the_script_initializes_ends_the_session() {
    let mark = format!("8{:07}8", std::process::id());
    let scratch = TempFolder::new("ended-initializing");
    let script = Path::new(scratch.path()).join("script.py");
    std::fs::write(&script, script_of("initializing", &mark)).expect("written");
    let data = Path::new(scratch.path()).join("data");
    let arguments =
        ["--data-dir", data.to_str().expect("UTF-8"), "--judge-script", script.to_str().expect("UTF-8")];
    let mut program = Program::serve(&arguments);
    let mut client = program.client();
    let id = start(&mut client, &format!("sleep {mark}"));
    until("the script is in initialize", || {
        let session = get(&mut client, "/evaluation/session")["session"].clone();
        assert_eq!(session["phase"], "initializing");
        processes(&mark).len() == 1
    });
    program.signal("-TERM");
    assert_eq!(program.wait(Duration::from_secs(20)), Some(0), "the simulator does not end");
    assert!(processes(&mark).is_empty(), "processes of the session are left");
    let again = Program::serve(&arguments);
    let record = get(&mut again.client(), &format!("/evaluation/record?session={id}"));
    assert_eq!((&record["outcome"], &record["reason"]), (&json!("stopped"), &json!("simulator shut down")));
    let events = record["events"].as_array().expect("a list of events");
    assert!(events.iter().all(|e| e["kind"] != "run"), "the program was started: {record}");
    assert_eq!(events.last().map(|e| &e["outcome"]), Some(&json!("stopped")), "{record}");
}

#[test]
fn a_kill_in_every_phase() {
    for (number, wanted) in ["initializing", "running", "judging"].into_iter().enumerate() {
        let mark = format!("8{:07}{number}", std::process::id());
        let scratch = TempFolder::new(&format!("killed-{wanted}"));
        let script = Path::new(scratch.path()).join("script.py");
        let mut text = script_of(wanted, &mark);
        if wanted == "judging" {
            text += "    if sim.state.time > 2: time.sleep(1000)\n";
        }
        std::fs::write(&script, text).expect("written");
        let data = Path::new(scratch.path()).join("data");
        let data = data.to_str().expect("UTF-8");
        let arguments = ["--data-dir", data, "--judge-script", script.to_str().expect("UTF-8")];
        let mut program = Program::serve(&arguments);
        let mut client = program.client();
        let command = format!("setsid sleep {mark} & sleep {mark}");
        let body = json!({"command": command}).to_string();
        let answer = client.post("/sim/api/evaluation/start", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let started: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let id = started["session"]["id"].as_str().expect("an id").to_owned();
        until("the processes of the session", || {
            processes(&mark).len() >= if wanted == "initializing" { 1 } else { 3 }
        });
        if wanted == "judging" {
            until("a call that hangs", || {
                get(&mut client, "/evaluation/session")["session"]["elapsed_s"].as_f64() > Some(2.0)
            });
        } else if wanted == "running" {
            until("some lines", || {
                get(&mut client, "/evaluation/session")["session"]["elapsed_s"].as_f64() > Some(2.5)
            });
        }
        program.kill();
        until("all processes end", || processes(&mark).is_empty());

        let again = Program::serve(&arguments);
        let mut client = again.client();
        let record = get(&mut client, &format!("/evaluation/record?session={id}"));
        assert_eq!(record["outcome"], "stopped", "{wanted}");
        assert_eq!(record["reason"], "simulator restarted", "{wanted}");
        let events = record["events"].as_array().expect("a list of events");
        assert_eq!(events[0]["kind"], "start", "{wanted}");
        assert_eq!(events.last().map(|e| &e["reason"]), Some(&json!("simulator restarted")), "{wanted}");
        if wanted != "initializing" {
            let last =
                events.iter().filter(|e| e["kind"] == "log").filter_map(|e| e["time"].as_f64()).next_back();
            assert!(
                last.is_some_and(|time| time > 0.2),
                "{wanted}: more than the lines of the last seconds are missing: {last:?}"
            );
            assert!(record["record"].as_f64().is_some(), "{wanted}: {}", record["record"]);
        }
        assert_eq!(get(&mut client, "/evaluation/session")["active"], false);
    }
}

/// The descriptors that child processes of the program inherit. Leaves out the standard
/// descriptors, and the descriptors that the program inherited from this test.
fn own_inherited_descriptors(program: &Program) -> Vec<String> {
    let of_this_test = inherited_descriptors(std::process::id());
    inherited_descriptors(program.id()).into_iter().filter(|one| !of_this_test.contains(one)).collect()
}

/// The descriptors that child processes of a process inherit, except the standard descriptors. Each
/// descriptor is described by its target and its flags.
fn inherited_descriptors(pid: u32) -> Vec<String> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let folder = Path::new("/proc").join(pid.to_string());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder.join("fdinfo")).expect("a process").flatten() {
        let name = entry.file_name().into_string().expect("a number");
        // The program may close a descriptor between these calls. Such a descriptor is skipped.
        let Ok(info) = std::fs::read_to_string(entry.path()) else { continue };
        let target = std::fs::read_link(folder.join("fd").join(&name));
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).expect("flags").trim();
        let flags = u32::from_str_radix(flags, 8).expect("a number");
        if !["0", "1", "2"].contains(&name.as_str()) && flags & CLOSE_ON_EXEC == 0 {
            found.push(format!("{name}: {target:?}, flags {flags:o}"));
        }
    }
    found
}

/// A descriptor without the flag close-on-exec stays open in every helper process. After a kill,
/// such a process may keep the listening address in use.
#[test]
fn every_descriptor_of_the_simulator_is_close_on_exec() {
    let scratch = TempFolder::new("descriptors");
    let data = Path::new(scratch.path()).join("data");
    let script = Path::new(scratch.path()).join("script.py");
    std::fs::write(&script, "def evaluate(sim):\n    sim.record(sim.state.time)\n").expect("written");
    // No other test uses this ROS 2 domain.
    let arguments = ["--data-dir", data.to_str().expect("UTF-8"), "--ros", "--ros-domain", "117"];
    let script = ["--judge-script", script.to_str().expect("UTF-8")];
    let mut program = Program::serve(&[&arguments[..], &script].concat());
    assert_eq!(own_inherited_descriptors(&program), [""; 0], "before a session");
    let mut client = program.client();
    let mut events = Events::open(program.address, "/sim/api/events", &[]);
    start(&mut client, "sleep 1000");
    while next_phase(&mut events).expect("a phase") != "running" {
        assert_eq!(own_inherited_descriptors(&program), [""; 0], "while a session starts");
    }
    for path in ["/worlds/oval/print.jpg?dpi=10", "/worlds/field/thumbnail.png", "/evaluation/records"] {
        assert_eq!(client.get(&format!("/sim/api{path}")).status, 200, "{path}");
        assert_eq!(own_inherited_descriptors(&program), [""; 0], "{path}");
    }
    program.signal("-TERM");
    assert_eq!(program.wait(Duration::from_secs(60)), Some(0));
}
