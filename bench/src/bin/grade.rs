//! Benchmark of `chicane grade`: how many runs of a class are judged in a minute, how long it takes
//! to grade an unchanged class again, and how long it takes to write the report of a class.
//!
//! Usage: `grade [--json <file>] [--quick] [<path of chicane>]`, in the folder of the repository.
#![allow(clippy::disallowed_methods)]

use chicane_bench::options::Options;
use chicane_bench::report::{Goal, Report};
use chicane_bench::{BenchError, exit_code};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// A lap of this world takes about 40 simulated seconds.
const WORLD: &str = "technical";
const PROGRAM: &str = "examples/lap_by_route.py";

fn main() -> ExitCode {
    exit_code("grade", run())
}

fn run() -> Result<(), BenchError> {
    let options = Options::read(&[])?;
    let program = std::path::absolute(options.program()?)?;
    let scratch = Scratch::new()?;
    let (students, seeds) = if options.quick { (2, 2) } else { (15, 4) };
    let source = std::fs::read_to_string(PROGRAM)?;
    for i in 0..students {
        let folder = scratch.0.join(format!("class/student_{i}"));
        std::fs::create_dir_all(&folder)?;
        // The programs of all students differ, so that no result can be shared between students.
        std::fs::write(folder.join("main.py"), format!("{source}\n# student {i}\n"))?;
    }
    let mut report = Report::default();
    let units = f64::from(students * seeds);
    let seeds = format!("1-{seeds}");
    let all = grade(&program, &scratch.0, &seeds)?;
    let rate = units * 60.0 / all.as_secs_f64();
    report.add("graded runs a minute, laps of 40 simulated seconds", rate, "", Goal::AtLeast(60.0));
    let again = grade(&program, &scratch.0, &seeds)?;
    report.add("the same class again, nothing changed", again.as_secs_f64() * 1e3, "ms", Goal::None);
    let begun = Instant::now();
    succeed(Command::new(&program).arg("report").arg(scratch.0.join("results")))?;
    report.add("report of this class", begun.elapsed().as_secs_f64() * 1e3, "ms", Goal::None);
    report.print();
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}

/// Grades the class and returns the real time that this took. Fails if `chicane grade` fails, which
/// includes that a run was not judged.
fn grade(program: &Path, scratch: &Path, seeds: &str) -> Result<Duration, BenchError> {
    let mut command = Command::new(program);
    command.arg("grade").arg(scratch.join("class")).args(["--world", WORLD, "--seeds", seeds, "-o"]);
    let begun = Instant::now();
    succeed(command.arg(scratch.join("results")))?;
    Ok(begun.elapsed())
}

fn succeed(command: &mut Command) -> Result<(), BenchError> {
    let status = command.stdout(Stdio::null()).stderr(Stdio::inherit()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}

/// A temporary folder that is removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        let path = std::env::temp_dir().join(format!("chicane-bench-grade-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
