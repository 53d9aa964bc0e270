//! A small contest: who drives farthest in one second. Each run is short.

use crate::program::{Program, TempFolder};
use chicane_testkit::http::{Client, HttpResponse};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use zip::write::SimpleFileOptions;

/// Longest time that a test waits for a result, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A judging script that records the distance from the start after one simulated second, in metres.
const SCRIPT: &str = "
import math

def initialize(sim):
    sim.start = None

def evaluate(sim):
    here = (sim.state.pose.x, sim.state.pose.y)
    sim.start = sim.start or here
    if sim.state.time >= 1.0:
        sim.record(round(math.dist(here, sim.start), 3))
        sim.finish()
";

/// A folder with the world of the contest, and a place for data.
pub(crate) struct Contest {
    pub(crate) folder: TempFolder,
    options: Vec<String>,
}

impl Contest {
    pub(crate) fn new(name: &str) -> Contest {
        let folder = TempFolder::new(&format!("leaderboard-{name}"));
        let projects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/projects");
        let text = std::fs::read_to_string(projects.join("loop.json")).expect("a project");
        let mut project: Value = serde_json::from_str(&text).expect("JSON");
        project["name"] = json!("dash");
        project["evaluation"] = json!({
            "config": {"description": "Drive far.", "better": "higher", "time_limit_s": 5, "robot": "gen1"},
            "script": "dash.py",
        });
        let place = Path::new(folder.path());
        std::fs::write(place.join("dash.json"), project.to_string()).expect("written");
        std::fs::write(place.join("dash.py"), SCRIPT).expect("written");
        let options = ["--leaderboard-interval", "0"].map(str::to_owned).to_vec();
        Contest { folder, options }
    }

    /// Replaces the options of the leaderboard.
    pub(crate) fn with(mut self, options: &[&str]) -> Contest {
        self.options = options.iter().map(|&option| option.to_owned()).collect();
        self
    }

    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder.path())
    }

    /// Starts a simulator with a leaderboard.
    pub(crate) fn serve(&self) -> Program {
        let (data, world) = (self.path("data"), self.path("dash.json"));
        let own =
            ["--data-dir", &data, "--workspace", self.folder.path(), "--world", &world, "--leaderboard"];
        let options: Vec<&str> = own.into_iter().chain(self.options.iter().map(String::as_str)).collect();
        Program::serve(&options)
    }
}

/// A program that drives at a speed for more than a second.
pub(crate) fn drives(speed: f64) -> String {
    format!(
        "import json, os, time, urllib.request\n\
         body = json.dumps({{'speed': {speed}, 'steering': 0}}).encode()\n\
         for i in range(20):\n    \
             request = urllib.request.Request(os.environ['CHICANE_URL'] + '/drive', body, {{'Content-Type': 'application/json'}})\n    \
             urllib.request.urlopen(request, timeout=10).read()\n    \
             time.sleep(0.1)\n\
         print('drove at', {speed})\n"
    )
}

/// A zip file with these files.
pub(crate) fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(*name, SimpleFileOptions::default()).expect("an entry");
        archive.write_all(bytes).expect("written");
    }
    archive.finish().expect("an archive").into_inner()
}

/// Percent-encodes a name.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Hands in a file.
pub(crate) fn hand_in(client: &mut Client, student: &str, kind: &str, bytes: &[u8]) -> HttpResponse {
    let path = format!("/sim/api/submissions?student={}", encoded(student));
    client.request("POST", &path, &[("content-type", kind)], bytes)
}

/// Hands in a Python program, which must be accepted. Returns the response.
#[track_caller]
pub(crate) fn accepted(client: &mut Client, student: &str, program: &str) -> Value {
    let answer = hand_in(client, student, "text/x-python", program.as_bytes());
    assert_eq!(answer.status, 202, "{}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// The JSON of a GET request that must succeed.
#[track_caller]
pub(crate) fn get(client: &mut Client, path: &str) -> Value {
    let answer = client.get(&format!("/sim/api{path}"));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// Polls until `ask` returns a value. Panics after [`TIMEOUT`].
#[track_caller]
pub(crate) fn until(what: &str, mut ask: impl FnMut() -> Option<Value>) -> Value {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until a submission has been judged or has failed, and returns it.
#[track_caller]
pub(crate) fn result(client: &mut Client, received: &Value) -> Value {
    let id = received["id"].as_str().expect("an id").to_owned();
    until("a result", || {
        let now = get(client, &format!("/submissions/{id}"));
        (now["state"] == "done" || now["state"] == "failed").then_some(now)
    })
}

/// Students and records of the first table.
pub(crate) fn table(board: &Value) -> Vec<(String, f64)> {
    let rows = board["tables"][0]["rows"].as_array().expect("rows");
    let row = |row: &Value| {
        (row["student"].as_str().expect("a name").to_owned(), row["record"].as_f64().expect("a number"))
    };
    rows.iter().map(row).collect()
}
