//! What students hand in: file names that learning platforms choose, archives of all kinds, lists
//! and rosters. Only plans are made, so no program runs.

use crate::support::{TempFolder, chicane, root, text};
use crate::{json, student};
use serde_json::Value;
use std::process::Command;

fn plan(scratch: &TempFolder, submissions: &str, more: &[&str]) -> Value {
    let results = scratch.path("results");
    let fixed =
        ["grade", submissions, "--world", "oval", "--world", "technical", "--plan-only", "-o", &results];
    let output = chicane(&[&fixed[..], more].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    json(&results, "plan.json")
}

#[test]
fn every_submission_of_thirty_is_a_row() {
    let scratch = TempFolder::new("thirty");
    let (class, roster) = (scratch.path("class"), scratch.path("roster.csv"));
    let maker = root().join("crates/cli/tests/grade/make_class.py");
    let made = Command::new("python3").arg(maker).args([&class, "--roster", &roster]).status();
    assert!(made.expect("started").success());
    let plan_of = |submissions: &str| plan(&scratch, submissions, &["--roster", &roster]);
    let from_folder = plan_of(&class);
    for (name, problem) in [
        ("Ada Lovelace", None),
        ("Hopper, Grace", None),
        ("Émilie du Châtelet", None),
        ("محمد الخوارزمي", None),
        ("noetheremmy", None),
        ("barbara liskov", None),
        ("Zip Bomb", Some("zip bomb")),
        ("Broken Zip", Some("the zip file is broken")),
        ("Zip Slip", Some("unsafe name \"../../evil.py\"")),
        ("Link Out", Some("the symbolic link data.txt leads out of the submission")),
        ("Bad Toml", Some("run.toml: it is not TOML")),
        ("No Program", Some("no program")),
        ("same name", Some("two submissions have the name")),
        ("Same Name", Some("two submissions have the name")),
        ("Absent Student", Some("no submission")),
    ] {
        let student = student(&from_folder, name);
        match (student["problem"].as_str(), problem) {
            (None, None) => assert!(student["program"]["sha256"].is_string(), "{student}"),
            (Some(found), Some(wanted)) => assert!(found.contains(wanted), "{name}: {found}"),
            _ => panic!("{name}: {student}"),
        }
    }
    let graded = from_folder["students"].as_array().expect("a list").iter();
    let graded = graded.filter(|student| student["program"].is_object()).count();
    assert_eq!(from_folder["units"].as_array().expect("a list").len(), graded * 2 * 3);
    assert!(!scratch.0.join("evil.py").exists() && !scratch.0.join("results/evil.py").exists());

    // If the same class is handed in as one archive, the plan has the same programs.
    let archive = scratch.path("all.zip");
    let zipped = Command::new("python3")
        .args([
            "-c",
            "import shutil, sys; shutil.make_archive(sys.argv[1][:-4], 'zip', sys.argv[2])",
            &archive,
            &class,
        ])
        .status();
    assert!(zipped.expect("started").success());
    let from_archive = plan_of(&archive);
    let hash = |plan: &Value, name: &str| student(plan, name)["program"]["sha256"].clone();
    for name in ["Ada Lovelace", "barbara liskov", "Émilie du Châtelet"] {
        assert_eq!(hash(&from_archive, name), hash(&from_folder, name), "{name}");
    }
}

#[test]
fn a_list_names_submissions_and_a_changed_one_changes_only_its_units() {
    let scratch = TempFolder::new("list");
    scratch.file("a/main.py", "print('a')");
    scratch.file("b.py", "print('b')");
    let list = scratch.file("list.csv", "name;path;id\nAda;a;1\nBo;b.py;2\nCy;missing;3\n");
    let first = plan(&scratch, &list, &["--seeds", "4,7"]);
    assert_eq!(student(&first, "Bo")["program"]["command"], "python3 main.py");
    assert_eq!(student(&first, "Cy")["problem"], "the list names missing, which does not exist");
    assert_eq!(first["units"].as_array().expect("a list").len(), 2 * 2 * 2);
    let again = plan(&scratch, &list, &["--seeds", "4,7"]);
    assert_eq!(first, again);
    scratch.file("b.py", "print('changed')");
    let changed = plan(&scratch, &list, &["--seeds", "4,7"]);
    for (before, after) in
        first["units"].as_array().expect("a list").iter().zip(changed["units"].as_array().expect("a list"))
    {
        assert_eq!(before["id"], after["id"]);
        assert_eq!(before["hash"] == after["hash"], before["student"] == "ada", "{before} {after}");
    }
}

#[test]
fn wrong_command_lines_say_what_would_be_right() {
    let scratch = TempFolder::new("usage");
    scratch.file("class/ada/main.py", "print(1)");
    scratch.file("foreign/file.txt", "not a folder of results");
    scratch.file("empty/readme.txt", "nothing");
    let class = scratch.path("class");
    let (inside, foreign, results) =
        (scratch.path("class/results"), scratch.path("foreign"), scratch.path("r"));
    for (arguments, says) in [
        (vec![&class[..], "--world", "nowhere", "-o", &results], "Unknown world \"nowhere\""),
        (vec![&class, "--world", "oval", "--world", "oval", "-o", &results], "Give each world once"),
        (vec![&class, "--world", "oval", "-o", &inside], "would be taken for a submission"),
        (vec![&class, "--world", "oval", "-o", &foreign], "choose a new or empty folder"),
        (vec![&class, "--world", "oval", "-o", &results, "--seeds", "3-1"], "such as 1-3"),
        (vec![&class, "--world", "oval", "-o", &results, "--points", "30"], "such as 30:100,45:60,60:0"),
        (
            vec![&class, "--world", "oval", "-o", &results, "--points", "town=30:100"],
            "there is no world town",
        ),
        (vec![&class, "--world", "oval", "-o", &results, "--max-grade", "0"], "a number from 1 to 10000"),
        (vec!["nothing", "--world", "oval", "-o", &results], "can't read nothing"),
    ] {
        let output = chicane(&[&["grade"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(64), "{arguments:?}: {output:?}");
        assert!(text(&output.stderr).contains(says), "{says}: {output:?}");
    }
    let empty = chicane(&[
        "grade",
        &scratch.path("empty"),
        "--world",
        "oval",
        "-o",
        &scratch.path("e"),
        "--plan-only",
    ]);
    assert!(text(&empty.stderr).contains("has no submission"), "{empty:?}");
    let report = chicane(&["report", &foreign]);
    assert_eq!(report.status.code(), Some(64), "{report:?}");
    assert!(text(&report.stderr).contains("has no plan.json"), "{report:?}");
}
