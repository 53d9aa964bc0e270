//! The terminal, and the commands for operators: help, messages, `doctor`, `backup`, `restore`.
#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "durable/program.rs"]
mod program;

use chicane_store::Data;
use program::{Program, TempFolder, command, stderr_of_failure, stdout_of};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant, SystemTime};

/// Timeout of a condition that a test waits for.
const TIMEOUT: Duration = Duration::from_secs(60);

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    command(arguments, environment).output().expect("started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The path of a file in a temporary folder.
fn inside(scratch: &TempFolder, name: &str) -> String {
    Path::new(scratch.path()).join(name).to_str().expect("UTF-8").to_owned()
}

/// The names in a folder.
fn names(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn json_of(program: &Program, path: &str) -> Value {
    let answer = program.client().get(path);
    assert_eq!(answer.status, 200, "{path}");
    serde_json::from_slice(&answer.body).expect("JSON")
}

#[test]
fn the_overview_listed_a_hundred_options_of_serve() {
    let help = stdout_of(&["-h"]);
    assert_eq!(help, stdout_of(&["--help"]), "both forms are the same overview");
    for line in ["Run a simulator:", "Evaluate and grade programs:", "Records and recorded runs:", "Worlds:"]
    {
        assert!(help.lines().any(|found| found == line), "{line} in\n{help}");
    }
    assert!(!help.contains("--listen") && help.lines().count() < 60, "{help}");
    let serve = stdout_of(&["serve", "-h"]);
    for heading in ["Access:", "ROS 2:", "Backups:", "Student programs:", "Judging scripts:", "Leaderboard:"]
    {
        assert!(serve.lines().any(|found| found == heading), "{heading} in\n{serve}");
    }
    // The options of serve still work without the command.
    let error = stderr_of_failure(&["--world", "nosuch", "--listen", "127.0.0.1:0"], &[]);
    assert!(error.contains("nosuch"), "{error}");
}

#[test]
fn escape_sequences_go_to_terminals_only() {
    let plain = |arguments: &[&str], environment: &[(&str, &str)]| {
        let output = run(arguments, environment);
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(!shown.is_empty() && !shown.contains('\x1b'), "{arguments:?}: {shown:?}");
    };
    for arguments in [&["-h"][..], &["lap", "--help"], &["check", "nosuch"], &["evalute"]] {
        plain(arguments, &[("TERM", "xterm")]);
        plain(arguments, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]);
        let forced = run(arguments, &[("CLICOLOR_FORCE", "1")]);
        let shown = text(&forced.stdout) + &text(&forced.stderr);
        assert!(shown.contains("\x1b[") && shown.contains("\x1b[0m"), "{arguments:?}: {shown:?}");
    }
}

#[test]
fn listing_and_removing_worlds_created_a_data_folder() {
    let scratch = TempFolder::new("no-folder");
    let folder = inside(&scratch, "none");
    assert!(stdout_of(&["worlds", "list", "--data-dir", &folder]).starts_with("field "));
    let id = "0123456789abcdef0123456789abcdef";
    let error = stderr_of_failure(&["worlds", "remove", id, "--data-dir", &folder], &[]);
    assert!(error.contains("is not installed"), "{error}");
    // The command creates no files in an existing folder that has no database.
    assert!(stdout_of(&["worlds", "list", "--data-dir", scratch.path()]).starts_with("field "));
    assert_eq!(names(scratch.path()), [""; 0]);
}

#[test]
fn records_are_exported_as_a_table_by_default() {
    let scratch = TempFolder::new("export");
    let folder = inside(&scratch, "data");
    drop(Data::open(Path::new(&folder)).expect("opens"));
    let table = stdout_of(&["records", "export", "--data-dir", &folder]);
    assert!(table.starts_with("session,world,world_id,") && table.lines().count() == 1, "{table}");
    assert_eq!(table, stdout_of(&["records", "export", "--csv", "--data-dir", &folder]));
    assert_eq!(stdout_of(&["records", "export", "--json", "--data-dir", &folder]), "[]\n");
    let error = stderr_of_failure(&["records", "export", "--data-dir", scratch.path()], &[]);
    assert!(error.contains("there is no database") && error.contains("--data-dir"), "{error}");
    assert!(!error.contains("writable"), "a missing file is no question of rights: {error}");
    let missing = inside(&scratch, "missing");
    let error = stderr_of_failure(&["records", "export", "--data-dir", &missing], &[]);
    assert!(error.contains("there is no data folder") && error.contains(&missing), "{error}");
}

#[test]
fn a_floor_named_pdf_was_a_jpeg() {
    let scratch = TempFolder::new("pdf");
    let file = inside(&scratch, "floor.pdf");
    let area = ["--area", "1,1,1.6,1.5", "--dpi", "20"];
    let arguments = [&["print", "oval", "-o", &file][..], &area].concat();
    let said = stdout_of(&arguments);
    assert!(said.contains("0.60 × 0.50 m at 20 dpi, ") && said.ends_with(" sheets\n"), "{said}");
    let bytes = std::fs::read(&file).expect("written");
    assert!(bytes.starts_with(b"%PDF-") && bytes.ends_with(b"%%EOF\n"));
    let pages = |bytes: &[u8]| text(bytes).matches("/Type /Page ").count();
    assert!(said.contains(&format!(", {} sheets", pages(&bytes))), "{said}");
    let said = stdout_of(&[&arguments[..], &["--paper", "banner"]].concat());
    assert!(said.ends_with(", 1 sheet\n"), "{said}");
    assert_eq!(pages(&std::fs::read(&file).expect("written")), 1);
    let png = inside(&scratch, "floor.png");
    let error = stderr_of_failure(&["print", "oval", "-o", &png], &[]);
    assert!(error.contains("must end with .jpg or .pdf"), "{error}");
    let jpeg = inside(&scratch, "floor.jpg");
    let error = stderr_of_failure(&["print", "oval", "-o", &jpeg, "--paper", "A3"], &[]);
    assert!(error.contains("--paper is for PDF files"), "{error}");
    assert_eq!(names(scratch.path()), ["floor.pdf"]);
}

#[test]
fn an_installation_that_fails_printed_100_percent() {
    let scratch = TempFolder::new("hundred");
    let folder = inside(&scratch, "data");
    let project = "examples/projects/loop.json";
    let id = stdout_of(&["publish", project, "--data-dir", &folder]).trim().to_owned();
    let install = ["worlds", "install", &id, "--data-dir", &folder];
    // One byte of the largest file is changed, so that the world is refused after its download.
    let world = Path::new(&folder).join("cdn/worlds").join(&id);
    let largest = files(&world).into_iter().max_by_key(|path| path.metadata().expect("a file").len());
    let largest = largest.expect("a file");
    let right = std::fs::read(&largest).expect("read");
    let mut wrong = right.clone();
    wrong[right.len() / 2] ^= 1;
    std::fs::write(&largest, wrong).expect("written");
    let error = stderr_of_failure(&install, &[]);
    assert!(error.contains("installing") && !error.contains("100 %"), "{error}");
    let place = Path::new(&folder).join("cdn").display().to_string();
    assert!(error.contains(&place), "the place is missing: {error}");
    std::fs::write(&largest, right).expect("written");
    let output = run(&install, &[]);
    assert!(output.status.success() && text(&output.stderr).contains("100 %"), "{}", text(&output.stderr));
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let list = if entry.path().is_dir() { &mut folders } else { &mut found };
            list.push(entry.path());
        }
    }
    found
}

#[test]
fn an_unpublished_world_is_named_with_the_place_where_it_was_looked_for() {
    let scratch = TempFolder::new("unpublished");
    let folder = inside(&scratch, "data");
    let id = "0123456789abcdef0123456789abcdef";
    let cdn = Path::new(&folder).join("cdn").display().to_string();
    for arguments in [
        &["worlds", "install", id, "--data-dir", &folder][..],
        &["worlds", "rename", id, "New name", "--data-dir", &folder],
        &["worlds", "access", id, "public", "--data-dir", &folder],
    ] {
        let error = stderr_of_failure(arguments, &[]);
        assert!(error.contains("not published") && error.contains(&cdn), "{arguments:?}: {error}");
    }
    let program = Program::serve(&["--data-dir", &folder, "--cdn", "http://127.0.0.1:9/worlds"]);
    let error = stderr_of_failure(&["worlds", "install", id, "--data-dir", &folder], &[]);
    assert!(error.contains("http://127.0.0.1:9/worlds"), "{error}");
    drop(program);
}

#[test]
fn the_display_name_of_a_project_file_was_lost() {
    let scratch = TempFolder::new("display");
    let program = Program::serve(&["--data-dir", scratch.path(), "--world", "examples/projects/loop.json"]);
    let worlds = json_of(&program, "/sim/api/worlds");
    let own = worlds["worlds"].as_array().expect("a list").iter().find(|world| world["name"] == "loop");
    assert_eq!(own.expect("the world")["display"], "A plain loop");
}

#[test]
fn doctor_reports_every_check_with_a_remedy_and_fails_for_a_taken_port() {
    let scratch = TempFolder::new("doctor");
    let folder = inside(&scratch, "none");
    // The kernel assigns ports from its ephemeral range. So it assigns none of these lower ports to
    // another process.
    let taken = (20_000..32_000).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let taken = taken.expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = run(&["doctor", "--json", "--data-dir", &folder, "--listen", &address], &[]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((output.status.code(), &report["ok"]), (Some(1), &json!(false)));
    let checks = report["checks"].as_array().expect("a list");
    let found: Vec<&str> = checks.iter().filter_map(|check| check["name"].as_str()).collect();
    let expected = [
        "judge-python",
        "judge",
        "closed-box",
        "control-groups",
        "user-namespaces",
        "seccomp",
        "judge-internet",
        "virtual-time",
        "data-folder",
        "database",
        "disk",
        "port",
        "ros-multicast",
        "python",
        "ffmpeg",
    ];
    assert_eq!(found, expected);
    for check in checks {
        assert!(["ok", "warning", "failure"].contains(&check["status"].as_str().expect("a word")), "{check}");
        assert_eq!(check["remedy"].is_string(), check["status"] != "ok", "{check}");
        assert!(
            check["text"].as_str().is_some_and(|text| !text.is_empty() && !text.contains('\n')),
            "{check}"
        );
    }
    let port = checks.iter().find(|check| check["name"] == "port").expect("a check");
    assert_eq!(port["status"], "failure");
    drop(taken);
    let output = run(&["doctor", "--data-dir", &folder, "--listen", &address], &[]);
    let shown = text(&output.stdout);
    assert!(shown.contains(&format!("port             {address} is free")), "{shown}");
    let failures = shown.lines().filter(|line| line.starts_with("failure")).count();
    assert_eq!(output.status.code(), Some(i32::from(failures > 0)), "{shown}");
    assert_eq!(names(scratch.path()), [""; 0], "doctor creates nothing");
}

#[test]
fn doctor_finds_a_newer_and_an_empty_database() {
    let scratch = TempFolder::new("doctor-database");
    let file = inside(&scratch, "chicane.db");
    let check = |status: &str, says: &str| {
        let output = run(&["doctor", "--json", "--data-dir", scratch.path(), "--listen", "127.0.0.1:0"], &[]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let checks = report["checks"].as_array().expect("a list");
        let database = checks.iter().find(|check| check["name"] == "database").expect("a check");
        assert_eq!(database["status"], status, "{database}");
        assert!(database["text"].as_str().is_some_and(|text| text.contains(says)), "{database}");
    };
    drop(Data::open(Path::new(scratch.path())).expect("opens"));
    check("ok", "the version of this program");
    // Bytes 60 to 63 of an SQLite file are its `user_version`, which is the version of the
    // database.
    let mut bytes = std::fs::read(&file).expect("read");
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&file, bytes).expect("written");
    check("failure", "newer chicane (database version 99");
    std::fs::write(&file, "").expect("written");
    check("failure", "0 bytes");
    let error = stderr_of_failure(&["serve", "--listen", "127.0.0.1:0", "--data-dir", scratch.path()], &[]);
    assert!(error.contains("0 bytes") && error.contains("chicane restore"), "{error}");
}

#[test]
fn a_running_simulator_is_backed_up_and_restored() {
    let scratch = TempFolder::new("backup");
    let (folder, file) = (inside(&scratch, "data"), inside(&scratch, "x.backup"));
    let mut program = Program::serve(&["--data-dir", &folder]);
    let bright = |program: &Program, value: f64| {
        let body = json!({"value": value}).to_string();
        let answer = program.client().request("POST", "/sim/api/brightness", &[], body.as_bytes());
        assert_eq!(answer.status, 200);
    };
    bright(&program, 1.25);
    let id = stdout_of(&["publish", "examples/projects/loop.json", "--data-dir", &folder]).trim().to_owned();
    assert!(stdout_of(&["worlds", "install", &id, "--data-dir", &folder]).contains(&id));
    assert!(stdout_of(&["backup", &file, "--data-dir", &folder]).contains("made by chicane"));
    bright(&program, 0.5);
    let error = stderr_of_failure(&["backup", &file, "--data-dir", &folder], &[]);
    assert!(error.contains("exists already"), "{error}");
    let error = stderr_of_failure(&["restore", &file, "--data-dir", &folder, "--replace"], &[]);
    assert!(error.contains("in use by another chicane"), "{error}");
    program.kill();
    let error = stderr_of_failure(&["restore", &file, "--data-dir", &folder], &[]);
    assert!(error.contains("not empty") && error.contains("--replace"), "{error}");
    assert!(stdout_of(&["restore", &file, "--check"]).contains("is complete"));
    let said = stdout_of(&["restore", &file, "--data-dir", &folder, "--replace"]);
    assert!(said.contains("the old folder is "), "{said}");
    let program = Program::serve(&["--data-dir", &folder]);
    assert_eq!(json_of(&program, "/sim/api/brightness")["value"], 1.25);
    let worlds = stdout_of(&["worlds", "list", "--data-dir", &folder]);
    assert!(worlds.contains(&format!("custom_{id}")), "{worlds}");
    assert!(stdout_of(&["worlds", "list", "--published", "--data-dir", &folder]).contains(&id));
}

#[test]
fn serve_makes_backups_and_metrics_show_the_last_one() {
    let scratch = TempFolder::new("rolling");
    let (folder, backups) = (inside(&scratch, "data"), inside(&scratch, "backups"));
    let program = Program::serve(&["--data-dir", &folder, "--backup", &backups, "--backup-keep", "2"]);
    let deadline = Instant::now() + TIMEOUT;
    let metrics = || text(&program.client().get("/metrics").body);
    let made = loop {
        let made = names(&backups);
        if made.iter().all(|name| name.ends_with(".backup")) && !made.is_empty() {
            break made;
        }
        assert!(Instant::now() < deadline, "no backup: {}", metrics());
        std::thread::sleep(Duration::from_millis(10));
    };
    let metrics = metrics();
    assert!(made.len() == 1 && made[0].starts_with("chicane-2") && made[0].ends_with(".backup"), "{made:?}");
    let file = Path::new(&backups).join(&made[0]);
    assert!(stdout_of(&["restore", file.to_str().expect("UTF-8"), "--check"]).contains("is complete"));
    for line in [
        format!("chicane_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")),
        "chicane_healthy 1".to_owned(),
        "chicane_evaluations_active 0".to_owned(),
        "chicane_evaluations_total{outcome=\"finished\"} 0".to_owned(),
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in\n{metrics}");
    }
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name} in\n{metrics}")).parse().expect("a number")
    };
    assert!((1e6..1e10).contains(&value("process_resident_memory_bytes")));
    assert!(value("chicane_data_free_bytes") > 0.0);
    assert!(value("chicane_backup_timestamp_seconds") > 1.7e9);
}

#[test]
fn an_old_backup_was_not_noticed_after_a_restart() {
    let scratch = TempFolder::new("old-backup");
    let (folder, backups) = (inside(&scratch, "data"), inside(&scratch, "backups"));
    std::fs::create_dir(&backups).expect("a folder");
    let old =
        std::fs::File::create(Path::new(&backups).join("chicane-20260101T000000Z.backup")).expect("a file");
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    old.set_modified(an_hour_ago).expect("a time");
    let program = Program::serve(&["--data-dir", &folder, "--backup", &backups]);
    // The next backup is due in 23 hours, so the metric shows the time of the old backup.
    let seconds = an_hour_ago.duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_secs();
    let line = format!("chicane_backup_timestamp_seconds {seconds}");
    let deadline = Instant::now() + TIMEOUT;
    while !text(&program.client().get("/metrics").body).lines().any(|found| found == line) {
        assert!(Instant::now() < deadline, "{line} is missing");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_judge_that_disappeared_left_the_simulator_healthy() {
    let scratch = TempFolder::new("lost-judge");
    let real = chicane_session::root::folder().expect("a folder");
    let folder = inside(&scratch, "judge");
    std::fs::create_dir(&folder).expect("made");
    for name in ["root", "tools"] {
        std::os::unix::fs::symlink(real.join(name), Path::new(&folder).join(name)).expect("linked");
    }
    let (from, form) = (real.join("form"), Path::new(&folder).join("form"));
    std::fs::copy(&from, &form).expect("the judge is prepared");
    let data = inside(&scratch, "data");
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", &data];
    let program = Program::start(&arguments, &[("CHICANE_JUDGE_ROOT", &folder)]);
    let health = || json_of(&program, "/health");
    let until = |what: &str, path: &str, is_so: &dyn Fn(&Value) -> bool| {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let found = json_of(&program, path);
            if is_so(&found) {
                return found;
            }
            assert!(Instant::now() < deadline, "{what}: {found}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    // `/health` reports a lost judge only if the simulator had found a judge before. When a session
    // runs, a judge was found.
    let started = program.client().post("/sim/api/evaluation/start", "{}");
    assert_eq!(started.status, 200, "{}", started.text());
    let is_running = |state: &Value| state["evaluation"]["phase"] == "running";
    until("the session runs", "/sim/api/state", &is_running);
    assert_eq!(health()["status"], "ok");
    std::fs::remove_file(&form).expect("removed");
    let failing = until("the judge is lost", "/health", &|found| found["status"] == "failing");
    assert!(failing["reason"].as_str().is_some_and(|why| why.contains("chicane setup")), "{failing}");
    std::fs::copy(&from, &form).expect("copied");
    assert_eq!(health()["status"], "ok");
}
