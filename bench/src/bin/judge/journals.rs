//! Recorded runs: the size of a journal, how fast runs are verified and replayed, and how fast the
//! viewer shows a picture of any moment.

use super::virtual_time::write_project;
use super::{Bench, KillOnDrop, TempFolder};
use chicane_bench::BenchError;
use chicane_bench::report::{Goal, Report, quantile};
use chicane_store::run_file;
use chicane_testkit::http::Client;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Simulated seconds of the measured run.
const DURATION_S: f64 = 180.0;
/// Number of commands per simulated second. A typical program sends as many.
const COMMANDS_PER_S: f64 = 20.0;
/// Number of moments for which a picture is requested.
const SEEKS: u64 = 40;

/// A judging script that never ends the session, so that the run lasts until the time limit. It
/// records the position of the car.
const JUDGE: &str = "\
def initialize(sim):
    pass

def evaluate(sim):
    sim.record(round(sim.state.pose.x, 3))
";

pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<(), BenchError> {
    let folder = TempFolder::new("journals")?;
    let seconds = if bench.quick { 20.0 } else { DURATION_S };
    let run = drive(bench, &folder.0, seconds)?;
    let parts = run_file::unpack(&std::fs::read(&run)?)?;
    let journal = parts.get("journal").ok_or("the run has no journal")?;
    let per_minute = 60.0 / seconds / 1024.0;
    report.add("journal of a minute", journal.len() as f64 * per_minute, "KiB", Goal::None);
    let stored = run_file::deflate(journal).len();
    report.add("journal of a minute, compressed", stored as f64 * per_minute, "KiB", Goal::None);
    let verified = timed(bench, &[Path::new("verify"), &run])?;
    let factor = seconds / verified.as_secs_f64();
    report.add("verification without camera, real-time factor", factor, "", Goal::None);
    let mcap = folder.0.join("run.mcap");
    let replayed = timed(bench, &[Path::new("replay"), &run, Path::new("--mcap"), &mcap])?;
    let factor = seconds / replayed.as_secs_f64();
    report.add("replay with every camera image, real-time factor", factor, "", Goal::None);
    seek(bench, &run, seconds, report)
}

/// Drives a run of the given duration and saves it. Returns the path of the run file.
fn drive(bench: &Bench, folder: &Path, seconds: f64) -> Result<PathBuf, BenchError> {
    let commands = (0..(seconds * COMMANDS_PER_S) as u32).map(|k| {
        let (time, turn) = (f64::from(k) / COMMANDS_PER_S, f64::from(k % 40) / 40.0);
        format!("{time:.3},{:.3},{:.3}\n", 0.3 + 0.4 * turn, 0.3 - 0.1 * turn)
    });
    std::fs::write(folder.join("drive.csv"), commands.collect::<String>())?;
    write_project(folder, JUDGE)?;
    let run = folder.join("run.chicane");
    let mut command = Command::new(&bench.program);
    command.args(["evaluate", "--world", "project.json", "--drive", "drive.csv"]);
    command.args(["--time-limit", &seconds.to_string(), "--save"]).arg(&run).current_dir(folder);
    let output = command.stdin(Stdio::null()).output()?;
    if run.exists() { Ok(run) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned().into()) }
}

/// Runs a command of the program, which must exit with status 0. Returns the real time of the run.
fn timed(bench: &Bench, arguments: &[&Path]) -> Result<Duration, BenchError> {
    let begun = Instant::now();
    let output = Command::new(&bench.program).args(arguments).stdin(Stdio::null()).output()?;
    let elapsed = begun.elapsed();
    if output.status.success() {
        return Ok(elapsed);
    }
    Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// Measures how long the viewer waits for the picture of any moment.
fn seek(bench: &Bench, run: &Path, seconds: f64, report: &mut Report) -> Result<(), BenchError> {
    let mut command = Command::new(&bench.program);
    command.arg("replay").arg(run).args(["--listen", "127.0.0.1:0"]);
    let mut child = KillOnDrop(command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn()?);
    let output = child.0.stdout.take().ok_or("the viewer has no stdout")?;
    let line = BufReader::new(output).lines().next().ok_or("the viewer exited before it was ready")??;
    let address = line.strip_prefix("the run is ready: http://").and_then(|l| l.split('/').next());
    let mut client = Client::new(address.ok_or("the viewer's first line is not its ready line")?.parse()?);
    let mut look = |time_s: f64| {
        let begun = Instant::now();
        let answer = client.get(&format!("/sim/api/evaluation/replay/camera?time={time_s:.3}"));
        let elapsed = begun.elapsed();
        if answer.status == 200 { Ok(elapsed) } else { Err(BenchError::from(answer.text())) }
    };
    let first = look(seconds / 2.0)?;
    report.add("first look at a run", first.as_secs_f64() * 1e3, "ms", Goal::None);
    let mut times = Vec::new();
    for k in 1..=SEEKS {
        // Steps of the golden ratio spread the moments evenly, in an order that jumps back and
        // forth.
        times.push(look((k as f64 * 0.618_034).fract() * seconds)?);
    }
    report.add("seek to any moment with a picture, median", quantile(&mut times, 0.5), "ms", Goal::None);
    report.add(
        "seek to any moment with a picture, longest",
        quantile(&mut times, 1.0),
        "ms",
        Goal::AtMost(300.0),
    );
    Ok(())
}
