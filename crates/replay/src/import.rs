//! Stores a run file in a data folder, as if the run had been driven there.

use crate::recorded_run::{JOURNAL, RecordedRun, RunError};
use chicane_host::evaluation::run_bundle;
use chicane_store::{NewSession, Records, SessionResult, StoredRun, run_file};
use chicane_wire::{Better, Outcome, RecordIdentity, Role, RunReport};
use serde::Deserialize;
use serde_json::Value;

/// The parts of a record that the database stores in separate columns.
#[derive(Deserialize)]
struct StoredRecord {
    session: String,
    outcome: Option<Outcome>,
    #[serde(default)]
    record: Value,
    reason: Option<String>,
    better: Better,
    world: String,
    world_id: Option<String>,
    rev: Option<String>,
    command: Option<String>,
    time_limit_s: f64,
    seed: u64,
    started_at: String,
    ended_at: Option<String>,
    elapsed_s: f64,
    judge: StoredJudge,
    #[serde(flatten)]
    identity: RecordIdentity,
    #[serde(flatten)]
    report: RunReport,
}

#[derive(Deserialize)]
struct StoredJudge {
    sha256: String,
    observations: u64,
    wait_s: f64,
}

/// Stores a run file in a data folder, as if a client with this role had started the run. Returns
/// the run. The session must not be stored there yet.
pub fn import(bytes: &[u8], records: &Records, role: Role) -> Result<RecordedRun, RunError> {
    let mut parts = run_file::unpack(bytes)?;
    let run = RecordedRun::of_parts(&parts, &[])?;
    let journal = parts.remove(JOURNAL).map(|journal| run_file::deflate(&journal));
    parts.retain(|name, _| run_bundle::is_world(name));
    let bundle = Some((run.world_sum.clone(), run_file::pack(&parts)));
    let StoredRecord { session, outcome, record, reason, better, world, world_id, rev, command, .. } =
        read(&run)?;
    let StoredRecord { time_limit_s, seed, started_at, ended_at, elapsed_s, judge, identity, report, .. } =
        read(&run)?;
    let start = NewSession {
        id: session,
        world,
        world_id,
        rev,
        command,
        time_limit_s,
        seed,
        better,
        sha256: judge.sha256,
        started_at,
        identity,
        role,
    };
    let result = SessionResult {
        ended_at: ended_at.unwrap_or_default(),
        outcome: outcome.unwrap_or(Outcome::Stopped),
        reason,
        record: record.to_string(),
        elapsed_s,
        observations: judge.observations,
        wait_s: judge.wait_s,
        report,
    };
    records.import(&start, &run.events, &result, &StoredRun { journal, bundle })?;
    Ok(run)
}

fn read(run: &RecordedRun) -> Result<StoredRecord, RunError> {
    serde_json::from_value(run.record.clone()).map_err(RunError::Record)
}
