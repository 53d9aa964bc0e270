//! Verifies a run: simulates and judges it again, and compares every hash, every event and the
//! record.

use crate::difference::Difference;
use crate::judge_again::{JudgedAgain, JudgedEnd, Judging, WALL_LIMIT_S, judge};
use crate::recorded_run::RecordedRun;
use crate::simulation::JudgeCommands;
use chicane_session::jail::program_files;
use chicane_session::{SessionEnd, Setting, StopCause};
use chicane_store::Sum;
use chicane_wire::{Num, rounded};
use serde::Serialize;
use serde_json::{Value, json};

/// Largest difference between equal times, s. Recorded numbers are rounded to six decimals.
const ROUNDING: f64 = 1e-6;

/// A run that was verified.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// Simulated seconds of the run.
    pub time_s: f64,
    /// Number of ticks that were simulated.
    pub ticks: u64,
    /// Number of observations that the script judged.
    pub observations: u64,
    /// Number of events of the run when it was judged again.
    pub events: usize,
    /// Whether the simulator was killed during the run. Then only the part that was stored is
    /// verified.
    pub is_cut: bool,
}

/// Why a run was not verified: the first difference.
pub type NotVerified = Difference;

/// Simulates and judges a run again, and compares hashes, events and record.
pub fn verify(run: &RecordedRun, setting: &Setting) -> Result<Verified, NotVerified> {
    compare_head(run)?;
    let expected = recorded_events(run);
    let is_cut = run.record["reason"] == StopCause::Restarted.to_string();
    let judging = Judging {
        script: &run.journal.head.script,
        config: None,
        steps: run.steps.clone(),
        judge: JudgeCommands::Expected,
        expected: Some(expected),
        wall_limit_s: WALL_LIMIT_S,
        stop: None,
    };
    let JudgedEnd { host, end } = judge(run, judging, setting)?;
    if let Some(difference) = host.difference.clone() {
        return Err(difference);
    }
    compare_end(run, &host, &end, is_cut)?;
    let ticks = host.rerun().map_or(0, super::Rerun::tick);
    let (events, observations) = (host.events.len(), end.observations);
    Ok(Verified { time_s: end.time_s, ticks, observations, events, is_cut })
}

/// The events of the record. The last event of a killed run is left out, because it was written
/// after the restart.
fn recorded_events(run: &RecordedRun) -> Vec<String> {
    let is_cut = run.record["reason"] == StopCause::Restarted.to_string();
    let count = run.events.len().saturating_sub(usize::from(is_cut));
    run.events[..count].to_vec()
}

/// Compares everything that needs no simulation.
fn compare_head(run: &RecordedRun) -> Result<(), Difference> {
    let (head, record) = (&run.journal.head, &run.record);
    let profile_sum = serde_json::to_vec(&*run.profile).ok().map(|json| Sum::of(&json).hex());
    let (sha256, bytes) = &run.journal_sum;
    if head.world_sha256.as_ref() != Some(&run.world_sum) {
        return Err(Difference::of("the world in the file is not the world of the journal"));
    }
    let compared = [
        ("journal", json!({"sha256": sha256, "bytes": bytes})),
        ("world", json!(head.world)),
        ("world_sha256", json!(run.world_sum)),
        ("profile_sha256", json!(profile_sum)),
        ("seed", json!(head.seed)),
        ("time_limit_s", json!(Num(head.time_limit_s))),
        ("command", json!(head.command)),
        ("variation", json!(run.served.variation())),
        ("chicane", json!({"version": head.version, "commit": head.commit})),
    ];
    compared.into_iter().try_for_each(|(key, found)| compare(key, &record[key], &found))?;
    if !run.program.is_empty() {
        compare("program", &record["program"], &json!(program_files::identity(&run.program)))?;
    }
    run.check_variation()?;
    if run.served.brightness().is_some_and(|brightness| brightness != head.brightness) {
        return Err(Difference::of("the brightness in the journal is not the one of the seed"));
    }
    let script = Sum::of(head.script.as_bytes()).hex();
    compare("judge.sha256", &record["judge"]["sha256"], &json!(script))?;
    if record["pace"] == "virtual" && head.command.is_some() && !head.is_virtual {
        return Err(Difference::of("the record says virtual time, the journal real time"));
    }
    Ok(())
}

/// Compares how the run ended.
fn compare_end(
    run: &RecordedRun,
    host: &JudgedAgain<'_>,
    end: &SessionEnd,
    is_cut: bool,
) -> Result<(), Difference> {
    let record = &run.record;
    let outcome = json!(end.ending.outcome());
    compare("outcome", &record["outcome"], &outcome)?;
    compare("reason", &record["reason"], &json!(end.ending.reason(run.journal.head.time_limit_s)))?;
    let Some(rerun) = host.rerun() else { return Ok(()) };
    if is_cut {
        return compare_progress(record, host);
    }
    let events = run.events.len();
    if host.events.len() != events {
        let what = format!("the record has {events} events instead of {}", host.events.len());
        return Err(Difference::of(what));
    }
    compare("record", &record["record"], &end.record)?;
    compare("elapsed_s", &record["elapsed_s"], &json!(Num(end.time_s)))?;
    compare("judge.observations", &record["judge"]["observations"], &json!(end.observations))?;
    compare("run", &record["run"], &json!(end.run))?;
    compare("interference", &record["interference"], &json!(rerun.interference))?;
    if !rerun.is_all_counted() {
        return Err(Difference::of("the journal has commands of others that the record does not count"));
    }
    Ok(())
}

/// Compares the last stored record of a killed run with the new record at the same time.
fn compare_progress(record: &Value, host: &JudgedAgain<'_>) -> Result<(), Difference> {
    let elapsed_s = record["elapsed_s"].as_f64().unwrap_or(-1.0);
    let is_same = |(time_s, value): &(f64, Value)| {
        (time_s - elapsed_s).abs() < ROUNDING && rounded(value.clone()) == record["record"]
    };
    let at_start = elapsed_s == 0.0 && record["record"].is_null();
    if at_start || host.progress.iter().any(is_same) {
        return Ok(());
    }
    let what = format!("the run had no record {} after {elapsed_s} s", record["record"]);
    Err(Difference::of(what))
}

/// Compares one value with the value of the same key in the record.
fn compare(key: &str, recorded: &Value, found: &impl Serialize) -> Result<(), Difference> {
    // The found value is converted to text and back, because the record was read from text too.
    let found = serde_json::to_string(found).and_then(|text| serde_json::from_str::<Value>(&text));
    let found = found.map_err(|error| Difference::of(error.to_string()))?;
    if *recorded == found {
        return Ok(());
    }
    Err(Difference::of(format!("\"{key}\" in the record is {recorded} instead of {found}")))
}
