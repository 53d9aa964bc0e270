//! Tests of the clocks, random numbers and environment that a program has in virtual time.

use crate::support::{Program, lines};
use serde_json::Value;

/// Unix time at which the clocks of a program start: 2026-01-01 00:00:00 UTC.
const START_S: f64 = 1_767_225_600.0;

/// Runs a Python program that prints one JSON value, and returns this value.
fn value(text: &str, options: &[&str]) -> Value {
    let program = Program::new("python3 main.py").options(options);
    let start = "import email.utils, json, os, time, urllib.request\nURL = os.environ['CHICANE_URL']\n";
    program.workspace.file("main.py", &format!("{start}{text}"));
    let record = program.run();
    assert_eq!(record["run"]["exit_code"], 0, "{:#}", record["run"]);
    let lines = lines(&record);
    assert_eq!(lines.len(), 1, "{lines:?}");
    serde_json::from_str(&lines[0]).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn clocks_start_at_the_same_time_and_follow_sleeps() {
    let text = "
def read():
    return [time.time(), time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME)]
def date():
    answer = urllib.request.urlopen(URL + '/health')
    return email.utils.parsedate_to_datetime(answer.headers['Date']).timestamp()
before = read()
time.sleep(100)
print(json.dumps([before, read(), date(), time.time()]))";
    let seen = value(text, &["--time-limit", "3600"]);
    let [before, after, date, now] = [&seen[0], &seen[1], &seen[2], &seen[3]];
    let begun = number(&before[0]);
    assert!((START_S..START_S + 1.0).contains(&begun), "{begun}");
    for clock in 0..3 {
        let passed = number(&after[clock]) - number(&before[clock]);
        assert!((100.0..100.01).contains(&passed), "clock {clock}: {passed} s");
    }
    // The header `Date` has whole seconds only.
    assert!((number(now) - number(date)).abs() <= 1.0, "{date} {now}");
    assert!(number(date) >= START_S + 100.0, "{date}");
}

#[test]
fn random_numbers_depend_on_the_seed_only() {
    let text = "
import random, uuid
numbers = [os.urandom(8).hex(), random.random(), str(uuid.uuid4()), hash('text')]
if os.fork() == 0:
    os.execvp('python3', ['python3', '-c', f'import os; print({numbers}, os.urandom(4).hex(), sep=\";\")'])
os.wait()";
    let run = |seed: &str| {
        let program = Program::new("python3 main.py").options(&["--seed", seed]);
        program.workspace.file("main.py", &format!("import os{text}"));
        let record = program.run();
        assert_eq!(record["run"]["exit_code"], 0, "{:#}", record["run"]);
        lines(&record)
    };
    let (first, again, other) = (run("5"), run("5"), run("6"));
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn a_program_knows_its_pace() {
    let text = "print(json.dumps(os.environ['CHICANE_PACE']))";
    assert_eq!(value(text, &[]), "virtual");
    assert_eq!(value(text, &["--pace", "virtual"]), "virtual");
    assert_eq!(value(text, &["--pace", "real"]), "real");
}

#[test]
fn a_request_takes_one_tick() {
    let text = "
def read():
    urllib.request.urlopen(URL + '/odom').read()
read()
begun = time.monotonic()
for _ in range(20):
    read()
print(time.monotonic() - begun)";
    let passed = number(&value(text, &[]));
    assert!((passed - 0.1).abs() < 0.001, "20 requests took {passed} s");
}

#[test]
fn computing_takes_no_time() {
    let text = "
begun = time.monotonic()
total = sum(number * number for number in range(2_000_000))
print(time.monotonic() - begun)";
    let passed = number(&value(text, &[]));
    assert!(passed < 0.001, "{passed} s");
}
