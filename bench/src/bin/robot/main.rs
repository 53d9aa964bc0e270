//! Benchmark of the robot: lidar and odometry alone, the real-time factor of the whole robot, and
//! training steps through a `chicane serve`.
//!
//! Usage: `robot [--json <file>] [--only lidar|whole|training]… [<path of chicane>]`. Times on a
//! busy machine are noisy, so compare only figures of the same run. A missed goal is not a failure.
#![allow(clippy::disallowed_methods)]

mod alone;
mod training;

use chicane_bench::options::Options;
use chicane_bench::report::Report;
use chicane_bench::{BenchError, exit_code};
use std::process::ExitCode;

const PARTS: [&str; 3] = ["lidar", "whole", "training"];

fn main() -> ExitCode {
    exit_code("robot", run())
}

fn run() -> Result<(), BenchError> {
    let options = Options::read(&PARTS)?;
    let mut report = Report::default();
    if options.wants("lidar") {
        alone::sensing(&mut report);
    }
    if options.wants("whole") {
        alone::whole(&mut report);
    }
    if options.wants("training") {
        let program = options.program()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(training::measure(&program, &mut report))?;
    }
    report.print();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    println!("\n{cores} cores, which client and server share in training.");
    Ok(())
}
