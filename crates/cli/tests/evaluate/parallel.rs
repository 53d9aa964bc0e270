//! Evaluations that share a data folder with each other and with a simulator.

use crate::support::{KillOnDrop, TempFolder, chicane, command, records, root, text, until};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// The arguments of an evaluation that ends with a timeout after one simulated second.
fn timeout(data: &str) -> Vec<String> {
    let arguments = ["evaluate", "--world", "oval", "--time-limit", "1", "--speed", "0", "--data-dir", data];
    arguments.map(str::to_owned).to_vec()
}

fn run(arguments: &[String]) -> std::process::Output {
    chicane(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Regression test: a second evaluation was refused because the data folder was in use.
#[test]
fn eight_evaluations_share_a_new_data_folder() {
    let scratch = TempFolder::new("parallel");
    let data = scratch.path("new/data");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let output = run(&timeout(&data));
                assert_eq!(output.status.code(), Some(2), "{output:?}");
                assert!(text(&output.stdout).contains("stored    session "), "{output:?}");
            });
        }
    });
    let records = records(&data);
    let mut sessions: Vec<&str> = records.iter().filter_map(|record| record["session"].as_str()).collect();
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), 8, "{records:?}");
    for record in &records {
        assert_eq!(record["outcome"], "timeout", "{record}");
        let events = record["events"].as_array().expect("events");
        assert_eq!(events.last().map(|event| &event["kind"]), Some(&"end".into()), "{record}");
    }
}

#[test]
fn an_evaluation_is_stored_in_the_data_folder_of_a_running_simulator() {
    let scratch = TempFolder::new("served");
    let data = scratch.path("data");
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--data-dir", &data]);
    let mut serve = KillOnDrop(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started"));
    let mut ready = String::new();
    BufReader::new(serve.0.stdout.take().expect("output")).read_line(&mut ready).expect("a line");
    let address = ready.strip_prefix("chicane is ready: http://").and_then(|rest| rest.split('/').next());
    let mut client = chicane_testkit::http::Client::new(address.expect("ready").parse().expect("an address"));
    assert_eq!(run(&timeout(&data)).status.code(), Some(2));
    let listed: Value =
        serde_json::from_slice(&client.get("/sim/api/evaluation/records").body).expect("JSON");
    assert_eq!(listed["records"][0]["outcome"], "timeout", "{listed}");
}

/// The arguments of an evaluation whose program sleeps. The evaluation runs in real time, because
/// in virtual time it would reach its time limit at once.
fn sleeping<'a>(workspace: &'a str, data: &'a str) -> Vec<&'a str> {
    let program = ["--workspace", workspace, "--command", "sleep 1000", "--pace", "real"];
    [&["evaluate", "--world", "oval", "--data-dir", data][..], &program].concat()
}

#[test]
fn a_killed_evaluation_loses_only_its_own_session() {
    let scratch = TempFolder::new("killed");
    let data = scratch.path("data");
    let log = scratch.path("log");
    let workspace = scratch.workspace("x", "");
    let mut killed = command(&sleeping(&workspace, &data));
    let errors = std::fs::File::create(&log).expect("a file");
    // The killed evaluation leaves its temporary folder behind. The folder is created in `scratch`,
    // so that it is removed with `scratch`.
    killed.env("TMPDIR", &scratch.0);
    let mut killed = KillOnDrop(killed.stdout(Stdio::null()).stderr(errors).spawn().expect("started"));
    until("a running session", || {
        std::fs::read_to_string(&log).expect("a log").contains("running").then_some(())
    });
    assert_eq!(run(&timeout(&data)).status.code(), Some(2));
    killed.0.kill().expect("killed");
    killed.0.wait().expect("ended");
    assert_eq!(run(&timeout(&data)).status.code(), Some(2));
    assert_eq!(records(&data).len(), 2);
}

/// Regression test: SIGTERM ended the program at once, and the record was lost.
#[test]
fn a_terminated_evaluation_keeps_its_record() {
    let scratch = TempFolder::new("terminated");
    let (data, log) = (scratch.path("data"), scratch.path("log"));
    let workspace = scratch.workspace("x", "");
    let mut ended = command(&sleeping(&workspace, &data));
    let errors = std::fs::File::create(&log).expect("a file");
    let mut ended = KillOnDrop(ended.stdout(Stdio::null()).stderr(errors).spawn().expect("started"));
    until("a running session", || {
        std::fs::read_to_string(&log).expect("a log").contains("running").then_some(())
    });
    let pid = rustix::process::Pid::from_child(&ended.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("terminated");
    assert_eq!(ended.0.wait().expect("ended").code(), Some(4));
    assert_eq!(records(&data)[0]["reason"], "stopped on request");
}

#[test]
fn a_record_that_was_acknowledged_survives_a_kill() {
    let scratch = TempFolder::new("acknowledged");
    let data = scratch.path("data");
    let arguments = timeout(&data);
    let mut child = command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let log = scratch.path("log");
    let errors = std::fs::File::create(&log).expect("a file");
    child.env("TMPDIR", &scratch.0);
    let mut child = KillOnDrop(child.stdout(Stdio::piped()).stderr(errors).spawn().expect("started"));
    let mut lines = BufReader::new(child.0.stdout.take().expect("output")).lines().map_while(Result::ok);
    let stored = lines.find(|line| line.starts_with("stored    session "));
    let stored = stored.unwrap_or_else(|| panic!("{}", std::fs::read_to_string(&log).expect("a log")));
    child.0.kill().expect("killed");
    let session = stored.split(' ').nth(5).expect("an id").to_owned();
    assert_eq!(records(&data)[0]["session"], session.as_str());
}

/// Regression test: `evaluate` and `lap` did not find the worlds that are installed in a data
/// folder.
#[test]
fn installed_worlds_could_not_be_evaluated_or_driven() {
    let scratch = TempFolder::new("installed");
    let data = scratch.path("data");
    let project = root().join("examples/projects/loop.json");
    let published = chicane(&["publish", project.to_str().expect("UTF-8"), "--data-dir", &data]);
    let id = text(&published.stdout).trim().to_owned();
    let missing = chicane(&["lap", &id, "--data-dir", &data]);
    assert_eq!(missing.status.code(), Some(64), "{missing:?}");
    assert!(text(&missing.stderr).contains(&format!("Install it with `chicane worlds install {id}`")));
    assert!(chicane(&["worlds", "install", &id, "--data-dir", &data]).status.success());
    let name = format!("custom_{id}");
    for given in [&id, &name, &format!("{name}.world")] {
        let lap = chicane(&["lap", given, "--data-dir", &data]);
        assert!(lap.status.success() && text(&lap.stdout).contains("a lap of"), "{given}: {lap:?}");
        let arguments =
            ["evaluate", "--world", given, "--time-limit", "1", "--speed", "0", "--data-dir", &data];
        let output = chicane(&arguments);
        assert_eq!(output.status.code(), Some(2), "{given}: {output:?}");
    }
    let lap = command(&["lap", &id]).env("CHICANE_DATA_DIR", &data).output().expect("started");
    assert!(lap.status.success(), "{lap:?}");
    let records = records(&data);
    assert_eq!(records.len(), 3);
    for record in &records {
        assert_eq!((&record["world_id"], &record["world"]), (&id.as_str().into(), &name.as_str().into()));
        assert!(record["rev"].is_string() && record["world_sha256"].is_string(), "{record}");
    }
}

#[test]
fn the_table_of_records_names_student_program_and_version() {
    let scratch = TempFolder::new("table");
    let data = scratch.path("data");
    let project = scratch.project(
        "def evaluate(sim):\n    sim.record(23.580000000000002)\n    \
                                   if sim.state.run.exit_code is not None:\n        sim.finish()\n",
    );
    let workspace = scratch.workspace("x", "");
    let arguments = ["evaluate", "--world", &project, "--workspace", &workspace, "--command", "exit 3"];
    let output = chicane(&[&arguments[..], &["--student", "Ada, B", "--data-dir", &data]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let table = text(&chicane(&["records", "export", "--csv", "--data-dir", &data]).stdout);
    let (head, row) = table.trim_end().split_once('\n').expect("two lines");
    let head: Vec<&str> = head.split(',').collect();
    // The name in quotation marks contains a comma, so it is replaced before the row is split.
    let row = row.replace("\"Ada, B\"", "Ada");
    let row: Vec<&str> = row.split(',').collect();
    assert_eq!(head.len(), row.len(), "{table}");
    let cell = |name: &str| row[head.iter().position(|column| *column == name).expect("a column")];
    let record = &records(&data)[0];
    for (column, expected) in [
        ("student", "Ada"),
        ("record", "23.58"),
        ("box", record["box"].as_str().expect("a box")),
        ("pace", record["pace"].as_str().expect("a pace")),
        ("program_sha256", record["program"]["sha256"].as_str().unwrap_or_default()),
        ("interference", "0"),
        ("refused", "0"),
        ("exit_code", "3"),
        ("signal", ""),
        ("oom", "false"),
        ("version", env!("CARGO_PKG_VERSION")),
    ] {
        assert_eq!(cell(column), expected, "{column}: {table}");
    }
}
