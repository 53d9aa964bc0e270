//! Runs a program in a box with `chicane evaluate`, and reads the record.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A temporary folder for one test. The folder is removed on drop.
pub(crate) struct TempFolder(pub(crate) PathBuf);

impl TempFolder {
    pub(crate) fn new() -> TempFolder {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("chicane-box-test-{}-{number}", std::process::id()));
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

    pub(crate) fn text(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A command that evaluates a program in a workspace. The program ends with status 9, because a run
/// ends as soon as its program fails. After status 0, the run would go on until the car has stood
/// still for some time.
pub(crate) fn evaluate(workspace: &Path, program: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chicane"));
    command.args(["evaluate", "--world", "oval", "--time-limit", "3000", "--wall-limit", "110", "--json"]);
    command.arg("--workspace").arg(workspace).arg("--command").arg(format!("{program}\nexit 9"));
    command
}

/// Runs a program and returns the record of the run.
pub(crate) fn record(mut command: Command) -> Value {
    let output = command.output().expect("started");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output)))
}

/// Runs a program in an empty workspace with the given options, and returns its output.
pub(crate) fn lines(options: &[&str], program: &str) -> Vec<String> {
    let workspace = TempFolder::new();
    let mut command = evaluate(&workspace.0, program);
    command.args(options);
    let record = record(command);
    assert_eq!(record["run"]["exit_code"], 9, "{record:#}");
    output(&record)
}

/// The lines that a program printed.
pub(crate) fn output(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("a list of events");
    let lines = events.iter().filter(|event| event["kind"] == "run" && event["phase"] == "log");
    lines.map(|event| event["line"].as_str().expect("a line").to_owned()).collect()
}

/// The standard output and the standard error of a process.
pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A running process that is killed on drop.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started"))
    }

    /// Interrupts the process and returns its output, which is a record.
    pub(crate) fn interrupt(mut self) -> Value {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
        let mut output = self.0.stdout.take().expect("a pipe");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut output, &mut text).expect("read");
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A number that no other process has in its command line, for `sleep`.
pub(crate) fn unique_number() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("3{}{:03}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Ids of the processes that have a word in their command line.
pub(crate) fn processes(word: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).any(|part| part == word.as_bytes())
    };
    pids.filter(has).collect()
}

/// Waits until `condition` returns a value, and panics after 120 s.
pub(crate) fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
