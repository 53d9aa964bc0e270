//! Tests of invalid judging scripts. The commands that check, build or publish a world refuse such
//! a script. The commands that import or install a world print a warning.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A script with a syntax error in line 5.
const TORN: &str = "def initialize(sim):\n    pass\n\ndef evaluate(sim):\n    x = (1,\n";
const ERROR: &str = "the evaluation script can't judge: line 5: '(' was never closed";
const GOOD: &str =
    "def initialize(sim):\n    pass\n\ndef evaluate(sim):\n    sim.record(7)\n    sim.finish()\n";
const NOT_CHECKED: &str = "the evaluation script was not checked: Python 3.14 for judging scripts is not in";

struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> TempFolder {
        let path = std::env::temp_dir().join(format!("chicane-scripts-{name}-{}", std::process::id()));
        // A killed process with the same id may have left the folder behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        TempFolder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// Writes a small project with this judging script.
    fn project(&self, script: &str) -> String {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/projects/loop.json");
        let text = std::fs::read_to_string(shipped).expect("an example");
        let mut project: Value = serde_json::from_str(&text).expect("JSON");
        let config = json!({"description": "One.", "better": "lower", "time_limit_s": 60, "robot": "gen1"});
        project["evaluation"] = json!({"config": config, "script": "mine.py"});
        let file = self.path("project.json");
        std::fs::write(&file, project.to_string()).expect("written");
        std::fs::write(self.0.join("mine.py"), script).expect("written");
        file
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chicane"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn chicane(arguments: &[&str]) -> Output {
    program(arguments).output().expect("started")
}

/// Runs the program as on a machine where the judge is not prepared: the folder for the root file
/// system of the judge does not exist.
fn without_judge(arguments: &[&str]) -> Output {
    program(arguments).env("CHICANE_JUDGE_ROOT", "/nowhere/at/all").output().expect("started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn check_build_and_publish_refuse_an_invalid_script() {
    let scratch = TempFolder::new("made");
    let (project, folder, data) = (scratch.project(TORN), scratch.path("built"), scratch.path("data"));
    for command in [
        &["check", &project][..],
        &["build", &project, "-o", &folder],
        &["publish", &project, "--data-dir", &data],
    ] {
        let output = chicane(command);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let printed = text(&output.stderr);
        assert!(
            printed.contains("project.json: mine.py") && printed.contains(ERROR),
            "{command:?}: {printed}"
        );
    }
    assert!(!Path::new(&folder).exists(), "a world was built");
    let listed = chicane(&["worlds", "list", "--published", "--data-dir", &data]);
    assert_eq!(text(&listed.stdout), "", "a world was published");

    scratch.project(GOOD);
    let checked = chicane(&["check", &project]);
    assert!(
        checked.status.success() && text(&checked.stdout).contains("script     can judge"),
        "{checked:?}"
    );
    let built = chicane(&["build", &project, "-o", &folder]);
    assert!(built.status.success() && !text(&built.stderr).contains("script"), "{built:?}");
    // A world folder may have been edited after the build, so its script is checked too.
    let script = std::fs::read_dir(Path::new(&folder).join("evaluations")).expect("a folder").flatten();
    let script =
        script.map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "py")).expect("a script");
    std::fs::write(&script, TORN).expect("written");
    let output = chicane(&["publish", &folder, "--data-dir", &data]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains(ERROR), "{output:?}");
}

#[test]
fn without_a_judge_a_script_is_reported_as_unchecked() {
    let scratch = TempFolder::new("unchecked");
    let (project, folder, data) = (scratch.project(TORN), scratch.path("built"), scratch.path("data"));
    let checked = without_judge(&["check", &project]);
    assert!(checked.status.success(), "{checked:?}");
    let printed = text(&checked.stdout);
    assert!(printed.contains(NOT_CHECKED) && printed.contains("run `chicane setup`"), "{printed}");
    for command in [&["build", &project, "-o", &folder][..], &["publish", &project, "--data-dir", &data]] {
        let output = without_judge(command);
        assert!(output.status.success(), "{output:?}");
        let printed = text(&output.stderr);
        assert!(printed.contains("warning: ") && printed.contains(NOT_CHECKED), "{printed}");
    }
}

#[test]
fn import_and_install_warn_about_an_invalid_script() {
    let scratch = TempFolder::new("got");
    let (project, folder) = (scratch.project(TORN), scratch.path("built"));
    let (data, other, third) = (scratch.path("data"), scratch.path("other"), scratch.path("third"));
    let built = without_judge(&["build", &project, "-o", &folder]);
    assert!(built.status.success(), "{built:?}");
    let imported = chicane(&["worlds", "import", &folder, "--data-dir", &other]);
    assert!(imported.status.success(), "{imported:?}");
    assert!(text(&imported.stdout).contains(&format!("warning    {ERROR}")), "{imported:?}");

    let published = without_judge(&["publish", &project, "--data-dir", &data]);
    let id = text(&published.stdout).trim().to_owned();
    let installed = chicane(&["worlds", "install", &id, "--data-dir", &data]);
    assert!(installed.status.success(), "{installed:?}");
    assert!(text(&installed.stderr).contains(&format!("warning: {ERROR}")), "{installed:?}");

    // An installation through the web API succeeds, and the log contains the warning.
    let log = scratch.0.join("log");
    let cdn = Path::new(&third).join("cdn");
    std::fs::create_dir_all(&third).expect("a folder");
    let copied = Command::new("cp").arg("-a").arg(Path::new(&data).join("cdn")).arg(&cdn).status();
    assert!(copied.expect("cp").success());
    let mut serve = program(&["serve", "--listen", "127.0.0.1:0", "--data-dir", &third]);
    let lines = std::fs::File::create(&log).expect("a file");
    let mut serve = KillOnDrop(serve.stdout(Stdio::piped()).stderr(lines).spawn().expect("started"));
    let mut first_line = String::new();
    BufReader::new(serve.0.stdout.take().expect("output")).read_line(&mut first_line).expect("a line");
    let address = first_line
        .strip_prefix("chicane is ready: http://")
        .and_then(|s| s.split('/').next())
        .expect("ready");
    let mut client = chicane_testkit::http::Client::new(address.parse().expect("an address"));
    let answer = client.post("/sim/api/worlds/install", &json!({"world_id": id}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let deadline = Instant::now() + Duration::from_secs(60);
    while !std::fs::read_to_string(&log).expect("a log").contains(ERROR) {
        assert!(Instant::now() < deadline, "no warning: {}", std::fs::read_to_string(&log).expect("a log"));
        std::thread::sleep(Duration::from_millis(5));
    }
}

struct KillOnDrop(std::process::Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn evaluate_and_judge_accept_a_project() {
    let scratch = TempFolder::new("project");
    let project = scratch.project(GOOD);
    let evaluated = chicane(&["evaluate", "--world", &project]);
    assert_eq!(evaluated.status.code(), Some(0), "{evaluated:?}");
    assert!(text(&evaluated.stdout).contains("finished  record 7 "), "{evaluated:?}");
    let (script, drive) = (scratch.path("other.py"), scratch.path("drive.csv"));
    std::fs::write(&script, "def evaluate(sim):\n    sim.record(8)\n    sim.finish()\n").expect("written");
    std::fs::write(&drive, "0, 0.5, 0\n").expect("written");
    let judged = chicane(&["judge", &script, "--world", &project, "--drive", &drive]);
    assert_eq!(text(&judged.stdout), "finished  record 8 (lower is better) after 0.00 s\n", "{judged:?}");
    // These commands report an unknown world with the same text.
    for command in [
        &["evaluate", "--world", "no/such/place"][..],
        &["judge", &script, "--world", "no/such/place", "--drive", &drive],
        &["lap", "no/such/place"],
        &["check", "no/such/place"],
    ] {
        let output = chicane(command);
        assert_eq!(output.status.code(), Some(64), "{output:?}");
        let said = text(&output.stderr);
        assert!(said.contains("Unknown world \"no/such/place\". Give a project file"), "{command:?}: {said}");
    }
}
