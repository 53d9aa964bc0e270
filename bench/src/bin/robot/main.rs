//! The robot: its lidar and odometry alone, the whole of it as a real-time factor, and training steps
//! through a real `chicane serve`.
//!
//! `robot [--only lidar|whole|training]… [<path of chicane>]`. Timings on a busy machine are noisy: compare
//! figures of one run. A slow machine misses targets but fails nothing.
#![allow(clippy::disallowed_methods)]

mod alone;
mod training;

use chicane_bench::report::Report;
use chicane_bench::{Broken, find_program};
use std::process::ExitCode;

const PARTS: [&str; 3] = ["lidar", "whole", "training"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("robot: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Broken> {
    let (mut only, mut path) = (Vec::new(), None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => {
                let part = words.next().unwrap_or_default();
                if !PARTS.contains(&part.as_str()) {
                    return Err(format!("--only takes one of {}", PARTS.join(", ")).into());
                }
                only.push(part);
            }
            option if option.starts_with('-') => {
                return Err(format!("there is no option {option}; there is --only").into());
            }
            word => path = Some(word.into()),
        }
    }
    let wanted = |part: &str| only.is_empty() || only.iter().any(|o| o == part);
    let mut report = Report::default();
    if wanted("lidar") {
        alone::sensing(&mut report);
    }
    if wanted("whole") {
        alone::whole(&mut report);
    }
    if wanted("training") {
        let program = find_program(path)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(training::measure(&program, &mut report))?;
    }
    report.print();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\n{cores} cores; in training the client shares them with the server.");
    Ok(())
}
