//! Benchmark of ROS 2. It measures the processor time that the topics need, the rates of the
//! topics, and the age of messages when a callback receives them.
//!
//! The subscriber is a Python program with Cyclone DDS (`python/ros/bench.py`). It runs in its own
//! network namespace, as in the tests. Usage: `ros [<path of chicane>] [<path of a Python with
//! Cyclone DDS>]`.
#![allow(clippy::disallowed_methods)]

use chicane_bench::report::{Goal, Report};
use chicane_bench::{BenchError, exit_code};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    exit_code("ros", run())
}

fn run() -> Result<(), BenchError> {
    let mut args = std::env::args().skip(1);
    let program = args.next().unwrap_or_else(|| "target/release/chicane".to_owned());
    let python = args.next().unwrap_or_else(|| "target/tools/ros/bin/python".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/ros/bench.py");
    let done = Command::new(&python).arg(script).arg(program).stderr(Stdio::inherit()).output();
    let done = done.map_err(|e| format!("cannot start {python}: {e}; install it with `make need-ros`"))?;
    if !done.status.success() {
        return Err("python/ros/bench.py failed".into());
    }
    let figures: Value = serde_json::from_slice(&done.stdout)?;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let mut report = Report::default();
    for (key, name) in [
        ("off", "processor time, without --ros"),
        ("alone", "with --ros and no subscriber"),
        ("sensors", "all topics but pictures"),
        ("jpeg", "and compressed pictures"),
        ("all", "and raw pictures"),
    ] {
        report.add(name, number(&figures[key]), "cores", Goal::None);
    }
    report.add("real-time factor meanwhile", number(&figures["all rtf"]), "", Goal::AtLeast(0.99));
    for topic in ["/clock", "/imu", "/odom", "/scan", "/camera/image_raw/compressed", "/camera/image_raw"] {
        report.add(format!("{topic}, a second"), number(&figures["rates"][topic]), "", Goal::None);
        let ages = &figures["ages"][topic];
        report.add(format!("{topic}, tick to callback, p50"), number(&ages[0]), "ms", Goal::None);
        report.add(format!("{topic}, tick to callback, p99"), number(&ages[1]), "ms", Goal::None);
    }
    report.print();
    Ok(())
}
