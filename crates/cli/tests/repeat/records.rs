//! Compares the records of several runs.

use crate::load::Load;
use crate::support::{Program, programs, record};
use serde_json::Value;
use std::io::Write;

/// A kind of program.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) command: String,
    /// Whether threads of the program race. The records of such a program may differ, so the check
    /// only prints how many different records there are.
    pub(crate) races: bool,
}

impl Kind {
    /// Runs the program once under each load, and prints how many different records there are. All
    /// records have to be equal, unless the program has threads that race.
    pub(crate) fn check(&self, loads: &[Load]) {
        let program = Program::new(&self.command);
        for entry in std::fs::read_dir(programs()).expect("a folder").flatten() {
            std::fs::copy(entry.path(), program.workspace.0.join(entry.file_name())).expect("copied");
        }
        program.workspace.compile("cc", &[], "plain.c", "plain");
        program.workspace.compile("c++", &["-std=c++17", "-pthread"], "conditions.cc", "conditions");
        let runs: Vec<(Load, Value)> = loads.iter().map(|load| (*load, run(&program, *load))).collect();
        let mut distinct: Vec<&Value> = Vec::new();
        for (_, record) in &runs {
            if !distinct.contains(&record) {
                distinct.push(record);
            }
        }
        // `make repeat` makes a table from these lines. Each line goes to standard error directly,
        // because the test harness would capture the output of `println`.
        let line = format!("repeat | {:32} | {:2} of {}\n", self.name, distinct.len(), runs.len());
        let _ = std::io::stderr().write_all(line.as_bytes());
        let (_, first) = &runs[0];
        for (load, record) in &runs {
            assert_eq!(record["pace"], "virtual", "{load:?}: {}", record["pace_reason"]);
            assert_eq!(record["pace_reason"], Value::Null, "{load:?}");
            assert_eq!(record["run"]["exit_code"], 0, "{load:?}: {:#}", record["run"]);
            assert_eq!(record["outcome"], "finished", "{load:?}: {}", record["reason"]);
            if let Some(difference) = difference(first, record).filter(|_| !self.races) {
                panic!("{} of {} records differ.\n{load:?}: {difference}", distinct.len(), runs.len());
            }
        }
        let distance = first["record"]["x"].as_f64().map(|x| (x - 2.815).abs());
        assert!(distance.is_some_and(|metres| metres > 1.0), "the car has not driven: {:#}", first["record"]);
    }
}

/// Runs a program under a load. Removes the fields of the record that identify the run or depend on
/// real time.
fn run(program: &Program, load: Load) -> Value {
    let busy = load.start();
    let mut record = record(program.evaluate(load.prefix()).args(["--speed", &load.speed()]));
    drop(busy);
    let fields = record.as_object_mut().expect("an object");
    for name in ["session", "started_at", "ended_at"] {
        assert!(fields.remove(name).is_some(), "the record has no {name}");
    }
    fields["judge"].as_object_mut().expect("an object").remove("wait_s");
    record
}

/// Describes the first difference between two records: the first event that differs, or else the
/// first field that differs. `None` if the records are equal.
fn difference(first: &Value, other: &Value) -> Option<String> {
    let events = |record: &Value| record["events"].as_array().expect("a list of events").clone();
    let (a, b) = (events(first), events(other));
    for at in 0..a.len().max(b.len()) {
        if a.get(at) != b.get(at) {
            let show = |event: Option<&Value>| event.map_or("no event".to_owned(), Value::to_string);
            return Some(format!("event {at}\nfirst: {}\nhere:  {}", show(a.get(at)), show(b.get(at))));
        }
    }
    let names = |record: &Value| record.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let all = [names(first), names(other)].concat();
    let name = all.iter().find(|name| first.get(*name) != other.get(*name))?;
    Some(format!("field {name}\nfirst: {}\nhere:  {}", first[name.as_str()], other[name.as_str()]))
}
