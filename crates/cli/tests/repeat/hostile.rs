//! Programs that work against virtual time. Each run ends with a clear outcome, and the record says
//! `real` with a reason if time has followed the wall clock.

use crate::support::{Program, lines};
use serde_json::Value;

/// Options that stop a run after 10 real seconds, for programs whose runs do not end by themselves.
const SHORT: [&str; 2] = ["--wall-limit", "10"];
/// The number of the signal for an access to mapped memory beyond the end of its file.
const SIGBUS: i64 = 7;

/// A program in Python, which starts with some imports.
fn python(text: &str) -> Program {
    let program = Program::new("python3 main.py");
    program.workspace.file("main.py", &format!("import os, signal, threading, time\n{text}"));
    program
}

/// A program in C, which is compiled with these options.
fn c(source: &str, options: &[&str], command: &str) -> Program {
    let program = Program::new(command);
    program.workspace.file("main.c", source);
    program.workspace.compile("cc", options, "main.c", "main");
    program
}

/// Runs a program and returns its record. The record must have a `pace_reason` if the pace was
/// real, and none if the pace was virtual.
fn run(program: &Program) -> Value {
    let record = program.run();
    let is_real = record["pace"] == "real";
    assert!(is_real || record["pace"] == "virtual", "{record:#}");
    assert_eq!(record["pace_reason"].is_string(), is_real, "{record:#}");
    record
}

/// Checks that a program has exited with this code, and that its session has finished.
fn assert_exit(record: &Value, code: i64) {
    assert_eq!(record["run"]["exit_code"], code, "{:#}", record["run"]);
    assert_eq!(record["outcome"], "finished", "{}", record["reason"]);
}

fn assert_virtual(record: &Value) {
    assert_eq!(record["pace"], "virtual", "{}", record["pace_reason"]);
}

/// Checks that time has followed the wall clock, for a reason with this word.
fn assert_real(record: &Value, word: &str) {
    assert_eq!(record["pace"], "real", "{record:#}");
    let reason = record["pace_reason"].as_str().expect("a reason");
    assert!(reason.contains(word), "{reason}");
}

/// Checks that a run was stopped because it took too long in real time.
fn assert_stopped(record: &Value) {
    assert_eq!(record["outcome"], "stopped", "{record:#}");
    assert!(
        record["reason"].as_str().is_some_and(|reason| reason.contains("wall-clock limit")),
        "{record:#}"
    );
}

#[test]
fn a_static_binary_without_the_library_sleeps_in_real_time() {
    let source = include_str!("hostile/static_sleep.c");
    let record = run(&c(source, &["-static"], "env -u LD_PRELOAD ./main"));
    assert_exit(&record, 0);
    assert_real(&record, "static binary");
    assert_eq!(lines(&record), ["slept 0", "slept 1", "slept 2", "slept 3", "slept 4"]);
}

/// The box loads the library for virtual time into every program that is linked dynamically, even
/// if `LD_PRELOAD` was removed from the environment.
#[test]
fn a_program_can_not_unload_the_library() {
    let record = run(&Program::new("env -i /bin/sleep 30"));
    assert_exit(&record, 0);
    assert_virtual(&record);
    assert!(
        record["elapsed_s"].as_f64().is_some_and(|elapsed| (30.0..30.1).contains(&elapsed)),
        "{record:#}"
    );
}

#[test]
fn a_timerfd_works_in_real_time() {
    let record = run(&c(include_str!("hostile/timerfd.c"), &[], "./main"));
    assert_exit(&record, 0);
    assert_real(&record, "timerfd");
    assert_eq!(lines(&record).len(), 4);
}

#[test]
fn two_hundred_children_sleep() {
    let program = python(
        "for number in range(200):
    if os.fork() == 0:
        time.sleep(1 + number / 1000)
        os._exit(0)
for _ in range(200):
    os.wait()
print(round(time.monotonic() - 1000, 2))",
    );
    let record = run(&program);
    assert_exit(&record, 0);
    assert_virtual(&record);
    assert_eq!(lines(&record), ["1.2"]);
}

/// A program may end before the simulator has started to observe it.
#[test]
fn a_program_ends_at_once() {
    for _ in 0..10 {
        let record = run(&Program::new("true"));
        assert_exit(&record, 0);
        assert_virtual(&record);
    }
}

#[test]
fn an_endless_thread_ends_with_its_program() {
    let record = run(&c(include_str!("hostile/endless_thread.c"), &["-pthread"], "./main"));
    assert_exit(&record, 0);
    assert_virtual(&record);
    assert_eq!(lines(&record), ["end"]);
}

/// Computing takes no simulated time, so the sleep of the main thread does not end.
#[test]
fn a_program_that_computes_for_ever_is_stopped() {
    let program = c(include_str!("hostile/endless_thread.c"), &["-pthread"], "./main 100000");
    assert_stopped(&run(&program.options(&SHORT)));
}

#[test]
fn a_loop_waits_for_a_variable_that_a_sleeping_thread_would_set() {
    let program = python(
        "found = []
threading.Timer(0.05, lambda: found.append(1)).start()
while not found:
    pass
print('found')",
    );
    assert_stopped(&run(&program.options(&SHORT)));
}

#[test]
fn a_loop_waits_for_a_variable_that_a_computing_thread_sets() {
    let program = python(
        "found = []
def compute():
    found.append(sum(range(3_000_000)))
threading.Thread(target=compute).start()
while not found:
    pass
print(found[0])",
    );
    let record = run(&program);
    assert_exit(&record, 0);
    assert_eq!(lines(&record), ["4499998500000"]);
}

#[test]
fn an_endless_sleep_reaches_the_time_limit_at_once() {
    let record = run(&Program::new("sleep infinity"));
    assert_eq!(record["outcome"], "timeout", "{}", record["reason"]);
    assert!(
        record["elapsed_s"].as_f64().is_some_and(|elapsed| (60.0..60.1).contains(&elapsed)),
        "{record:#}"
    );
    assert_virtual(&record);
}

#[test]
fn an_endless_wait_reaches_the_time_limit_at_once() {
    let record = run(&python("threading.Lock().acquire() and threading.Event().wait()"));
    assert_eq!(record["outcome"], "timeout", "{}", record["reason"]);
    assert_virtual(&record);
}

/// The program and the simulation run at the same time, so the program may already have continued
/// when the judging script ends the run.
#[test]
fn what_a_program_does_after_the_end_does_not_count() {
    let judge = "def initialize(sim):
    pass

def evaluate(sim):
    sim.record(sim.state.time)
    if sim.state.time >= 1.0:
        sim.finish()";
    for text in ["print('late', flush=True)\nos._exit(7)", "buffer = bytearray(4 << 30)\nprint('late')"] {
        let runs: Vec<Value> = (0..3)
            .map(|_| {
                let program = format!("print('early', end='', flush=True)\ntime.sleep(1.02)\n{text}");
                run(&python(&program).judge(judge))
            })
            .collect();
        for record in &runs {
            assert_virtual(record);
            assert_eq!(record["outcome"], "finished", "{}", record["reason"]);
            assert_eq!(lines(record), ["early"], "{record:#}");
            assert_eq!((&record["run"], &record["record"]), (&runs[0]["run"], &runs[0]["record"]));
            assert_eq!(record["events"], runs[0]["events"]);
        }
    }
}

/// Regression test: the event of an unfinished last line came at the program's exit or at the end
/// of the session, at random.
#[test]
fn an_unfinished_line_comes_before_the_exit() {
    let judge = "def initialize(sim):
    pass

def evaluate(sim):
    if sim.state.time >= 1.0:
        sim.finish()";
    for _ in 0..5 {
        let record = run(&Program::new("printf done; exit 3").judge(judge));
        assert_virtual(&record);
        let events = record["events"].as_array().expect("a list of events");
        let is_run = |event: &&Value| event["kind"] == "run" && event["phase"] != "start";
        let seen: Vec<&Value> = events.iter().filter(is_run).map(|event| &event["phase"]).collect();
        assert_eq!(seen, ["log", "exit"], "{record:#}");
    }
}

/// Regression test: no simulated time passed for a program that fills its output pipe again as soon
/// as the simulator has read the pipe.
#[test]
fn a_flood_of_output_reaches_the_time_limit() {
    let record = run(&Program::new("yes").options(&["--time-limit", "2"]));
    assert_eq!(record["outcome"], "timeout", "{}", record["reason"]);
    assert_virtual(&record);
    assert!(lines(&record).len() > 10, "{}", lines(&record).len());
}

#[test]
fn alarms_come_in_virtual_time() {
    let program = python(
        "def handle(number, frame):
    print(round(time.monotonic() - 1000, 2), flush=True)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.25)
for _ in range(3):
    signal.pause()
signal.alarm(2)
time.sleep(1)
signal.pause()",
    );
    let record = run(&program);
    assert_exit(&record, 0);
    assert_virtual(&record);
    assert_eq!(lines(&record), ["0.5", "0.75", "1.0", "3.0"]);
}

/// Regression test: the microseconds beyond a second were carried over.
#[test]
fn an_alarm_with_too_many_microseconds_was_set() {
    let program = python(
        "import ctypes
library = ctypes.CDLL(None, use_errno=True)
for alarm in [(0, 0, 0, 1_000_000), (0, 1_000_000, 1, 0), (0, 0, 1, -1), (0, 0, 1, 999_999)]:
    print(library.setitimer(0, (ctypes.c_long * 4)(*alarm), None), ctypes.get_errno())",
    );
    let record = run(&program);
    assert_exit(&record, 0);
    assert_virtual(&record);
    assert_eq!(lines(&record), ["-1 22", "-1 22", "-1 22", "0 22"]);
}

#[test]
fn a_program_can_not_set_the_clock() {
    let program = python(
        "before = time.time()
try:
    time.clock_settime(time.CLOCK_REALTIME, 1e9)
except PermissionError:
    print('refused')
print(0 <= time.time() - before < 1)",
    );
    let record = run(&program);
    assert_exit(&record, 0);
    assert_virtual(&record);
    assert_eq!(lines(&record), ["refused", "True"]);
}

#[test]
fn a_program_that_stops_itself_reaches_the_time_limit() {
    let record = run(&python("os.kill(os.getpid(), signal.SIGSTOP)").options(&["--wall-limit", "100"]));
    assert_eq!(record["outcome"], "timeout", "{}", record["reason"]);
}

#[test]
fn a_program_closes_all_descriptors() {
    let record = run(&python("os.closerange(0, 65536)\ntime.sleep(1)\nos._exit(time.monotonic() > 1001)"));
    assert_exit(&record, 1);
    assert_virtual(&record);
}

/// The clock is a file that is mapped into the memory of the program. The program reads beyond the
/// new end of the file, so the kernel sends it `SIGBUS`.
#[test]
fn a_program_truncates_the_clock() {
    let program = python("os.truncate('/opt/chicane/time/clock', 0)\ntime.sleep(1)\ntime.time()");
    let record = run(&program.options(&["--wall-limit", "60"]));
    assert_eq!(record["run"]["signal"], SIGBUS, "{record:#}");
}

#[test]
fn a_program_overwrites_the_clock() {
    for value in [0x00, 0x7f, 0xff] {
        let program = python(&format!(
            "with open('/opt/chicane/time/clock', 'r+b', 0) as clock:
    size = os.stat(clock.name).st_size
    clock.write(bytes([{value}]) * size)
print('written')
for _ in range(10):
    time.sleep(0.1)
print('end')"
        ));
        let record = run(&program.options(&["--wall-limit", "20"]));
        let outcome = record["outcome"].as_str().expect("an outcome");
        assert!(["finished", "timeout", "stopped"].contains(&outcome), "{value}: {record:#}");
    }
}

#[test]
fn a_program_overwrites_the_clock_all_the_time() {
    let program = python(
        "def spoil():
    with open('/opt/chicane/time/clock', 'r+b', 0) as clock:
        size = os.stat(clock.name).st_size
        while True:
            clock.seek(4096)
            clock.write(os.urandom(size - 4096))
threading.Thread(target=spoil, daemon=True).start()
for _ in range(10):
    time.sleep(0.1)",
    );
    let record = run(&program.options(&SHORT));
    let outcome = record["outcome"].as_str().expect("an outcome");
    assert!(["finished", "timeout", "stopped"].contains(&outcome), "{record:#}");
}
