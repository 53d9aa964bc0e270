//! The result of an evaluation for the person who started it: one line, and the exit status.

use crate::terminal_text::printable;
use chicane_wire::{Outcome, Record, RunResult, SentCommands};
use serde_json::Value;

/// Largest number of characters that are shown of a record, a reason or a line of output.
const MAX_TEXT: usize = 300;

/// How an evaluation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The script finished and set a record, and the program did not fail.
    Finished,
    /// The script finished, but it set no record or the program failed.
    Failed,
    /// The time limit passed.
    Timeout,
    /// The judging script failed.
    ScriptError,
    /// Something other than a fault stopped the run before its end: for example a signal, the
    /// wall-clock limit, or the end of a recorded drive that is judged again.
    Stopped,
    /// This simulator can't run the evaluation.
    Unsupported,
    /// The simulator failed, or the record has no outcome.
    Fault,
}

impl Verdict {
    /// The verdict about a record. `simulator_failed`: a fault of the simulator ended the session.
    pub(crate) fn of(record: &Record, simulator_failed: bool) -> Verdict {
        match record.outcome {
            _ if simulator_failed => Verdict::Fault,
            None => Verdict::Fault,
            Some(Outcome::Finished) if record.record.is_null() || failure(record).is_some() => {
                Verdict::Failed
            }
            Some(Outcome::Finished) => Verdict::Finished,
            Some(Outcome::Timeout) => Verdict::Timeout,
            Some(Outcome::ScriptError) => Verdict::ScriptError,
            Some(Outcome::Stopped) => Verdict::Stopped,
            Some(Outcome::Unsupported) => Verdict::Unsupported,
        }
    }

    /// The verdict as the beginning of the line about a run.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Verdict::Finished => "finished",
            Verdict::Failed => "failed",
            Verdict::Timeout => "timeout",
            Verdict::ScriptError => "script error",
            Verdict::Stopped => "stopped",
            Verdict::Unsupported => "unsupported",
            Verdict::Fault => "fault",
        }
    }

    /// The line about a run. `judge_line` is the last line that the judging script printed.
    pub(crate) fn line(self, record: &Record, judge_line: Option<&str>) -> String {
        format!("{:<8}  {}", self.label(), self.reason(record, judge_line))
    }

    /// Like [`Verdict::line`], but without the verdict at the beginning of the line.
    pub(crate) fn reason(self, record: &Record, judge_line: Option<&str>) -> String {
        match self {
            Verdict::Finished => format!(
                "record {} ({} is better) after {:.2} s",
                shortened(&record.record.to_string()),
                record.better.name(),
                record.elapsed_s.0
            ),
            Verdict::Failed => failure(record).unwrap_or_else(|| match judge_line {
                Some(line) => format!("there is no record: {}", shortened(line)),
                None => "there is no record: the judging script finished without one".to_owned(),
            }),
            _ => {
                let reason = record.reason.as_deref().unwrap_or("the session has no result");
                let value = (!record.record.is_null()).then(|| record.record.to_string());
                let value = value.map(|value| format!("record {}", shortened(&value)));
                let parts = [Some(shortened(reason)), failure(record), value];
                parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
            }
        }
    }
}

/// Lines about commands that the program or others should not have sent.
pub(crate) fn warnings(record: &Record) -> Vec<String> {
    let line = |label: &str, sent: &SentCommands, who: &str| {
        let first = sent.first.first().map(|first| {
            let path = shortened(&first.path);
            format!(", the first: {path} ({}) at {:.2} s", first.source.name(), first.time.0)
        });
        let noun = if sent.count == 1 { "command" } else { "commands" };
        format!("{label:<8}  {} {noun} {who}{}", sent.count, first.unwrap_or_default())
    };
    let report = &record.report;
    let refused = (report.refused.count > 0)
        .then(|| line("refused", &report.refused, "of the program that a judged run does not allow"));
    let others =
        (report.interference.count > 0).then(|| line("others", &report.interference, "during the run"));
    refused.into_iter().chain(others).collect()
}

/// How the student's program failed, in one line. `None` if it did not fail.
fn failure(record: &Record) -> Option<String> {
    let run = record.report.run.as_ref()?;
    let what = match run {
        RunResult { oom: true, .. } => "the program reached its memory limit".to_owned(),
        RunResult { signal: Some(signal), .. } => {
            format!("the program was ended by signal {signal}{}", signal_name(*signal))
        }
        RunResult { exit_code: Some(code), .. } if *code != 0 => {
            format!("the program exited with status {code}")
        }
        _ => return None,
    };
    let after = exit_time(record).map(|time| format!(" after {time:.2} s")).unwrap_or_default();
    let last = run.output_tail.iter().rev().find(|line| !line.trim().is_empty());
    let last = last.map(|line| format!(": {}", shortened(line.trim()))).unwrap_or_default();
    Some(format!("{what}{after}{last}"))
}

/// The simulated seconds after which the program ended. `None` if the record has no event about the
/// end. Events may be missing, because the size of a record is limited.
fn exit_time(record: &Record) -> Option<f64> {
    let events = record.events.as_ref()?.iter().rev();
    let mut events = events.filter_map(|event| serde_json::from_str::<Value>(event.get()).ok());
    events.find(|event| event["kind"] == "run" && event["phase"] == "exit")?["time"].as_f64()
}

/// The name of a signal that often ends a program, in brackets. Empty for other signals.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGHUP => " (SIGHUP)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGINT => " (SIGINT)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGPIPE => " (SIGPIPE)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGSYS => " (SIGSYS)",
        libc::SIGTERM => " (SIGTERM)",
        libc::SIGXCPU => " (SIGXCPU)",
        libc::SIGXFSZ => " (SIGXFSZ)",
        _ => "",
    }
}

/// A text of a script or a program for a terminal: one line of limited length.
fn shortened(text: &str) -> String {
    let shown = printable(text);
    if shown.chars().count() <= MAX_TEXT {
        return shown.into_owned();
    }
    shown.chars().take(MAX_TEXT - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_wire::{Better, CommandSource, JudgeWork, Num, RecordIdentity, RunReport, SentCommand};
    use serde_json::json;
    use serde_json::value::RawValue;

    fn record(outcome: Outcome, value: Value, run: Option<RunResult>) -> Record {
        let exit = json!({"time": 0.42, "kind": "run", "phase": "exit", "exit_code": 1}).to_string();
        Record {
            session: "a".to_owned(),
            outcome: Some(outcome),
            record: value,
            reason: (outcome == Outcome::Timeout).then(|| "the time limit of 30 s passed".to_owned()),
            better: Better::Lower,
            world: "oval".to_owned(),
            world_id: None,
            rev: None,
            command: None,
            time_limit_s: Num(30.0),
            seed: 0,
            started_at: String::new(),
            ended_at: None,
            elapsed_s: Num(25.0),
            judge: JudgeWork { sha256: String::new(), observations: 0, wait_s: Num(0.0) },
            identity: RecordIdentity::default(),
            report: RunReport { run, ..RunReport::default() },
            events: Some(vec![RawValue::from_string(exit).expect("JSON")]),
        }
    }

    fn exited(code: i32, tail: &[&str]) -> Option<RunResult> {
        let output_tail = tail.iter().map(|line| (*line).to_owned()).collect();
        Some(RunResult { exit_code: Some(code), output_tail, ..RunResult::default() })
    }

    #[test]
    fn each_end_of_a_run_has_one_line() {
        let module = "ModuleNotFoundError: No module named 'numpy'";
        let killed = Some(RunResult { signal: Some(9), ..RunResult::default() });
        let oom = Some(RunResult { oom: true, signal: Some(9), ..RunResult::default() });
        let tail = ["Traceback (most recent call last):", module, " "];
        for (outcome, value, run, expected) in [
            (
                Outcome::Finished,
                json!(23.58),
                exited(0, &[]),
                "finished  record 23.58 (lower is better) after 25.00 s",
            ),
            (Outcome::Finished, json!(23.58), None, "finished  record 23.58 (lower is better) after 25.00 s"),
            (
                Outcome::Finished,
                Value::Null,
                exited(1, &tail),
                "failed    the program exited with status 1 after 0.42 s: \
                 ModuleNotFoundError: No module named 'numpy'",
            ),
            (
                Outcome::Finished,
                json!(3),
                killed,
                "failed    the program was ended by signal 9 (SIGKILL) after 0.42 s",
            ),
            (Outcome::Finished, json!(3), oom, "failed    the program reached its memory limit after 0.42 s"),
            (
                Outcome::Finished,
                Value::Null,
                exited(0, &["hello"]),
                "failed    there is no record: the last line",
            ),
            (Outcome::Timeout, Value::Null, None, "timeout   the time limit of 30 s passed"),
            (Outcome::Timeout, json!(1), exited(0, &[]), "timeout   the time limit of 30 s passed; record 1"),
            (
                Outcome::Timeout,
                json!(1),
                exited(2, &[]),
                "timeout   the time limit of 30 s passed; the program exited with status 2 after 0.42 s; \
                 record 1",
            ),
        ] {
            let record = record(outcome, value, run);
            assert_eq!(Verdict::of(&record, false).line(&record, Some("the last line")), expected);
            assert_eq!(Verdict::of(&record, true), Verdict::Fault);
        }
    }

    #[test]
    fn texts_of_programs_are_shortened_and_made_printable() {
        let record =
            record(Outcome::Finished, Value::Null, exited(1, &["\u{1b}[2J", &"x\u{202e}".repeat(1000)]));
        let line = Verdict::Failed.line(&record, None);
        assert!(line.chars().count() < MAX_TEXT + 100 && line.ends_with('…'), "{line}");
        assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line}");
    }

    #[test]
    fn commands_that_should_not_have_been_sent_are_reported() {
        let mut record = record(Outcome::Finished, json!(1), None);
        assert_eq!(warnings(&record), [""; 0]);
        let sent = |source| {
            let mut all = SentCommands::default();
            let path = "/sim/api/pose".to_owned();
            all.add(|| SentCommand { time: Num(1.5), source, path, values: Value::Null });
            all
        };
        record.report.refused = sent(CommandSource::Student);
        record.report.interference = SentCommands { count: 3, ..sent(CommandSource::Viewer) };
        assert_eq!(
            warnings(&record),
            [
                "refused   1 command of the program that a judged run does not allow, the first: \
                 /sim/api/pose (student) at 1.50 s",
                "others    3 commands during the run, the first: /sim/api/pose (viewer) at 1.50 s",
            ]
        );
    }
}
