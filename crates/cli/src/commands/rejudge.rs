//! `chicane rejudge`: judges the drive of a recorded run with another script.

use crate::args::RejudgeArgs;
use crate::evaluation::Verdict;
use crate::file_error::FileError;
use crate::judge_setting::{self, FindSettingError};
use crate::run_file;
use crate::terminal_text::printable;
use chicane_replay::{Difference, RecordedRun, Rejudging, RunError};
use chicane_wire::Outcome;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Why a run was not judged again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RejudgeError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {source}", file.display())]
    Run { file: PathBuf, source: RunError },
    #[error(transparent)]
    Setting(#[from] FindSettingError),
    /// The run can't be simulated again.
    #[error("the run can't be simulated again by this version: {0}")]
    Differs(#[from] Difference),
}

impl RejudgeError {
    /// Whether the command line names a file that can't be used.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, RejudgeError::File(_) | RejudgeError::Run { .. })
    }
}

/// Judges a run again, prints the result, and returns its verdict.
pub(crate) fn run(args: &RejudgeArgs) -> Result<Verdict, RejudgeError> {
    let script = std::fs::read_to_string(&args.script).map_err(FileError::read(&args.script))?;
    let bytes = run_file::read(&args.file)?;
    let recorded =
        RecordedRun::read(&bytes).map_err(|source| RejudgeError::Run { file: args.file.clone(), source })?;
    let setting = judge_setting::find(&args.judge)?;
    let judged = Rejudging::new(script).judge(&recorded, &setting)?;
    let old = &recorded.record;
    if args.json {
        let events: Vec<Value> =
            judged.events.iter().filter_map(|event| serde_json::from_str(event).ok()).collect();
        println!(
            "{}",
            json!({
                "session": recorded.session(), "student": old["student"], "outcome": judged.outcome,
                "record": judged.record, "reason": judged.reason, "elapsed_s": judged.elapsed_s,
                "events": events, "before": {"outcome": old["outcome"], "record": old["record"]},
            })
        );
    } else {
        for event in &judged.events {
            let event: Value = serde_json::from_str(event).unwrap_or_default();
            if let (Some("log"), Some(line)) = (event["kind"].as_str(), event["line"].as_str()) {
                println!("judge     {}", printable(line));
            }
        }
        let reason = judged.reason.as_ref().map(|reason| format!(": {}", printable(reason)));
        println!(
            "{:<9} record {} (before: {} {}){}",
            judged.outcome.name(),
            judged.record,
            old["outcome"].as_str().unwrap_or("-"),
            old["record"],
            reason.unwrap_or_default()
        );
    }
    Ok(match judged.outcome {
        Outcome::Finished if judged.record.is_null() => Verdict::Failed,
        Outcome::Finished => Verdict::Finished,
        Outcome::Timeout => Verdict::Timeout,
        Outcome::ScriptError => Verdict::ScriptError,
        Outcome::Stopped => Verdict::Stopped,
        Outcome::Unsupported => Verdict::Unsupported,
    })
}
