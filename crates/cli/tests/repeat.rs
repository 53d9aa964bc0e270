//! Virtual time: the same program gets the same record, at any load and speed of the machine.
//!
//! `CHICANE_REPEAT=20` sets the number of runs of each program. `make repeat` prints a table of the
//! results. Two programs need Python packages, which `make need-repeat` installs in
//! `target/tools/repeat`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "repeat/clocks.rs"]
mod clocks;
#[path = "repeat/hostile.rs"]
mod hostile;
#[path = "repeat/load.rs"]
mod load;
#[path = "repeat/records.rs"]
mod records;
#[path = "repeat/support.rs"]
mod support;

use load::{Load, loads};
use records::Kind;
use support::{packages, programs};

/// Runs a program under different loads, and compares the records.
fn repeats(name: &'static str, command: &str) {
    Kind { name, command: command.to_owned(), races: false }.check(&loads());
}

#[test]
fn urllib_with_sleep() {
    let mut loads = loads();
    loads.push(Load::at_speed_1());
    let command = "python3 urllib_loop.py".to_owned();
    Kind { name: "Python: urllib with sleep", command, races: false }.check(&loads);
}

#[test]
fn requests_without_sleep() {
    repeats("Python: requests without sleep", &format!("{} requests_loop.py", packages()));
}

#[test]
fn steps() {
    repeats("Python: drive in steps", "python3 lockstep.py");
}

#[test]
fn threads_that_wait_for_each_other() {
    repeats("Python: threads, events, queues", "python3 threads.py");
}

#[test]
fn asyncio_with_streams() {
    repeats("Python: asyncio", "python3 async_streams.py");
}

#[test]
fn websockets() {
    repeats("Python: WebSockets", "python3 sockets.py");
}

#[test]
fn numpy_and_opencv() {
    repeats("Python: NumPy and OpenCV", &format!("{} vision.py", packages()));
}

#[test]
fn child_processes() {
    repeats("Python: child processes", "python3 children.py");
}

#[test]
fn a_shell_with_curl() {
    repeats("bash: curl and sleep", "bash shell.sh");
}

#[test]
fn c_with_sockets() {
    repeats("C: sockets and usleep", "./plain");
}

#[test]
fn cpp_with_condition_variables() {
    repeats("C++: condition variables", "./conditions");
}

/// Node.js compiles code and collects garbage in threads of its own. The number of times that the
/// main thread reads the clock depends on these threads, so the records may differ.
#[test]
fn node_with_timers() {
    let command = "node timers.js".to_owned();
    Kind { name: "Node.js: timers, fetch, http", command, races: true }.check(&loads());
}

#[test]
fn a_loop_that_reads_the_clock() {
    repeats("Python: busy-wait", "python3 busy_wait.py");
}

#[test]
fn streams_of_the_package() {
    repeats("Python: streams of `chicane`", "python3 sdk_streams.py");
}

#[test]
fn all_programs_have_a_test() {
    let source = include_str!("repeat.rs");
    for entry in std::fs::read_dir(programs()).expect("a folder").flatten() {
        let file = entry.file_name().into_string().expect("UTF-8");
        let stem = file.split('.').next().unwrap_or_default();
        let shared = ["car.py", "crc32.js"].contains(&file.as_str());
        assert!(
            shared || source.contains(&format!("{stem}\"")) || source.contains(&file),
            "{file} is not run"
        );
    }
}
