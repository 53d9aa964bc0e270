//! A killed simulator leaves a journal that agrees with the record.

#[path = "../durable/program.rs"]
#[allow(dead_code, reason = "other suites use the rest")]
mod program;

use super::{assert_verified, record_in};
use crate::support::{TempFolder, chicane, records, until};
use program::Program;
use serde_json::Value;

const SCRIPT: &str = "def evaluate(sim):\n    sim.record(round(sim.state.time, 2))\n    print('at', round(sim.state.time, 2), \
                      round(sim.state.pose.x, 4))\n";

#[test]
fn the_journal_of_a_killed_run_verifies() {
    let folder = TempFolder::new("verify-killed");
    let world = folder.project(SCRIPT);
    for moment in [0.0, 0.3, 1.2, 2.7] {
        // At most the last second before the kill is lost. A busy machine may store later in one
        // run, but not in all of them. The kill comes a little after `moment`, so the stored time
        // may also be greater than `moment`.
        let mut stored: Vec<f64> = Vec::new();
        while stored.last().is_none_or(|last| *last < moment - 1.0) {
            assert!(stored.len() < 4, "{stored:?} of {moment}");
            stored.push(stored_after_kill(&folder, &world, moment));
        }
    }
}

/// Kills the simulator when its run has reached a moment, in simulated seconds. Verifies the journal
/// of the run, and returns the time up to which the run was stored.
fn stored_after_kill(folder: &TempFolder, world: &str, moment: f64) -> f64 {
    let data = TempFolder::new("verify-killed-data");
    let data = data.path("data");
    let serve = ["--data-dir", &data, "--world", world];
    let mut served = Program::serve(&serve);
    let mut client = served.client();
    until("the start of a session", || {
        let answer = client.post("/sim/api/evaluation/start", "{\"command\": \"sleep 100\"}");
        (answer.status == 200).then_some(())
    });
    until("the moment", || {
        let session = client.get("/sim/api/evaluation/session").text();
        let session: Value = serde_json::from_str(&session).expect("JSON");
        let session = &session["session"];
        let runs = session["phase"] == "running" && session["elapsed_s"].as_f64() >= Some(moment);
        // The journal must contain the commands of other clients too, so the test sends some.
        client.post("/speed", "{\"value\": 0.4}");
        runs.then_some(())
    });
    served.kill();
    drop(Program::serve(&serve));
    let record = &records(&data)[0];
    assert_eq!(record["reason"], "simulator restarted", "{record}");
    let (session, file) = (record["session"].as_str().expect("an id"), folder.path("run.chicane"));
    let output = chicane(&["records", "export", "--run", session, "-o", &file, "--data-dir", &data]);
    assert!(output.status.success(), "{output:?}");
    assert_verified(&file);
    record_in(&file)["elapsed_s"].as_f64().expect("a time")
}
