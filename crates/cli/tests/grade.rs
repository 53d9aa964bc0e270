//! `chicane grade` and `chicane report`: a class becomes grades and a report, whatever students hand
//! in and whatever ends the process.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "evaluate/support.rs"]
#[allow(dead_code, reason = "other suites use the rest")]
mod support;

#[path = "grade/class.rs"]
mod class;
#[path = "grade/interrupted.rs"]
mod interrupted;
#[path = "grade/submissions.rs"]
mod submissions;

use serde_json::Value;
use std::path::Path;
use support::TempFolder;

/// A file of a folder of results.
fn read(results: &str, name: &str) -> String {
    std::fs::read_to_string(Path::new(results).join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn json(results: &str, name: &str) -> Value {
    serde_json::from_str(&read(results, name)).expect("JSON")
}

/// The student with this name in a list of students.
fn student<'a>(document: &'a Value, name: &str) -> &'a Value {
    let students = document["students"].as_array().expect("a list");
    students.iter().find(|student| student["name"] == name).unwrap_or_else(|| panic!("{name} is missing"))
}

/// The sessions of all finished units by hash. A session has a random id, so the id changes if a
/// unit runs again.
fn sessions(results: &str) -> std::collections::BTreeMap<String, String> {
    let cache = std::fs::read_dir(Path::new(results).join("cache")).into_iter().flatten().flatten();
    let units = cache.filter_map(|entry| {
        let text = std::fs::read_to_string(entry.path().join("result.json")).ok()?;
        // While a unit's folder is being written, its name contains a dot.
        let hash = entry.file_name().into_string().ok().filter(|name| !name.contains('.'))?;
        let result: Value = serde_json::from_str(&text).expect("a whole result");
        Some((hash, result["record"]["session"].as_str().expect("an id").to_owned()))
    });
    units.collect()
}

/// A class whose programs do not drive, so that every run reaches the time limit of two seconds.
fn waiting_class(scratch: &TempFolder, students: &[&str]) -> String {
    for name in students {
        scratch.file(&format!("class/{name}/main.py"), "import time\nprint('hello')\ntime.sleep(100)\n");
    }
    scratch.path("class")
}
