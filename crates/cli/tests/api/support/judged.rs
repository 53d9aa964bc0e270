//! Evaluations in tests: a script of the test's own judges a shipped world.

use super::{Api, Setup, Simulator, until};
use chicane_testkit::http::PATIENCE;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A simulator whose judge is this script.
pub(crate) fn judged(setup: Setup, script: &str) -> Simulator {
    setup.judged_by(script).start()
}

/// The end of a session: nobody runs any more.
pub(crate) fn ended(api: &mut Api) -> Value {
    let deadline = Instant::now() + 2 * PATIENCE;
    loop {
        let now = api.get("/evaluation/session");
        if now["active"] == false {
            return now["session"].clone();
        }
        assert!(Instant::now() < deadline, "the session goes on: {now}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a session and waits for its end; its record.
pub(crate) fn run(api: &mut Api, request: Value) -> Value {
    api.post("/evaluation/start", request);
    ended(api);
    api.get("/evaluation/record")
}

/// Waits until the session is in a phase.
pub(crate) fn phase(api: &mut Api, wanted: &str) {
    until(wanted, || (api.get("/evaluation/session")["session"]["phase"] == wanted).then_some(()));
}

/// Lines of the script's log in a record.
pub(crate) fn log(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a story");
    let lines = events.iter().filter(|e| e["kind"] == "log");
    lines.map(|e| e["line"].as_str().expect("a line").to_owned()).collect()
}

/// Lines of the student's program in a record.
pub(crate) fn said(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a story");
    let lines = events.iter().filter(|e| e["kind"] == "run" && e["phase"] == "log");
    lines.map(|e| e["line"].as_str().expect("a line").to_owned()).collect()
}

/// Processes on this machine whose command line holds a word.
pub(crate) fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(word)).collect()
}

/// A number that no other test has, to know its processes by.
pub(crate) fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("9{:07}{:02}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// No request for a record of one second of nothing.
pub(crate) fn short() -> Value {
    json!({"time_limit_s": 1})
}
