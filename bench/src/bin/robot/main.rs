//! The robot: its lidar and odometry alone, the whole of it as a real-time factor, and training steps
//! through a real `chicane serve`.
//!
//! `robot [--json <file>] [--only lidar|whole|training]… [<path of chicane>]`. Timings on a busy machine are noisy: compare
//! figures of one run. A slow machine misses targets but fails nothing.
#![allow(clippy::disallowed_methods)]

mod alone;
mod training;

use chicane_bench::options::Options;
use chicane_bench::report::Report;
use chicane_bench::{Broken, end};
use std::process::ExitCode;

const PARTS: [&str; 3] = ["lidar", "whole", "training"];

fn main() -> ExitCode {
    end("robot", run())
}

fn run() -> Result<(), Broken> {
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
    println!("\n{cores} cores; in training the client shares them with the server.");
    Ok(())
}
