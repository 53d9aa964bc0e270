//! A class of six, from the uploads to the report.

use crate::support::{TempFolder, chicane, root, text};
use crate::{json, read, student};
use std::process::Command;

fn six(scratch: &TempFolder) -> (String, String) {
    let (class, roster) = (scratch.path("class"), scratch.path("roster.csv"));
    let maker = root().join("crates/cli/tests/grade/make_class.py");
    let made = Command::new("python3").arg(maker).args([&class, "--six", "--roster", &roster]).status();
    assert!(made.expect("started").success());
    (class, roster)
}

#[test]
fn six_submissions_become_grades_and_a_report() {
    let scratch = TempFolder::new("six");
    let (class, roster) = six(&scratch);
    let grade = |results: &str, jobs: &str| {
        let class = ["grade", &class, "--roster", &roster, "--world", "oval", "--seeds", "1"];
        chicane(
            &[&class[..], &["--points", "60:100", "--late-penalty", "10", "-o", results, "-j", jobs]]
                .concat(),
        )
    };
    let two = scratch.path("two");
    let output = grade(&two, "2");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("class     6 students, 1 worlds, 1 seeds: 4 runs"), "{output:?}");

    let grades = json(&two, "grades.json");
    let expect = |name: &str, grade: f64, rank: Option<u64>, says: &str| {
        let student = student(&grades, name);
        assert_eq!(student["grade"].as_f64(), Some(grade), "{student}");
        assert_eq!(student["rank"].as_u64(), rank, "{student}");
        assert!(student.to_string().contains(says), "{says}: {student}");
    };
    expect("Ada Lovelace", 100.0, Some(1), "\"verdict\":\"finished\"");
    expect("Hopper, Grace", 90.0, Some(2), "\"late\":true");
    expect("=Crash & Co <b>", 0.0, None, "the program exited with status 1");
    expect("李雷", 0.0, None, "\"refused\":3");
    expect("No Program", 0.0, None, "no program: the submission has neither run.toml nor main.py");
    expect("Zip Bomb", 0.0, None, "so it is a zip bomb");

    assert_same_with_another_number_of_jobs(&scratch, &two, &grade);
    assert_tables(&two);
    assert_report(&two);
    let verified = chicane(&["verify", &format!("{two}/runs")]);
    assert!(verified.status.success(), "{verified:?}");
    assert_eq!(text(&verified.stdout).matches("verified ").count(), 4, "{verified:?}");
}

fn assert_same_with_another_number_of_jobs(
    scratch: &TempFolder,
    two: &str,
    grade: &dyn Fn(&str, &str) -> std::process::Output,
) {
    let one = scratch.path("one");
    let output = grade(&one, "1");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for name in
        ["plan.json", "grades.json", "grades.csv", "moodle.csv", "canvas.csv", "junit.xml", "report.html"]
    {
        assert_eq!(read(&one, name), read(two, name), "{name} depends on the number of jobs");
    }
    let report = read(&one, "report.html");
    std::fs::remove_file(format!("{one}/report.html")).expect("removed");
    let again = chicane(&["report", &one]);
    assert!(again.status.success(), "{again:?}");
    assert_eq!(read(&one, "report.html"), report);
}

fn assert_tables(results: &str) {
    let table = read(results, "grades.csv");
    let head = "Identifier,Full name,Email address,Section,student,student_id,rank,grade,status,problem,";
    assert!(table.starts_with(head), "{table}");
    for name in ["grades.csv", "moodle.csv", "canvas.csv"] {
        let table = read(results, name);
        let cells = table.lines().flat_map(|line| line.split(','));
        let formula = cells.map(|cell| cell.trim_matches('"')).find(|cell| cell.starts_with(['=', '+', '@']));
        assert_eq!(formula, None, "{name}: {table}");
    }
    let moodle = read(results, "moodle.csv");
    assert!(moodle.contains("Participant 101,Ada Lovelace,ada@example.org,100,100,"), "{moodle}");
    let canvas = read(results, "canvas.csv");
    assert!(canvas.contains("Student,ID,SIS User ID,SIS Login ID,Section,Chicane\n"), "{canvas}");
    assert!(canvas.contains("\"Hopper, Grace\",102,,,A,90\n"), "{canvas}");
    let gradescope = json(results, "gradescope/ada-lovelace/results.json");
    assert_eq!(gradescope["score"], 100.0);
    assert_eq!(gradescope["leaderboard"][1]["order"], "asc", "{gradescope}");
    let junit = read(results, "junit.xml");
    assert!(junit.contains("name=\"=Crash &amp; Co &lt;b&gt;\" tests=\"1\" failures=\"1\""), "{junit}");
}

fn assert_report(results: &str) {
    let report = read(results, "report.html");
    for word in ["http:", "https:", "//", "<script", "src=", "url(", "@import", "javascript:"] {
        assert!(!report.contains(word), "the report has {word}");
    }
    // The report escapes the names and the output of students, so markup in them has no effect.
    assert!(report.contains("&lt;script&gt;alert(&#39;report&#39;)&lt;/script&gt;"), "the output is missing");
    assert!(report.contains("=Crash &amp; Co &lt;b&gt;"));
    assert!(!report.contains(['\u{1b}', '\u{202e}']));
    assert!(report.contains("<svg class=\"map\""), "there is no map");
    assert!(report.contains("chicane replay runs/ada-lovelace/oval-seed-1.chicane"));
    for line in ["≤ 60: 100", "A late submission loses 10 points.", "No Program", "zip bomb"] {
        assert!(report.contains(line), "{line}");
    }
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let grades = read(results, "grades.json");
    assert!(machine.trim().len() < 3 || !grades.contains(machine.trim()), "the grades name the machine");
    assert!(!grades.contains("started_at") && !grades.contains("\"session\""), "{grades}");
}
