//! Runs the program and reads its records.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a test waits for a condition.
const WAIT: Duration = Duration::from_secs(120);

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command that runs the program, without some variables of the test's environment that would
/// change the results.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chicane"));
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    let settings = ["CHICANE_DATA_DIR", "CHICANE_BOX", "CHICANE_STUDENT_NETWORK"];
    for name in settings.into_iter().chain(["NO_COLOR", "CLICOLOR_FORCE"]) {
        command.env_remove(name);
    }
    command
}

pub(crate) fn chicane(arguments: &[&str]) -> Output {
    command(arguments).output().expect("started")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The last line that a program printed.
pub(crate) fn last_line(bytes: &[u8]) -> String {
    text(bytes).lines().last().unwrap_or_default().to_owned()
}

/// The record that a program printed with `--json`.
pub(crate) fn record_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// All records of a data folder.
pub(crate) fn records(data: &str) -> Vec<Value> {
    let output = chicane(&["records", "export", "--json", "--data-dir", data]);
    let records: Value = record_of(&output);
    records.as_array().expect("a list").clone()
}

/// Waits until `found` returns a value.
pub(crate) fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + WAIT;
    loop {
        if let Some(value) = found() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A child process that is killed on drop.
pub(crate) struct KillOnDrop(pub(crate) Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A temporary folder for one test. The folder is removed on drop.
pub(crate) struct TempFolder(pub(crate) PathBuf);

impl TempFolder {
    pub(crate) fn new(name: &str) -> TempFolder {
        let path = std::env::temp_dir().join(format!("chicane-evaluate-test-{name}-{}", std::process::id()));
        // A killed process with the same id may have left the folder behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        TempFolder(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    }

    /// A workspace with one program.
    pub(crate) fn workspace(&self, name: &str, program: &str) -> String {
        self.file(&format!("workspace/{name}"), program);
        self.path("workspace")
    }

    /// A small project with this judging script, which needs no `initialize`.
    pub(crate) fn project(&self, script: &str) -> String {
        let shipped = root().join("examples/projects/loop.json");
        let text = std::fs::read_to_string(shipped).expect("an example");
        let mut project: Value = serde_json::from_str(&text).expect("JSON");
        let config = json!({"description": "One.", "better": "lower", "time_limit_s": 60, "robot": "gen1"});
        project["evaluation"] = json!({"config": config, "script": "mine.py"});
        self.file("mine.py", &format!("def initialize(sim):\n    pass\n\n{script}"));
        self.file("project.json", &project.to_string())
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
