//! Student programs, well-meaning and not.

use crate::support::judged::{judged, mark, phase, processes, run, said};
use crate::support::{Scratch, setup, setup_in, until};
use serde_json::{Value, json};
use std::sync::Arc;

/// Ends when the program has.
const PATIENT: &str = "\
def evaluate(sim):
    if sim.state.run.exit_code is not None:
        sim.record(sim.state.run.exit_code)
        sim.finish()
";

fn program(command: &str) -> Value {
    let simulator = judged(setup(), PATIENT);
    let record = run(&mut simulator.api(), json!({"command": command, "time_limit_s": 60}));
    assert_eq!(record["outcome"], "finished", "{record}");
    record
}

#[test]
fn a_program_is_run_and_its_words_are_told() {
    let simulator = judged(setup(), PATIENT);
    let mut events = simulator.events();
    let mut api = simulator.api();
    let record = run(&mut api, json!({"command": "echo out; echo err >&2; echo $CHICANE_URL; exit 3"}));
    assert_eq!(record["record"], 3, "a bad end changes nothing but what the script sees");
    let mut lines = said(&record);
    lines.sort();
    assert_eq!(lines, ["err".to_owned(), format!("http://{}", simulator.address), "out".to_owned()]);
    let first: Value = serde_json::from_str(&events.next_of("run").data).expect("JSON");
    assert_eq!(
        first,
        json!({"phase": "start", "command": "echo out; echo err >&2; echo $CHICANE_URL; exit 3"})
    );
    let mut told = Vec::new();
    while told.last().is_none_or(|last: &Value| last["phase"] != "exit") {
        told.push(serde_json::from_str(&events.next_of("run").data).expect("JSON"));
    }
    assert!(told.contains(&json!({"phase": "log", "stream": "stderr", "line": "err"})), "{told:?}");
    assert_eq!(told.last(), Some(&json!({"phase": "exit", "exit_code": 3})));
    assert_eq!(api.get("/state")["run"], json!({"running": false, "exit_code": 3}));
    assert_eq!(program("kill -9 $$")["record"], -9, "a signal is negative");
}

#[test]
fn a_program_drives_the_car_through_the_api() {
    let command = "python3 - <<'END'\n\
        import json, os, urllib.request\n\
        body = json.dumps({'duration': 1, 'speed': 0.5}).encode()\n\
        request = urllib.request.Request(os.environ['CHICANE_URL'] + '/sim/api/step', body, {'Content-Type': 'application/json'})\n\
        request.add_header('Authorization', 'Bearer ' + os.environ['CHICANE_TOKEN'])\n\
        print(round(json.load(urllib.request.urlopen(request))['vehicle']['speed'], 1))\nEND\n\
        ";
    let script = "def evaluate(sim):\n    if sim.state.pose.speed > 0.3:\n        sim.record(True)\n        sim.finish()\n";
    let token = "a-token-for-this-test-only";
    let simulator = judged(setup().token(token), script);
    let mut api =
        crate::support::Api(simulator.client().with_header("authorization", format!("Bearer {token}")));
    let record = run(&mut api, json!({"command": command}));
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &json!(true)), "{record}");
}

#[test]
fn a_program_knows_nobody_and_finds_nothing_of_ours() {
    let (data, work) = (Arc::new(Scratch::new()), Scratch::new());
    let folder = data.path().display().to_string();
    let pid = std::process::id();
    let simulator = judged(setup_in(&data).workspace(work.path()), PATIENT);
    let judge = chicane_session::root::folder().expect("a folder");
    let command = format!(
        "kill -0 {pid} 2>/dev/null && echo KILL; ls /proc/{pid}/fd >/dev/null 2>&1 && echo PROC; \
         ls {folder}/chicane.db 2>/dev/null && echo DATA; ls {judge}/root 2>/dev/null && echo ROOT; \
         umount {folder} 2>/dev/null && echo UMOUNT; unshare -Urm umount {folder} 2>/dev/null && echo UMOUNT2; \
         ps ax | grep -c '[c]hicane' >/dev/null; echo seen $(ls -d /proc/[0-9]* | wc -l); echo done",
        judge = judge.display()
    );
    let record = run(&mut simulator.api(), json!({"command": command}));
    let lines = said(&record);
    assert!(lines.contains(&"done".to_owned()), "{lines:?}");
    let found: Vec<&String> =
        lines.iter().filter(|l| l.chars().all(|c| c.is_ascii_uppercase() || c == '2')).collect();
    assert!(found.is_empty(), "{lines:?}");
    let seen = lines.iter().find_map(|l| l.strip_prefix("seen ")?.parse::<u32>().ok()).expect("a number");
    assert!(seen < 12, "only its own processes: {lines:?}");
}

#[test]
fn nothing_of_a_program_is_left_behind() {
    let mark = mark();
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let mut api = simulator.api();
    let command = format!(
        "trap '' TERM HUP INT; (setsid sleep {mark} &) ; nohup sleep {mark} >/dev/null 2>&1 & \
         (setsid bash -c \"trap '' TERM; sleep {mark}; sleep {mark}\" &); sleep {mark}"
    );
    api.post("/evaluation/start", json!({"command": command}));
    until("the daemons", || (processes(&mark).len() >= 4).then_some(()));
    api.post("/evaluation/stop", json!({}));
    assert_eq!(processes(&mark), [""; 0]);
    let record = api.get("/evaluation/record");
    assert_eq!(record["outcome"], "stopped");
    // One that ended leaves its daemons to the session's end, and not longer.
    api.post("/evaluation/start", json!({"command": format!("setsid sleep {mark} & exit 0")}));
    until("the end of the program", || api.get("/state")["run"]["exit_code"].as_i64());
    assert_eq!(processes(&mark).len(), 1, "it may go on");
    api.post("/evaluation/stop", json!({}));
    assert_eq!(processes(&mark), [""; 0]);
}

#[test]
fn a_flood_of_lines_is_summarised() {
    let record = program("yes | head -c 40000000; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo last");
    let lines = said(&record);
    assert!(lines.len() < 10_000, "{} lines of twenty million", lines.len());
    assert!(lines.iter().any(|line| line.contains("more lines")), "{:?}", &lines[lines.len() - 3..]);
    let events = record["events"].as_array().expect("a story");
    assert!(events.iter().any(|e| e["truncated"] == true));
}

#[test]
fn a_bomb_of_processes_hurts_nobody() {
    let mark = mark();
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let mut api = simulator.api();
    let command = format!("for i in $(seq 3000); do sleep {mark} & done 2>/dev/null; wait");
    api.post("/evaluation/start", json!({"command": command}));
    phase(&mut api, "running");
    until("many", || (processes(&mark).len() > 500).then_some(()));
    api.post("/pose", json!({"x": 1.0, "y": 1.0}));
    assert!(processes(&mark).len() <= 1100);
    api.post("/evaluation/stop", json!({}));
    assert_eq!(processes(&mark), [""; 0]);
}

#[test]
fn a_command_that_does_not_exist_is_the_programs_end() {
    let record = program("no-such-command-anywhere");
    assert_eq!(record["record"], 127);
    assert!(said(&record)[0].contains("not found"), "{record}");
}

/// Ended in any case, whatever becomes of the test.
struct Stopped(std::process::Child);

impl Stopped {
    fn signal(&self, signal: &str) {
        let pid = self.0.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().expect("kill").success());
    }

    /// A signal is sent before it is obeyed.
    fn stands_still(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("a process");
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that the kernel can't clear away yet keeps its jail, as one does that waits for a disk that is gone. Here it is one whose
/// parent lives outside and is stopped, so that nobody reaps it.
#[test]
fn a_program_that_cannot_be_ended_is_still_running() {
    let (mark, other) = (mark(), mark());
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let mut api = simulator.api();
    let command = json!({"command": format!("sleep {mark}")});
    api.post("/evaluation/start", command.clone());
    let inside = until("the program", || pid_of(&format!("sleep {mark}")));
    let mut enter = std::process::Command::new("nsenter");
    enter.args(["-t", &inside.to_string(), "-U", "--preserve-credentials", "-p", "sleep", &other]);
    let outside = Stopped(enter.spawn().expect("nsenter"));
    until("the one that came in", || pid_of(&format!("sleep {other}")));
    outside.signal("-STOP");
    until("it stands still", || outside.stands_still().then_some(()));
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
    assert_eq!(api.get("/evaluation/session")["active"], false);

    assert_eq!(api.refused("/evaluation/start", command.clone()), (409, "already running".to_owned()));
    // Without a program nobody would be there twice.
    api.post("/evaluation/start", json!({}));
    assert_eq!(api.refused("/evaluation/start", command.clone()), (409, "evaluation in progress".to_owned()));
    api.post("/evaluation/stop", json!({}));
    outside.signal("-CONT");
    until("it is gone", || {
        let answer = api.try_post("/evaluation/start", &command.to_string());
        (answer.status == 200).then_some(())
    });
    api.post("/evaluation/stop", json!({}));
}

/// The number of a process with exactly this command line.
fn pid_of(line: &str) -> Option<u32> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ") == line
    })
}
