//! ROS 2: what all topics at their rates cost the simulator, and how old messages are when a callback gets them.
//!
//! The reader is Cyclone DDS under Python (`python/ros/bench.py`), in a network namespace of its own, as in the tests.
//! `ros [path of chicane] [path of the Python that has it]`.
#![allow(clippy::disallowed_methods)]

use chicane_bench::report::{Report, Target};
use chicane_bench::{Broken, end};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    end("ros", run())
}

fn run() -> Result<(), Broken> {
    let mut words = std::env::args().skip(1);
    let program = words.next().unwrap_or_else(|| "target/release/chicane".to_owned());
    let python = words.next().unwrap_or_else(|| "target/tools/ros/bin/python".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/ros/bench.py");
    let done = Command::new(&python).arg(script).arg(program).stderr(Stdio::inherit()).output();
    let done = done.map_err(|e| format!("{python} can't be started, make need-ros installs it: {e}"))?;
    if !done.status.success() {
        return Err("the reader failed".into());
    }
    let figures: Value = serde_json::from_slice(&done.stdout)?;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let mut report = Report::default();
    for (key, name) in [
        ("off", "processor time, without --ros"),
        ("alone", "with --ros and nobody who listens"),
        ("sensors", "all topics but pictures"),
        ("jpeg", "and compressed pictures"),
        ("all", "and raw pictures"),
    ] {
        report.add(name, number(&figures[key]), "cores", Target::None);
    }
    report.add("real-time factor meanwhile", number(&figures["all rtf"]), "", Target::AtLeast(0.99));
    for topic in ["/clock", "/imu", "/odom", "/scan", "/camera/image_raw/compressed", "/camera/image_raw"] {
        report.add(format!("{topic}, a second"), number(&figures["rates"][topic]), "", Target::None);
        let ages = &figures["ages"][topic];
        report.add(format!("{topic}, tick to callback, p50"), number(&ages[0]), "ms", Target::None);
        report.add(format!("{topic}, tick to callback, p99"), number(&ages[1]), "ms", Target::None);
    }
    report.print();
    Ok(())
}
