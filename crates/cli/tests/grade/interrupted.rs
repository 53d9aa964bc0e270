//! A grading can be continued after its process, or the process of a unit, was killed or
//! interrupted. The user starts the same command again, which runs only the units without a result.

use crate::support::{KillOnDrop, TempFolder, chicane, command, text, until};
use crate::{json, read, sessions, waiting_class};
use std::path::Path;
use std::process::{Child, Output, Stdio};

const STUDENTS: [&str; 2] = ["ada", "bo"];
/// Number of units: two students with two seeds each.
const UNITS: usize = 4;

fn arguments<'a>(class: &'a str, results: &'a str) -> Vec<&'a str> {
    let world = ["--world", "oval", "--seeds", "1-2", "--time-limit", "2", "-j", "1"];
    [&["grade", class, "-o", results][..], &world].concat()
}

fn start(class: &str, results: &str) -> KillOnDrop {
    let mut grade = command(&arguments(class, results));
    KillOnDrop(grade.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started"))
}

/// The processes of units that store their results in this folder.
fn units_of(results: &str) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let found = all.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.starts_with("chicane grade-unit") && line.contains(results)).then_some(pid)
    });
    found.collect()
}

fn signal(pid: i32, signal: &str) {
    let sent = std::process::Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(sent.expect("started").success());
}

fn assert_done(output: &Output, results: &str) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(json(results, "grades.json")["not_judged"], 0, "{output:?}");
    assert_eq!(sessions(results).len(), UNITS);
}

#[test]
fn a_killed_grading_continues_and_does_nothing_twice() {
    let scratch = TempFolder::new("grade-killed");
    let class = waiting_class(&scratch, &STUDENTS);
    let (results, whole) = (scratch.path("results"), scratch.path("whole"));
    assert_done(&chicane(&arguments(&class, &whole)), &whole);
    let mut before = sessions(&results);
    // The process is killed three times: when the first, the second and the third result exist.
    for finished in 1..UNITS {
        let mut grade = start(&class, &results);
        until("a result", || (sessions(&results).len() >= finished).then_some(()));
        grade.0.kill().expect("killed");
        grade.0.wait().expect("waited");
        until("the end of the units", || units_of(&results).is_empty().then_some(()));
        let now = sessions(&results);
        assert!(before.iter().all(|(hash, session)| now.get(hash) == Some(session)), "a unit ran twice");
        before = now;
    }
    let output = chicane(&arguments(&class, &results));
    assert_done(&output, &results);
    assert!(
        text(&output.stdout).contains(&format!("kept      {} runs of {UNITS}", before.len())),
        "{output:?}"
    );
    let now = sessions(&results);
    assert!(before.iter().all(|(hash, session)| now.get(hash) == Some(session)), "a unit ran twice");
    for name in ["grades.json", "report.html"] {
        assert_eq!(read(&results, name), read(&whole, name), "{name} of an interrupted run differs");
    }
    // The next start removes the incomplete folders of killed units.
    assert_eq!(chicane(&arguments(&class, &results)).status.code(), Some(0));
    let left = std::fs::read_dir(Path::new(&results).join("cache")).expect("a folder").flatten();
    let left: Vec<String> = left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(left.len(), UNITS, "{left:?}");
}

#[test]
fn a_unit_whose_process_is_killed_runs_again() {
    let scratch = TempFolder::new("unit-killed");
    let class = waiting_class(&scratch, &STUDENTS);
    let results = scratch.path("results");
    // In virtual time, a unit could be over before it is killed.
    let in_real_time = [&arguments(&class, &results)[..], &["--pace", "real"]].concat();
    let mut grade = command(&in_real_time);
    let grade = grade.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let unit = until("a unit", || units_of(&results).first().copied());
    signal(unit, "-KILL");
    let output = grade.wait_with_output().expect("waited");
    assert_done(&output, &results);
    assert!(
        text(&output.stderr).contains("again     ada/oval/1: the process ended with signal: 9"),
        "{output:?}"
    );
}

#[test]
fn a_report_made_again_forgot_why_a_unit_was_not_judged() {
    let scratch = TempFolder::new("unit-given-up");
    let class = waiting_class(&scratch, &["ada"]);
    let results = scratch.path("results");
    let world = ["--world", "oval", "--seeds", "1", "--time-limit", "30"];
    // In virtual time, a unit could be over before it is killed.
    let in_real_time = [&["grade", &class, "-o", &results, "--pace", "real"], &world[..]].concat();
    let grade =
        command(&in_real_time).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut killed = Vec::new();
    for _ in 0..chicane_grade::runner::ATTEMPTS {
        let unit = until("a unit", || units_of(&results).into_iter().find(|pid| !killed.contains(pid)));
        signal(unit, "-KILL");
        killed.push(unit);
    }
    let output = grade.wait_with_output().expect("waited");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let (grades, report) = (read(&results, "grades.json"), read(&results, "report.html"));
    assert!(report.contains("signal: 9"), "the report does not name the reason");
    assert_eq!(chicane(&["report", &results]).status.code(), Some(0));
    assert!(read(&results, "grades.json") == grades, "the grades changed");
    assert!(read(&results, "report.html") == report, "the report changed");
}

/// Starts a grading, and stops its process (SIGSTOP) while some units have a result and others have
/// none. The stopped process starts no further unit, but the unit that runs may still store its
/// result.
fn stopped_halfway(class: &str, results: &str) -> Child {
    for _ in 0..4 {
        let mut grade = command(&arguments(class, results));
        let grade = grade.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        until("a result", || (!sessions(results).is_empty()).then_some(()));
        signal(grade.id().cast_signed(), "-STOP");
        if sessions(results).len() < UNITS - 1 {
            return grade;
        }
        // A busy machine stopped the process too late, so the grading starts again.
        drop(KillOnDrop(grade));
        until("the end of the units", || units_of(results).is_empty().then_some(()));
        std::fs::remove_dir_all(results).expect("removed");
    }
    panic!("the process was stopped too late each time");
}

#[test]
fn ctrl_c_leaves_a_folder_that_continues_and_a_second_grading_is_refused() {
    let scratch = TempFolder::new("grade-stopped");
    let class = waiting_class(&scratch, &STUDENTS);
    let results = scratch.path("results");
    let grade = stopped_halfway(&class, &results);
    let refused = [chicane(&arguments(&class, &results)), chicane(&["report", &results])];
    signal(grade.id().cast_signed(), "-INT");
    signal(grade.id().cast_signed(), "-CONT");
    for second in refused {
        assert_eq!(second.status.code(), Some(1), "{second:?}");
        assert!(text(&second.stderr).contains("another chicane grade or report uses"), "{second:?}");
    }
    let output = grade.wait_with_output().expect("waited");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("The same command continues"), "{output:?}");
    assert!(units_of(&results).is_empty());
    let before = sessions(&results);
    assert!((1..UNITS).contains(&before.len()), "{before:?}");
    assert_done(&chicane(&arguments(&class, &results)), &results);
    let now = sessions(&results);
    assert!(before.iter().all(|(hash, session)| now.get(hash) == Some(session)), "a unit ran twice");

    // If one submission has changed, only its own units run again.
    scratch.file("class/bo/main.py", "print('changed')\n");
    assert_eq!(chicane(&arguments(&class, &results)).status.code(), Some(0));
    let changed = sessions(&results);
    assert_eq!(changed.len(), UNITS + 2, "{changed:?}");
    assert!(now.iter().all(|(hash, session)| changed.get(hash) == Some(session)), "a unit ran twice");
    assert_eq!(std::fs::read_dir(Path::new(&results).join("runs/bo")).expect("a folder").count(), 2);
}
