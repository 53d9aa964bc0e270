//! Helpers for evaluations in which a script of the test judges a built-in world.

use super::{Api, Setup, Simulator, until};
use chicane_testkit::http::RESPONSE_TIMEOUT;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Starts a simulator that uses this judging script.
pub(crate) fn judged(setup: Setup, script: &str) -> Simulator {
    setup.judge_script(script).start()
}

/// Waits until the session has ended, and returns its last state.
pub(crate) fn wait_for_end(api: &mut Api) -> Value {
    let deadline = Instant::now() + 2 * RESPONSE_TIMEOUT;
    loop {
        let now = api.get("/evaluation/session");
        if now["active"] == false {
            return now["session"].clone();
        }
        assert!(Instant::now() < deadline, "the session does not end: {now}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a session to its end and returns its record.
pub(crate) fn run(api: &mut Api, request: Value) -> Value {
    api.post("/evaluation/start", request);
    wait_for_end(api);
    api.get("/evaluation/record")
}

/// Waits until the session is in the phase `wanted`.
pub(crate) fn wait_for_phase(api: &mut Api, wanted: &str) {
    until(wanted, || (api.get("/evaluation/session")["session"]["phase"] == wanted).then_some(()));
}

/// Lines that the judging script printed, taken from a record.
pub(crate) fn script_log(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a list of events");
    let lines = events.iter().filter(|e| e["kind"] == "log");
    lines.map(|e| e["line"].as_str().expect("a line").to_owned()).collect()
}

/// Lines that the student's program printed, taken from a record.
pub(crate) fn student_output(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a list of events");
    let lines = events.iter().filter(|e| e["kind"] == "run" && e["phase"] == "log");
    lines.map(|e| e["line"].as_str().expect("a line").to_owned()).collect()
}

/// Command lines of all processes on this machine that contain `word`.
pub(crate) fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(word)).collect()
}

/// A number that no other test uses. It identifies the processes of one test by their command
/// lines.
pub(crate) fn unique_number() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("9{:07}{:02}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The body of a start request without a command and with a time limit of one second.
pub(crate) fn one_second() -> Value {
    json!({"time_limit_s": 1})
}
