//! Runs programs with `chicane evaluate`, and reads their records.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// Real seconds after which the simulator stops a run.
const WALL_LIMIT_S: &str = "240";
/// Kills a simulator that does not stop a run, so that no test can hang.
const KILL: [&str; 3] = ["timeout", "--signal=KILL", "280"];

/// The folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the programs.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repeat/programs")
}

/// The Python that has `requests`, NumPy and OpenCV.
pub(crate) fn packages() -> String {
    let python = root().canonicalize().expect("a folder").join("target/tools/repeat/bin/python");
    assert!(python.exists(), "there is no {}: run `make need-repeat`", python.display());
    python.into_os_string().into_string().expect("UTF-8")
}

/// A temporary folder for one test. The folder is removed on drop.
pub(crate) struct TempFolder(pub(crate) PathBuf);

impl TempFolder {
    pub(crate) fn new() -> TempFolder {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("chicane-repeat-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // A killed process with the same id may have left the folder behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        TempFolder(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("written");
        path
    }

    /// Compiles a file of this folder.
    pub(crate) fn compile(&self, compiler: &str, options: &[&str], source: &str, program: &str) {
        let output = Command::new(compiler)
            .args(["-O1", "-Wall", "-Wextra"])
            .args(options)
            .args([source, "-o", program])
            .current_dir(&self.0)
            .output()
            .unwrap_or_else(|e| panic!("{compiler}: {e}"));
        assert!(output.status.success(), "{compiler} {source}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One program with its workspace, and a world whose judging script records a checksum.
pub(crate) struct Program {
    world: TempFolder,
    pub(crate) workspace: TempFolder,
    command: String,
    options: Vec<String>,
}

impl Program {
    /// A program in an empty workspace.
    pub(crate) fn new(command: &str) -> Program {
        let world = TempFolder::new();
        let text = std::fs::read_to_string(root().join("worlds/oval.json")).expect("a project");
        let mut project: Value = serde_json::from_str(&text).expect("JSON");
        let config =
            json!({"description": "Repeat.", "better": "lower", "time_limit_s": 60, "robot": "gen1"});
        project["evaluation"] = json!({"config": config, "script": "judge.py"});
        world.file("project.json", &project.to_string());
        world.file("judge.py", include_str!("judge.py"));
        Program { world, workspace: TempFolder::new(), command: command.to_owned(), options: Vec::new() }
    }

    /// Replaces the judging script.
    pub(crate) fn judge(self, script: &str) -> Program {
        self.world.file("judge.py", script);
        self
    }

    /// Adds options of `chicane evaluate`.
    pub(crate) fn options(mut self, options: &[&str]) -> Program {
        self.options.extend(options.iter().map(|option| (*option).to_owned()));
        self
    }

    /// A command that evaluates the program. `prefix` is a command, such as `taskset`, that runs
    /// the command after it.
    pub(crate) fn evaluate(&self, prefix: &[&str]) -> Command {
        let mut command = Command::new(KILL[0]);
        command.args(&KILL[1..]).args(prefix).arg(env!("CARGO_BIN_EXE_chicane"));
        command.arg("evaluate").arg("--world").arg(self.world.0.join("project.json"));
        command.arg("--workspace").arg(&self.workspace.0).args(["--command", &self.command, "--json"]);
        if !self.options.iter().any(|option| option == "--wall-limit") {
            command.args(["--wall-limit", WALL_LIMIT_S]);
        }
        command.args(&self.options).stdin(Stdio::null());
        for name in ["CHICANE_DATA_DIR", "CHICANE_BOX", "CHICANE_STUDENT_NETWORK", "LD_PRELOAD"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program and returns the record.
    pub(crate) fn run(&self) -> Value {
        record(&mut self.evaluate(&[]))
    }
}

/// Runs an evaluation and returns its record.
pub(crate) fn record(command: &mut Command) -> Value {
    let output = command.output().expect("started");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The lines that a program printed.
pub(crate) fn lines(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a list of events");
    let lines = events.iter().filter(|event| event["kind"] == "run" && event["phase"] == "log");
    lines.map(|event| event["line"].as_str().expect("a line").to_owned()).collect()
}
