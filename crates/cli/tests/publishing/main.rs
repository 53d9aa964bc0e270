//! Tests that publish and install worlds with the program itself: from the command line, through a
//! bucket, with kills at random times, and with disks that are full or read-only.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

mod bucket;
mod commands;
mod disks;
mod import;
mod killed;
mod moto;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "../durable/program.rs"]
mod program;
mod proxy;

use serde_json::Value;
use std::path::Path;

/// Runs the program and returns its trimmed standard output. The program must succeed.
fn output_of(arguments: &[&str]) -> String {
    program::stdout_of(arguments).trim_end().to_owned()
}

/// Publishes a project to the CDN of a data folder, and returns the id of the world.
fn publish(project: &str, data: &str) -> String {
    output_of(&["publish", project, "--data-dir", data])
}

fn get(client: &mut chicane_testkit::http::Client, path: &str) -> Value {
    let answer = client.get(&format!("/sim/api{path}"));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// Paths of all files below a folder.
fn walk(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.flat_map(|e| match e.path() {
        path if path.is_dir() => walk(&path),
        path => vec![path.display().to_string()],
    });
    below.collect()
}
