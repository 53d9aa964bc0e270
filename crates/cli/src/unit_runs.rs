//! Runs the units of a plan, on this machine or on a cluster, and shows the progress.

use crate::cluster::{self, ClusterError, ClusterEvent};
use crate::progress::Progress;
use crate::runtime::{self, RuntimeError};
use crate::stop_signal::{SignalError, StopSignal};
use crate::terminal_text::printable;
use chicane_grade::folder::{FolderError, ResultsFolder};
use chicane_grade::plan::{Plan, Unit};
use chicane_grade::runner::{self, Event};
use chicane_grade::unit_result::UnitResult;
use chicane_wire::StartRequest;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Real time that a unit may take besides its wall-clock limit, to start and to end.
const UNIT_MARGIN: Duration = Duration::from_secs(120);

/// Why units were not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnitRunsError {
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Signals(#[from] SignalError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("stopped: {done} of {all} runs are done. The same command continues")]
    Interrupted { done: usize, all: usize },
}

/// Where the units run.
pub(crate) enum Place<'a> {
    /// On this machine, `jobs` units at the same time.
    Machine { jobs: usize },
    /// On the Ray cluster at this address.
    Cluster(&'a str),
}

/// Runs all units that have no result yet. Stores why units failed.
pub(crate) fn run(plan: &Plan, folder: &ResultsFolder, place: &Place<'_>) -> Result<(), UnitRunsError> {
    let missing = |unit: &&Unit| UnitResult::load(&folder.unit(&unit.hash), unit).is_none();
    let units: Vec<&Unit> = plan.units.iter().filter(missing).collect();
    let all = plan.units.len();
    let kept = all - units.len();
    if kept > 0 {
        println!("kept      {kept} runs of {all}");
    }
    if units.is_empty() {
        return Ok(folder.write_failures(&BTreeMap::new())?);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let _signals = watch_signals(&stop)?;
    let mut shown = Shown::new(kept, all, units.len());
    match place {
        Place::Machine { jobs } => {
            let path = folder.plan();
            let options = runner::Options {
                jobs: *jobs,
                command: &|unit, to| unit_command(&path, unit, to),
                folder: &|unit| folder.unit(&unit.hash),
                limit: unit_limit(plan),
                stop: &stop,
            };
            runner::run(&units, &options, |event| match event {
                Event::Done { .. } => shown.done(),
                Event::Retried { unit, why } => shown.say(&format!("again     {}: {why}", units[unit].id)),
                Event::Failed { unit, why } => shown.failed(units[unit], why),
            });
        }
        Place::Cluster(address) => {
            let find = |hash: &str| units.iter().find(|unit| unit.hash == hash);
            cluster::run(folder.path(), address, unit_limit(plan), &stop, |event| match event {
                ClusterEvent::Done { .. } => shown.done(),
                ClusterEvent::Failed { unit, why } => {
                    if let Some(unit) = find(&unit) {
                        shown.failed(unit, why);
                    }
                }
            })?;
        }
    }
    folder.write_failures(&shown.failures)?;
    if stop.load(Ordering::Relaxed) {
        return Err(UnitRunsError::Interrupted { done: kept + shown.done, all });
    }
    Ok(())
}

/// The progress of the units on standard error.
struct Shown {
    progress: Progress,
    /// Number of units that had a result before.
    kept: usize,
    all: usize,
    /// Number of units that have to be run.
    planned: usize,
    done: usize,
    /// Why units failed, by the hash of the unit.
    failures: BTreeMap<String, String>,
    started: Instant,
}

impl Shown {
    fn new(kept: usize, all: usize, planned: usize) -> Shown {
        let progress = Progress::new(format!("{kept} of {all} runs"));
        Shown { progress, kept, all, planned, done: 0, failures: BTreeMap::new(), started: Instant::now() }
    }

    fn done(&mut self) {
        self.done += 1;
        self.update();
    }

    fn failed(&mut self, unit: &Unit, why: String) {
        self.say(&format!("failed    {}: {why}", unit.id));
        self.failures.insert(unit.hash.clone(), why);
        self.update();
    }

    fn say(&mut self, line: &str) {
        self.progress.clear();
        eprintln!("{}", printable(line));
    }

    fn update(&mut self) {
        let ended = self.done + self.failures.len();
        let elapsed = self.started.elapsed();
        self.progress.set_text(progress_text(self.kept + self.done, self.all, ended, self.planned, elapsed));
        self.progress.set_ended(self.kept + ended, self.all);
    }
}

/// Sets `stop` to true on Ctrl-C or SIGTERM. The returned runtime watches the signals until it is
/// dropped.
fn watch_signals(stop: &Arc<AtomicBool>) -> Result<tokio::runtime::Runtime, UnitRunsError> {
    let runtime = runtime::start_with_workers(1)?;
    let mut signal = runtime.block_on(async { StopSignal::new(false) })?;
    let stop = Arc::clone(stop);
    runtime.spawn(async move {
        signal.wait().await;
        stop.store(true, Ordering::Relaxed);
    });
    Ok(runtime)
}

/// The command with which this program evaluates one unit. `/proc/self/exe` leads to the running
/// program even if the file of the program was replaced.
fn unit_command(plan: &Path, unit: &Unit, to: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("chicane").arg("grade-unit").arg(plan).arg(&unit.hash).arg("-o").arg(to).arg("--lifeline");
    command
}

/// Longest real time of the process of a unit.
fn unit_limit(plan: &Plan) -> Duration {
    let request = StartRequest { wall_limit_s: plan.conditions.wall_limit_s, ..StartRequest::default() };
    let longest = plan.worlds.iter().map(|world| request.wall_limit(world.time_limit_s)).fold(0.0, f64::max);
    Duration::from_secs_f64(longest) + UNIT_MARGIN
}

/// How many runs are done, how many runs are done in a minute, and how much time is left.
fn progress_text(done: usize, all: usize, ended: usize, planned: usize, elapsed: Duration) -> String {
    let minutes = elapsed.as_secs_f64() / 60.0;
    let rate = ended as f64 / minutes.max(1e-6);
    if ended == 0 {
        return format!("{done} of {all} runs");
    }
    let left = (planned - ended) as f64 / rate;
    let left = if left > 1.5 { format!("{left:.0} min left") } else { format!("{:.0} s left", left * 60.0) };
    format!("{done} of {all} runs, {rate:.0} a minute, {left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_has_a_rate_and_the_time_left() {
        let text = |ended, seconds| progress_text(10 + ended, 100, ended, 90, Duration::from_secs(seconds));
        assert_eq!(text(0, 1), "10 of 100 runs");
        assert_eq!(text(30, 30), "40 of 100 runs, 60 a minute, 60 s left");
        assert_eq!(text(30, 120), "40 of 100 runs, 15 a minute, 4 min left");
    }
}
