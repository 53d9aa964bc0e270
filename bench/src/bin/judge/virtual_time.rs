//! Programs in virtual time: how much faster than real time they run, and what takes the time.

use super::{Bench, TempFolder};
use chicane_bench::BenchError;
use chicane_bench::report::{Goal, Report};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A loop as most students write it: a sensor, a command and a pause.
const LOOP: &str = "\
import os, sys, time
import requests

url, path, seconds = os.environ['CHICANE_URL'].rstrip('/'), sys.argv[1], float(sys.argv[2])
session = requests.Session()
begin = time.time()
while time.time() - begin < seconds:
    data = session.get(url + path, timeout=5).content
    session.post(url + '/drive', json={'speed': 0.3, 'steering': (len(data) % 7 - 3) / 10}, timeout=5)
    time.sleep(0.05)
";
/// A program that sleeps for one tick at a time.
const SLEEPER: &str = "\
import sys, time
for _ in range(int(sys.argv[1])):
    time.sleep(0.005)
";
/// A program that reads a clock. Each read takes a microsecond of virtual time.
const READER: &str = "\
import sys, time
for _ in range(int(sys.argv[1])):
    time.monotonic()
";
/// A judging script that ends the session when the program has exited.
const JUDGE: &str = "\
def initialize(sim):
    pass

def evaluate(sim):
    sim.record(sim.state.time)
    if sim.state.run.exit_code is not None:
        sim.finish()
";

/// The figures that `--explain` prints for a run.
struct Explained {
    wall: Duration,
    /// Real seconds of the program, of the wait for simulation and judge, and of the web server.
    shares: [f64; 3],
}

pub(super) fn measure(bench: &Bench, report: &mut Report) -> Result<(), BenchError> {
    let folder = TempFolder::new("virtual")?;
    for (name, text) in [("loop.py", LOOP), ("sleeper.py", SLEEPER), ("reader.py", READER)] {
        std::fs::write(folder.0.join(name), text)?;
    }
    write_project(&folder.0, JUDGE)?;
    let python = python()?;
    let seconds = if bench.quick { 20.0 } else { 120.0 };
    for (what, path, goal) in [("lidar", "/lidar", 20.0), ("camera", "/camera", 10.0)] {
        let run = run(bench, &folder.0, &format!("{} loop.py {path} {seconds}", python.display()))?;
        let factor = seconds / run.wall.as_secs_f64();
        report.add(
            format!("virtual time, {what} and drive each 50 ms, real-time factor"),
            factor,
            "",
            Goal::AtLeast(goal),
        );
        for (share, name) in
            run.shares.iter().zip(["the program", "waiting for the simulation", "the server"])
        {
            let percent = share / run.wall.as_secs_f64() * 100.0;
            report.add(format!("virtual time, {what}: {name}"), percent, "%", Goal::None);
        }
    }
    let count = if bench.quick { 2_000 } else { 10_000 };
    let each = added_time(bench, &folder.0, "sleeper.py", count)?;
    report.add("virtual time, one tick with one sleep", each * 1e6, "µs", Goal::None);
    let each = added_time(bench, &folder.0, "reader.py", count * 200)?;
    report.add("virtual time, one read of a clock in a loop", each * 1e9, "ns", Goal::None);
    Ok(())
}

/// Real seconds by which each iteration of a program's loop makes a run longer.
fn added_time(bench: &Bench, folder: &Path, program: &str, count: u32) -> Result<f64, BenchError> {
    let none = run(bench, folder, &format!("python3 {program} 0"))?;
    let all = run(bench, folder, &format!("python3 {program} {count}"))?;
    Ok((all.wall.as_secs_f64() - none.wall.as_secs_f64()) / f64::from(count))
}

/// Writes the project of the oval with a judging script.
pub(super) fn write_project(folder: &Path, script: &str) -> Result<(), BenchError> {
    let oval = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worlds/oval.json");
    let mut project: Value = serde_json::from_slice(&std::fs::read(oval)?)?;
    let config =
        json!({"description": "Benchmark.", "better": "lower", "time_limit_s": 600, "robot": "gen1"});
    project["evaluation"] = json!({"config": config, "script": "judge.py"});
    std::fs::write(folder.join("project.json"), project.to_string())?;
    Ok(std::fs::write(folder.join("judge.py"), script)?)
}

/// The Python interpreter that has the package `requests`.
fn python() -> Result<PathBuf, BenchError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let path = root.join("target/tools/repeat/bin/python");
    if path.exists() {
        Ok(path)
    } else {
        Err("there is no Python with requests: run `make need-repeat`".into())
    }
}

/// Evaluates a program in virtual time.
fn run(bench: &Bench, folder: &Path, program: &str) -> Result<Explained, BenchError> {
    let mut command = Command::new(&bench.program);
    command.arg("evaluate").arg("--world").arg(folder.join("project.json"));
    command.args(["--pace", "virtual", "--explain", "--time-limit", "600"]);
    command.arg("--workspace").arg(folder).args(["--command", program]);
    let begun = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let wall = begun.elapsed();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{program}: {text}").into());
    }
    let share = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
        let seconds = line.and_then(|line| line.split_whitespace().next()).and_then(|word| word.parse().ok());
        seconds.ok_or_else(|| BenchError::from(format!("--explain printed no line \"{name}\": {text}")))
    };
    let shares = [
        share("the program, until it waits again")?,
        share("waiting for simulation and judge")?,
        share("the web server")?,
    ];
    Ok(Explained { wall, shares })
}
