//! `chicane verify`, `chicane rejudge`, `chicane replay --tracks` and `chicane records export
//! --run`: runs are simulated and judged again, and falsified runs are found.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "evaluate/support.rs"]
#[allow(dead_code, reason = "other suites use the rest")]
mod support;

#[path = "verify/falsified.rs"]
mod falsified;
#[path = "verify/killed.rs"]
mod killed;
#[path = "verify/kinds.rs"]
mod kinds;
#[path = "verify/rejudged.rs"]
mod rejudged;
#[path = "verify/varied.rs"]
mod varied;

use serde_json::Value;
use std::path::Path;
use support::{TempFolder, chicane, last_line, text};

/// Evaluates, and saves the run to `NAME.chicane` in the folder. Returns the path.
fn save(folder: &TempFolder, name: &str, arguments: &[&str]) -> String {
    let file = folder.path(&format!("{name}.chicane"));
    let output = chicane(&[&["evaluate", "--json", "--save", &file], arguments].concat());
    assert!(Path::new(&file).exists(), "{name}: {output:?}");
    file
}

/// The record of a run in its file.
fn record_in(file: &str) -> Value {
    let parts = chicane_store::run_file::unpack(&std::fs::read(file).expect("read")).expect("a run file");
    serde_json::from_slice(&parts["record.json"]).expect("JSON")
}

/// Asserts that a run is verified.
#[track_caller]
fn assert_verified(file: &str) {
    let output = chicane(&["verify", file]);
    assert!(output.status.success() && text(&output.stdout).starts_with("verified "), "{output:?}");
}

/// Asserts that a run is not verified, and returns the line about it.
#[track_caller]
fn assert_not_verified(file: &str) -> String {
    let output = chicane(&["verify", file]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(last_line(&output.stderr), "chicane: 1 of 1 runs not verified");
    text(&output.stdout)
}
