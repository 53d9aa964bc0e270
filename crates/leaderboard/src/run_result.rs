//! The stored result of one run.

use chicane_wire::{Outcome, SubmissionVerdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Number of lines that are kept from the end of a program's output.
const MAX_OUTPUT: usize = 40;
/// Number of characters that are kept of a line. An ellipsis replaces the others.
const MAX_LINE: usize = 500;
/// Longest unit of a record, in characters.
const MAX_UNIT: usize = 20;
/// Tolerance in seconds for a record that increases like the clock. From one record event to the
/// next, the increase of the record may differ from the elapsed time by at most this much. If the
/// config names no unit, such a record is taken for a time in seconds.
const CLOCK_TOLERANCE: f64 = 0.06;
/// The record is taken for a time only if at least this many record events follow the first one.
const MIN_CHANGES: usize = 3;

/// The beginning of the last line that the process of a run prints.
pub const LAST_LINE_OF_RUN: &str = "result ";

/// What the process of a run prints after [`LAST_LINE_OF_RUN`], as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReportLine {
    /// How the run ended.
    pub verdict: SubmissionVerdict,
    /// What happened, in one line.
    pub line: String,
    /// Why the run could not be verified; `None` if it was verified.
    pub not_verified: Option<String>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunResult {
    pub(crate) verdict: SubmissionVerdict,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) record: Value,
    pub(crate) unit: Option<String>,
    pub(crate) line: String,
    pub(crate) output: Vec<String>,
    pub(crate) verified: bool,
    pub(crate) ended_at: String,
    pub(crate) session: Option<String>,
}

impl RunResult {
    /// The result of a run with this record. `unit` is the unit from the config of the evaluation.
    pub(crate) fn of(report: RunReportLine, record: &Value, unit: Option<&str>) -> RunResult {
        let text = |key: &str| record[key].as_str().map(str::to_owned);
        let lines = record["run"]["output_tail"].as_array().map(Vec::as_slice).unwrap_or_default();
        let lines = lines.iter().filter_map(Value::as_str).map(shortened);
        let output: Vec<String> = lines.collect();
        let clock = || is_clock(&record["events"]).then(|| "s".to_owned());
        let (verdict, line) = match report.not_verified {
            None => (report.verdict, report.line),
            Some(why) => (SubmissionVerdict::Fault, format!("the run could not be verified: {why}")),
        };
        RunResult {
            verified: verdict != SubmissionVerdict::Fault,
            verdict,
            outcome: serde_json::from_value(record["outcome"].clone()).ok(),
            record: record["record"].clone(),
            unit: unit.map(str::to_owned).or_else(clock),
            line: shortened(&line),
            output: output[output.len().saturating_sub(MAX_OUTPUT)..].to_vec(),
            ended_at: text("ended_at").unwrap_or_default(),
            session: text("session"),
        }
    }

    /// The result of a run without a record.
    pub(crate) fn fault(line: &str, ended_at: String) -> RunResult {
        RunResult {
            verdict: SubmissionVerdict::Fault,
            outcome: None,
            record: Value::Null,
            unit: None,
            line: shortened(line),
            output: Vec::new(),
            verified: false,
            ended_at,
            session: None,
        }
    }

    /// The number that counts in the table; `None` if the run does not count.
    pub(crate) fn counted(&self) -> Option<f64> {
        let counts = self.verified && self.verdict == SubmissionVerdict::Finished;
        self.record.as_f64().filter(|number| counts && number.is_finite())
    }
}

/// The unit that the config of an evaluation names; `None` if the config names none, or if the unit
/// is too long or has control characters.
pub(crate) fn unit_of(config_json: &str) -> Option<String> {
    let config: Value = serde_json::from_str(config_json).ok()?;
    let unit = config["unit"].as_str()?;
    (unit.chars().count() <= MAX_UNIT && !unit.chars().any(char::is_control)).then(|| unit.to_owned())
}

/// Whether the record increased like the clock in at least 70 % of the steps between its events.
fn is_clock(events: &Value) -> bool {
    let events = events.as_array().map(Vec::as_slice).unwrap_or_default();
    let records = events.iter().filter(|event| event["kind"] == "record");
    let values: Vec<(f64, f64)> =
        records.filter_map(|event| Some((event["time"].as_f64()?, event["record"].as_f64()?))).collect();
    let runs = |pair: &&[(f64, f64)]| {
        let (seconds, change) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        seconds > 0.0 && (change - seconds).abs() <= CLOCK_TOLERANCE
    };
    let running = values.windows(2).filter(runs).count();
    values.len() > MIN_CHANGES && running as f64 >= 0.7 * (values.len() - 1) as f64
}

fn shortened(text: &str) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let start: String = characters.by_ref().take(MAX_LINE).collect();
    if characters.next().is_some() { start + "…" } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(verdict: SubmissionVerdict, not_verified: Option<&str>) -> RunReportLine {
        RunReportLine { verdict, line: "it ended".to_owned(), not_verified: not_verified.map(str::to_owned) }
    }

    #[test]
    fn only_a_verified_number_of_a_finished_run_counts() {
        use SubmissionVerdict::{Failed, Finished, Timeout};
        for (verdict, not_verified, value, counted) in [
            (Finished, None, json!(12.5), Some(12.5)),
            (Finished, None, json!({"a": 1}), None),
            (Finished, Some("a hash differs"), json!(12.5), None),
            (Failed, None, json!(12.5), None),
            (Timeout, None, json!(12.5), None),
        ] {
            let record = json!({"outcome": "finished", "record": value, "session": "s", "events": []});
            let result = RunResult::of(report(verdict, not_verified), &record, None);
            assert_eq!(result.counted(), counted, "{result:?}");
        }
    }

    #[test]
    fn a_record_that_runs_as_the_clock_is_in_seconds() {
        let event = |time: f64, value: f64| json!({"kind": "record", "time": time, "record": value});
        let clock: Vec<Value> = (1..20).map(|i| event(f64::from(i), f64::from(i) - 0.7)).collect();
        let points: Vec<Value> = (1..20).map(|i| event(f64::from(i), f64::from(10 * i))).collect();
        let unit = |events: &[Value], named: Option<&str>| {
            let record = json!({"record": 1, "events": events});
            RunResult::of(report(SubmissionVerdict::Finished, None), &record, named).unit
        };
        assert_eq!(unit(&clock, None).as_deref(), Some("s"));
        assert_eq!(unit(&points, None), None);
        assert_eq!(unit(&points, Some("points")).as_deref(), Some("points"));
        assert_eq!(unit_of(r#"{"unit": "m"}"#).as_deref(), Some("m"));
        assert_eq!(unit_of(r#"{"unit": 7}"#), None);
    }

    #[test]
    fn output_is_bounded_and_has_no_control_characters() {
        let lines: Vec<String> = (0..100).map(|i| format!("{i}\u{1b}[31m{}", "x".repeat(2000))).collect();
        let record = json!({"run": {"output_tail": lines}, "events": []});
        let result = RunResult::of(report(SubmissionVerdict::Failed, None), &record, None);
        assert_eq!(result.output.len(), MAX_OUTPUT);
        assert!(result.output.iter().all(|line| line.chars().count() <= MAX_LINE + 1));
        assert!(result.output[0].starts_with("60 [31m"), "{}", result.output[0]);
    }
}
