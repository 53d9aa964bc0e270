//! `chicane repeat`: runs a student's program several times, and says whether all runs gave the
//! same record and the same events.

use super::evaluate;
use crate::args::RepeatArgs;
use crate::evaluation::{self, Evaluated, EvaluationError, Verdict};
use chicane_host::SentBytes;
use chicane_wire::{Pace, Record};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Keys of a record that are not compared, because their values belong to one run only.
const OF_ONE_RUN: [&str; 3] = ["session", "started_at", "ended_at"];

/// Runs the program, and prints one line for each run and the result of the comparison. Returns the
/// verdict of the first run, or [`Verdict::Failed`] if the runs differ.
pub(crate) fn run(args: &RepeatArgs) -> Result<Verdict, EvaluationError> {
    let job = evaluate::job(&args.evaluate)?;
    let mut runs: Vec<Run> = Vec::new();
    for number in 1..=args.runs {
        let load = if number % 2 == 0 { Load::start() } else { Load::default() };
        let how = if load.0.is_some() { "under load" } else { "quiet" };
        let run = Run::new(evaluation::run_unseen(&job)?)?;
        drop(load);
        println!("run {number:>3}  {how:<10}  {}", run.summary());
        runs.push(run);
    }
    let Some((first, others)) = runs.split_first() else { return Ok(Verdict::Failed) };
    let mut numbered = others.iter().zip(2_usize..);
    let Some((other, number)) = numbered.find(|(other, _)| other.compared != first.compared) else {
        println!("repeats   all {} runs gave the same record and the same events", args.runs);
        return Ok(first.evaluated.verdict);
    };
    println!("differs   not all of the {} runs gave the same record and the same events", args.runs);
    for line in explain(first, number, other) {
        println!("          {line}");
    }
    Ok(Verdict::Failed)
}

/// A run of the program.
struct Run {
    evaluated: Evaluated,
    /// The record with null instead of the values that belong to one run only: the keys
    /// [`OF_ONE_RUN`] and the judge's waiting time.
    compared: Value,
}

impl Run {
    fn new(evaluated: Evaluated) -> Result<Run, EvaluationError> {
        let mut compared = serde_json::to_value(&evaluated.record)?;
        for key in OF_ONE_RUN {
            compared[key] = Value::Null;
        }
        compared["judge"]["wait_s"] = Value::Null;
        Ok(Run { evaluated, compared })
    }

    fn summary(&self) -> String {
        let record = &self.compared;
        let text = format!("{}  record {}", record["outcome"].as_str().unwrap_or("-"), record["record"]);
        format!("{text} after {} s", record["elapsed_s"])
    }

    fn record(&self) -> &Record {
        &self.evaluated.record
    }

    fn sent(&self) -> &[SentBytes] {
        self.evaluated.pace.as_ref().map_or(&[], |pace| &pace.sent)
    }
}

/// Describes the first difference between run 1 and run `number`, and a likely reason.
fn explain(first: &Run, number: usize, other: &Run) -> Vec<String> {
    if let Some(reason) = [first, other].iter().find_map(|run| reason_of_real_time(run.record())) {
        return vec![format!("time followed the wall clock: {reason}")];
    }
    explain_requests(first.sent(), number, other.sent()).unwrap_or_else(|| explain_events(first, other))
}

/// Describes the first difference between the requests of run 1 and of run `number`. `None` if the
/// requests are the same.
fn explain_requests(first: &[SentBytes], number: usize, other: &[SentBytes]) -> Option<Vec<String>> {
    let show = |sent: &SentBytes| format!("  {} at {:.6} s", sent.line, sent.at_ns as f64 / 1e9);
    let mut pairs = first.iter().zip(other).enumerate();
    let Some((index, (a, b))) = pairs.find(|(_, (a, b))| a != b) else {
        let same = first.len().min(other.len());
        let (longer, rest) = if first.len() > same { (1, &first[same..]) } else { (number, &other[same..]) };
        let next = show(rest.first()?);
        return Some(vec![
            format!("the first {same} requests were the same, then run {longer} sent {} more:", rest.len()),
            next,
        ]);
    };
    let mut lines = vec![format!("request {} was first to differ:", index + 1), show(a), show(b)];
    lines.push(match () {
        () if a.line == b.line && a.at_ns == b.at_ns => {
            "likely: its values differ, so the program uses random numbers of the kernel (/dev/urandom), the \
             order of a set of objects, or the files of the machine"
        }
        () if a.line == b.line => "likely: threads of the program race, so one of them sent it earlier",
        () => "likely: threads of the program race, so their requests have no fixed order",
    }
    .to_owned());
    Some(lines)
}

/// Describes the first difference between the events of two runs that sent the same requests.
fn explain_events(first: &Run, other: &Run) -> Vec<String> {
    let events = |run: &Run| run.compared["events"].as_array().cloned().unwrap_or_default();
    let (a, b) = (events(first), events(other));
    match a.iter().zip(&b).find(|(a, b)| a != b) {
        Some((a, b)) => vec![
            "all requests were the same; the first event that differs:".to_owned(),
            format!("  {a}"),
            format!("  {b}"),
            "likely: the program prints what differs, or its threads print in no fixed order".to_owned(),
        ],
        None => vec![format!("one run has {} events, another {}", a.len(), b.len())],
    }
}

fn reason_of_real_time(record: &Record) -> Option<String> {
    let identity = &record.identity;
    (identity.pace == Some(Pace::Real))
        .then(|| identity.pace_reason.clone().unwrap_or_else(|| "--pace real".to_owned()))
}

/// Threads that use all processors until the value is dropped. The default value has no threads.
#[derive(Default)]
struct Load(Option<(Arc<AtomicBool>, Vec<JoinHandle<()>>)>);

impl Load {
    fn start() -> Load {
        let stop = Arc::<AtomicBool>::default();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = |stop: Arc<AtomicBool>| {
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..processors * 2).map(|_| spin(Arc::clone(&stop))).collect();
        Load(Some((stop, threads)))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let Some((stop, threads)) = self.0.take() else { return };
        stop.store(true, Ordering::Relaxed);
        for thread in threads {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(seconds: u64) -> SentBytes {
        let line = format!("GET /lidar?n={seconds} HTTP/1.1");
        SentBytes { at_ns: seconds * 1_000_000_000, connection: 1, line, hash: seconds }
    }

    /// Regression test: the report said that two runs had sent the same requests although one of
    /// them had sent more.
    #[test]
    fn a_run_that_went_on_was_said_to_have_sent_the_same_requests() {
        let (short, long) = ([sent(1), sent(2)], [sent(1), sent(2), sent(3), sent(4), sent(5)]);
        for (first, other, longer) in [(&short[..], &long[..], 7), (&long[..], &short[..], 1)] {
            let lines = explain_requests(first, 7, other).expect("a difference");
            let head = format!("the first 2 requests were the same, then run {longer} sent 3 more:");
            assert_eq!(lines, [head, "  GET /lidar?n=3 HTTP/1.1 at 3.000000 s".to_owned()]);
        }
        assert_eq!(explain_requests(&long, 7, &long), None);
        let lines = explain_requests(&[sent(1), sent(2)], 7, &[sent(1), sent(3)]).expect("a difference");
        assert_eq!(lines[0], "request 2 was first to differ:");
    }
}
