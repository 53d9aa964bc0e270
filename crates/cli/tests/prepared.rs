//! The judge that the simulator starts before a session: it is used once, it is replaced if it
//! dies, and it ends with the simulator.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "durable/program.rs"]
#[allow(dead_code, unreachable_pub)]
mod program;

use program::{Program, TempFolder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(120);

/// A judging script that leaves a file and a variable behind, and fails if an earlier session has
/// left them.
const SCRIPT: &str = "\
import os, sys
def evaluate(sim):
    assert not os.path.exists('/tmp/mark') and not hasattr(sys, 'mark')
    open('/tmp/mark', 'w').close()
    sys.mark = True
    sim.record(sim.state.time)
    sim.finish()
";

/// Ids of the processes that run the harness, among the process `root` and its descendants.
fn harnesses(root: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |id: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let parents: BTreeMap<u32, u32> = ids.filter_map(|id| Some((id, parent(id)?))).collect();
    let below = |id: &u32| {
        let mut above = std::iter::successors(Some(*id), |id| parents.get(id).copied());
        above.any(|id| id == root)
    };
    let is_harness = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"/judge/harness.py")
    };
    parents.keys().copied().filter(below).filter(is_harness).collect()
}

fn until<T>(what: &str, mut get: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(value) = get() {
            return value;
        }
        assert!(Instant::now() < deadline, "no {what} within {TIMEOUT:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until exactly one judge is running, which is the prepared judge. Returns its process id.
fn prepared(program: &Program) -> u32 {
    until("prepared judge", || match harnesses(program.id())[..] {
        [one] => Some(one),
        _ => None,
    })
}

/// Runs a session to its end and returns its record.
fn session(program: &Program) -> Value {
    let mut client = program.client();
    let answer = client.post("/sim/api/evaluation/start", &json!({}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut ask = |path: &str| -> Value {
        serde_json::from_slice(&client.get(&format!("/sim/api/evaluation/{path}")).body).expect("JSON")
    };
    until("end of the session", || (ask("session")["active"] == false).then_some(()));
    let record = ask("record");
    assert_eq!(record["outcome"], "finished", "{record}");
    record
}

#[test]
fn a_prepared_judge_is_used_once_and_ends_with_the_simulator() {
    let scratch = TempFolder::new("prepared");
    let script = format!("{}/script.py", scratch.path());
    std::fs::write(&script, SCRIPT).expect("written");
    let data = format!("{}/data", scratch.path());
    let mut program = Program::serve(&["--data-dir", &data, "--judge-script", &script]);
    let first = prepared(&program);
    session(&program);
    let second = prepared(&program);
    assert_ne!(first, second, "the judge was used twice");
    session(&program);

    // A prepared judge that was killed does not disturb the next session.
    let third = prepared(&program);
    let killed = Command::new("kill").args(["-9", &third.to_string()]).status().expect("kill");
    assert!(killed.success());
    until("end of the judge", || (!harnesses(program.id()).contains(&third)).then_some(()));
    session(&program);

    let last = prepared(&program);
    program.signal("-TERM");
    assert_eq!(program.wait(TIMEOUT), Some(0));
    until("end of the last judge", || {
        (!std::path::Path::new(&format!("/proc/{last}")).exists()).then_some(())
    });
}
