//! Programs of students, both normal and hostile.

use crate::support::judged::{
    judged, processes, run, student_output, unique_number, wait_for_end, wait_for_phase,
};
use crate::support::{TempFolder, plain, refusal, setup, setup_in, until};
use chicane_testkit::sounds::BEEP_OGG;
use serde_json::{Value, json};
use std::sync::Arc;

/// A judging script that finishes when the student's program has ended.
const UNTIL_EXIT: &str = "\
def evaluate(sim):
    if sim.state.run.exit_code is not None:
        sim.record(sim.state.run.exit_code)
        sim.finish()
";

fn program(command: &str) -> Value {
    let simulator = judged(setup(), UNTIL_EXIT);
    let record = run(&mut simulator.api(), json!({"command": command, "time_limit_s": 60}));
    assert_eq!(record["outcome"], "finished", "{record}");
    record
}

#[test]
fn the_output_and_exit_code_of_a_program_are_reported() {
    let simulator = judged(setup(), UNTIL_EXIT);
    let mut events = simulator.events();
    let mut api = simulator.api();
    let record = run(&mut api, json!({"command": "echo out; echo err >&2; echo $CHICANE_URL; exit 3"}));
    assert_eq!(record["record"], 3, "a failing program does not end the session");
    let mut lines = student_output(&record);
    lines.sort();
    let url = format!("http://{}", simulator.address);
    assert_eq!(lines, ["err".to_owned(), url, "out".to_owned()]);
    let first: Value = serde_json::from_str(&events.next_of("run").data).expect("JSON");
    assert_eq!(
        first,
        json!({"phase": "start", "command": "echo out; echo err >&2; echo $CHICANE_URL; exit 3"})
    );
    let mut streamed = Vec::new();
    while streamed.last().is_none_or(|last: &Value| last["phase"] != "exit") {
        streamed.push(serde_json::from_str(&events.next_of("run").data).expect("JSON"));
    }
    assert!(streamed.contains(&json!({"phase": "log", "stream": "stderr", "line": "err"})), "{streamed:?}");
    assert_eq!(streamed.last(), Some(&json!({"phase": "exit", "exit_code": 3})));
    assert_eq!(api.get("/state")["run"], json!({"running": false, "exit_code": 3}));
    assert_eq!(program("kill -9 $$")["record"], -9, "the exit code of a signal is negative");
}

#[test]
fn a_program_drives_the_car_through_the_api() {
    let command = "python3 - <<'END'\n\
        import json, os, urllib.request\n\
        body = json.dumps({'duration': 1, 'speed': 0.5}).encode()\n\
        request = urllib.request.Request(os.environ['CHICANE_URL'] + '/sim/api/step', body, {'Content-Type': 'application/json'})\n\
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
fn a_program_cannot_access_the_simulator_or_its_data() {
    let (data, work) = (Arc::new(TempFolder::new()), TempFolder::new());
    let folder = data.path().display().to_string();
    let pid = std::process::id();
    let simulator = judged(setup_in(&data).workspace(work.path()), UNTIL_EXIT);
    let judge = chicane_session::root::folder().expect("a folder");
    let command = format!(
        "kill -0 {pid} 2>/dev/null && echo KILL; ls /proc/{pid}/fd >/dev/null 2>&1 && echo PROC; \
         ls {folder}/chicane.db 2>/dev/null && echo DATA; ls {judge}/root 2>/dev/null && echo ROOT; \
         umount {folder} 2>/dev/null && echo UMOUNT; unshare -Urm umount {folder} 2>/dev/null && echo UMOUNT2; \
         ps ax | grep -c '[c]hicane' >/dev/null; echo seen $(ls -d /proc/[0-9]* | wc -l); echo done",
        judge = judge.display()
    );
    let record = run(&mut simulator.api(), json!({"command": command}));
    let lines = student_output(&record);
    assert!(lines.contains(&"done".to_owned()), "{lines:?}");
    let found: Vec<&String> =
        lines.iter().filter(|l| l.chars().all(|c| c.is_ascii_uppercase() || c == '2')).collect();
    assert!(found.is_empty(), "{lines:?}");
    let seen = lines.iter().find_map(|l| l.strip_prefix("seen ")?.parse::<u32>().ok()).expect("a number");
    assert!(seen < 12, "the program sees processes other than its own: {lines:?}");
}

#[test]
fn all_processes_of_a_program_end_with_the_session() {
    let mark = unique_number();
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let mut api = simulator.api();
    let command = format!(
        "trap '' TERM HUP INT; (setsid sleep {mark} &) ; nohup sleep {mark} >/dev/null 2>&1 & \
         (setsid bash -c \"trap '' TERM; sleep {mark}; sleep {mark}\" &); sleep {mark}"
    );
    api.post("/evaluation/start", json!({"command": command}));
    until("the background processes", || (processes(&mark).len() >= 4).then_some(()));
    api.post("/evaluation/stop", json!({}));
    assert_eq!(processes(&mark), [""; 0]);
    let record = api.get("/evaluation/record");
    assert_eq!(record["outcome"], "stopped");
    // Background processes of an ended program run until the session ends.
    api.post("/evaluation/start", json!({"command": format!("setsid sleep {mark} & exit 0")}));
    until("the end of the program", || api.get("/state")["run"]["exit_code"].as_i64());
    until("the background process", || (processes(&mark).len() == 1).then_some(()));
    api.post("/evaluation/stop", json!({}));
    assert_eq!(processes(&mark), [""; 0]);
}

#[test]
fn a_flood_of_lines_is_summarized() {
    let record = program("yes | head -c 40000000; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo last");
    let lines = student_output(&record);
    assert!(lines.len() < 10_000, "{} of twenty million lines", lines.len());
    assert!(lines.iter().any(|line| line.contains("more lines")), "{:?}", &lines[lines.len() - 3..]);
    let events = record["events"].as_array().expect("a list of events");
    assert!(events.iter().any(|e| e["truncated"] == true));
}

#[test]
fn a_fork_bomb_affects_only_the_program() {
    let mark = unique_number();
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let mut api = simulator.api();
    let command = format!("for i in $(seq 3000); do sleep {mark} & done 2>/dev/null; wait");
    api.post("/evaluation/start", json!({"command": command}));
    wait_for_phase(&mut api, "running");
    until("many processes", || (processes(&mark).len() > 500).then_some(()));
    api.post("/pose", json!({"x": 1.0, "y": 1.0}));
    assert!(processes(&mark).len() <= 1100);
    api.post("/evaluation/stop", json!({}));
    assert_eq!(processes(&mark), [""; 0]);
}

#[test]
fn an_unknown_command_ends_the_program_with_code_127() {
    let record = program("no-such-command-anywhere");
    assert_eq!(record["record"], 127);
    assert!(student_output(&record)[0].contains("not found"), "{record}");
}

/// A process that the test can stop and continue with signals. It is killed on drop.
struct Stopped(std::process::Child);

impl Stopped {
    fn signal(&self, signal: &str) {
        let pid = self.0.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().expect("kill").success());
    }

    /// Whether the process is stopped. Callers poll this function, because a signal may take effect
    /// after `kill` has returned.
    fn is_stopped(&self) -> bool {
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

/// The kernel keeps a jail until all processes inside are gone. A killed process may stay for a
/// while, for example if it waits for a missing disk. In this test, a process of the jail has a
/// parent outside of the jail. The parent is stopped, so it does not reap the killed process.
#[test]
fn a_start_is_refused_while_the_last_program_cannot_be_ended() {
    let (mark, other) = (unique_number(), unique_number());
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let mut api = simulator.api();
    let command = json!({"command": format!("sleep {mark}")});
    api.post("/evaluation/start", command.clone());
    let inside = until("the program", || pid_of(&format!("sleep {mark}")));
    let mut enter = std::process::Command::new("nsenter");
    enter.args(["-t", &inside.to_string(), "-U", "--preserve-credentials", "-p", "sleep", &other]);
    let outside = Stopped(enter.spawn().expect("nsenter"));
    until("the process that entered the jail", || pid_of(&format!("sleep {other}")));
    outside.signal("-STOP");
    until("the parent is stopped", || outside.is_stopped().then_some(()));
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
    assert_eq!(api.get("/evaluation/session")["active"], false);

    assert_eq!(api.refused("/evaluation/start", command.clone()), (409, "already running".to_owned()));
    // A session without a student's program can start.
    api.post("/evaluation/start", json!({}));
    assert_eq!(api.refused("/evaluation/start", command.clone()), (409, "evaluation in progress".to_owned()));
    api.post("/evaluation/stop", json!({}));
    outside.signal("-CONT");
    until("the program is gone", || {
        let answer = api.try_post("/evaluation/start", &command.to_string());
        (answer.status == 200).then_some(())
    });
    api.post("/evaluation/stop", json!({}));
}

/// Id of the process with exactly this command line, or `None` if there is no such process.
fn pid_of(line: &str) -> Option<u32> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ") == line
    })
}

#[test]
fn a_program_runs_without_a_judge() {
    let worlds = setup().with_world("plain", plain("plain")).world("plain");
    let simulator = judged(worlds, "raise ValueError('this script judges nothing')\n");
    let mut api = simulator.api();
    let none = json!({"running": false, "exit_code": null, "command": null, "session": null});
    assert_eq!(api.get("/evaluation/run"), none, "there was no program yet");
    let command = "echo hello; exit 3";
    let started = api.post("/evaluation/run", json!({"command": command}));
    assert_eq!(
        (&started["ok"], &started["session"]["command"]),
        (&json!(true), &json!(command)),
        "{started}"
    );
    let session = wait_for_end(&mut api);
    let record = api.get("/evaluation/record");
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &Value::Null), "{record}");
    assert_eq!((&record["run"]["exit_code"], student_output(&record)), (&json!(3), vec!["hello".to_owned()]));
    let ended = json!({"running": false, "exit_code": 3, "command": command, "session": session["id"]});
    assert_eq!(api.get("/evaluation/run"), ended);

    api.post("/evaluation/run", json!({"command": "sleep 1000"}));
    until("the program runs", || (api.get("/evaluation/run")["running"] == true).then_some(()));
    assert_eq!(api.post("/evaluation/stop", json!({}))["stopped"], true);
    assert_eq!(api.get("/evaluation/run")["running"], false);
    for body in [json!({}), json!({"command": " "}), json!({"command": 1})] {
        let answer = simulator.client().post("/sim/api/evaluation/run", &body.to_string());
        assert_eq!(refusal(&answer), (400, "invalid command".to_owned()), "{body}");
    }
}

#[test]
fn a_judged_program_plays_files_of_the_workspace_only() {
    let (folder, work) = (TempFolder::new(), TempFolder::new());
    let outside = folder.path().join("beep.ogg");
    std::fs::write(&outside, BEEP_OGG).expect("a file");
    let simulator = judged(setup().workspace(work.path()), UNTIL_EXIT);
    let program = format!(
        "import json, os, urllib.request, urllib.error\n\
         def play(body):\n    \
         url = os.environ['CHICANE_URL'] + '/audio/play'\n    \
         request = urllib.request.Request(url, json.dumps(body).encode(), {{'Content-Type': 'application/json'}})\n    \
         try:\n        urllib.request.urlopen(request)\n        print('played')\n    \
         except urllib.error.HTTPError as error:\n        print(error.code, json.load(error)['detail'])\n\
         play({{'path': '{}'}})\nplay({{'url': 'http://127.0.0.1:{}/sim'}})\n",
        outside.display(),
        simulator.address.port(),
    );
    std::fs::write(work.path().join("play.py"), program).expect("a file");
    let record = run(&mut simulator.api(), json!({"command": "python3 play.py", "time_limit_s": 3000}));
    let lines = student_output(&record);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("422") && lines[0].contains("workspace"), "{lines:?}");
    assert!(lines[1].starts_with("422") && lines[1].contains("public addresses"), "{lines:?}");
}
