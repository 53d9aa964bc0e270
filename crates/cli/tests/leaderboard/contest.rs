//! A contest from the first submission to the table, over the web API and on the command line.

use crate::program::command;
use crate::support::{Contest, accepted, drives, get, hand_in, result, table, until, zipped};
use chicane_testkit::http::Client;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Output;

#[test]
fn the_best_verified_run_of_each_student_is_in_the_table() {
    let contest = Contest::new("table");
    let program = contest.serve();
    let mut client = program.client();
    let empty = get(&mut client, "/leaderboard");
    assert_eq!(empty["worlds"], json!(["dash"]));
    assert_eq!(empty["tables"][0]["better"], "higher");
    assert_eq!(empty["queue"], json!({"waiting": 0, "running": null}));

    let slow = accepted(&mut client, "Ada", &drives(0.5));
    let fast =
        hand_in(&mut client, "Bob", "application/zip", &zipped(&[("race/main.py", drives(1.5).as_bytes())]));
    assert_eq!(fast.status, 202, "{}", fast.text());
    let crash = accepted(&mut client, "Eve", "print('here')\nraise SystemExit('no fuel')\n");
    let slow = result(&mut client, &slow);
    assert_eq!((&slow["state"], &slow["shown_as"]), (&json!("done"), &json!("Ada")));
    let run = &slow["results"][0];
    assert_eq!(
        (&run["verdict"], &run["world"], &run["rank"]),
        (&json!("finished"), &json!("dash"), &json!(1))
    );
    assert!(run["record"].as_f64().is_some_and(|metres| metres > 0.2), "{run}");
    let fast = result(&mut client, &serde_json::from_slice(&fast.body).expect("JSON"));
    assert_eq!(fast["results"][0]["rank"], 1, "{fast}");
    let crash = result(&mut client, &crash);
    let run = &crash["results"][0];
    assert_eq!((&run["verdict"], &run["rank"]), (&json!("failed"), &Value::Null), "{run}");
    assert!(run["reason"].as_str().is_some_and(|line| line.contains("exited with status 1")), "{run}");
    assert_eq!(run["output_tail"], json!(["here", "no fuel"]));

    // The student Ada hands in again, with another spelling of her name and a worse run. Her best
    // run stays in the table.
    let worse = accepted(&mut client, " ADA ", &drives(0.3));
    let worse = result(&mut client, &worse);
    assert_eq!((&worse["shown_as"], &worse["results"][0]["rank"]), (&json!("Ada"), &Value::Null));
    let board = get(&mut client, "/leaderboard");
    let rows = table(&board);
    assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["Bob", "Ada"], "{board}");
    assert!(rows[0].1 > rows[1].1, "{board}");
    assert_eq!(board["tables"][0]["rows"][1]["runs"], 2);
    let changes = board["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 2, "{board}");
    assert_eq!((&changes[0]["student"], &changes[0]["rank"]), (&json!("Bob"), &json!(1)));

    // The best run of the leader can be replayed.
    let session = board["tables"][0]["rows"][0]["session"].as_str().expect("a session");
    let record = get(&mut client, &format!("/evaluation/record?session={session}"));
    assert_eq!(
        (&record["student"], &record["box"], &record["pace"]),
        (&json!("Bob"), &json!("closed"), &json!("virtual"))
    );
    let tracks = client.get(&format!("/sim/api/evaluation/replay?session={session}"));
    assert!(tracks.status == 200 && tracks.body.starts_with(b"CHTRACK1"), "{}", tracks.status);
    // The runs of the leaderboard are not sessions of the running simulator.
    assert_eq!(get(&mut client, "/evaluation/session"), json!({"active": false, "session": null}));
}

#[test]
fn the_running_simulator_is_not_disturbed() {
    let contest = Contest::new("undisturbed");
    let program = contest.serve();
    let mut client = program.client();
    let place = client.post("/sim/api/pose", &json!({"x": 2.0, "y": 2.0, "yaw": 1.0}).to_string());
    assert_eq!(place.status, 200, "{}", place.text());
    let before = get(&mut client, "/state");
    let received = accepted(&mut client, "Ada", &drives(1.0));
    result(&mut client, &received);
    let after = get(&mut client, "/state");
    for key in ["x", "y", "yaw"] {
        let of = |state: &Value| state["vehicle"][key].as_f64().expect("a number");
        assert!((of(&before) - of(&after)).abs() < 1e-3, "{key}: {before} {after}");
    }
    assert!(after["time"].as_f64() > before["time"].as_f64(), "the simulation went on");
}

#[test]
fn twenty_clients_at_once_are_all_judged_once() {
    let contest = Contest::new("twenty");
    let program = contest.serve();
    let address = program.address;
    let receipts: Vec<Value> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..20)
            .map(|i| {
                scope.spawn(move || {
                    let speed = 0.5 + 0.05 * f64::from(i);
                    accepted(&mut Client::new(address), &format!("Student {i}"), &drives(speed))
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().expect("accepted")).collect()
    });
    let ids: BTreeSet<&str> = receipts.iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids.len(), 20);
    assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit())));
    let mut client = program.client();
    // The simulator responds at once while submissions are being judged.
    let waiting = get(&mut client, "/leaderboard");
    assert!(waiting["queue"]["running"].is_object() || waiting["queue"]["waiting"] != 0, "{waiting}");
    let board = until("an empty queue", || {
        let board = get(&mut client, "/leaderboard");
        (board["queue"] == json!({"waiting": 0, "running": null})).then_some(board)
    });
    let rows = table(&board);
    assert_eq!(rows.len(), 20, "{board}");
    assert!(rows.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{board}");
    assert_eq!(rows[0].0, "Student 19");
    let records = get(&mut client, "/evaluation/records?limit=100");
    assert_eq!(records["records"].as_array().map(Vec::len), Some(20));
}

#[test]
fn a_student_has_to_wait_between_two_submissions() {
    let contest = Contest::new("rates").with(&["--leaderboard-interval", "600"]);
    let program = contest.serve();
    let mut client = program.client();
    accepted(&mut client, "Ada", &drives(0.5));
    let again = hand_in(&mut client, "aDA", "text/x-python", b"print(1)");
    assert_eq!(again.status, 429, "{}", again.text());
    let wait: u64 = again.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
    assert!((500..=600).contains(&wait), "{wait}");
    assert!(again.text().contains("too_many_submissions"), "{}", again.text());
    accepted(&mut client, "Bob", &drives(0.5));
}

fn submit(url: &str, arguments: &[&str]) -> Output {
    command(&[&["submit", "--url", url], arguments].concat(), &[]).output().expect("started")
}

#[test]
fn the_command_line_hands_in_a_folder_and_prints_the_result() {
    let contest = Contest::new("submit");
    let program = contest.serve();
    let url = format!("http://{}", program.address);
    let folder = contest.path("ada");
    for inner in ["", "/.git", "/__pycache__", "/env", "/tools"] {
        std::fs::create_dir_all(format!("{folder}{inner}")).expect("a folder");
    }
    // `chicane submit` must leave out these files. Otherwise the archive would be too large.
    for left_out in ["/.git/objects", "/__pycache__/main.pyc", "/env/library.so"] {
        let noise: Vec<u8> =
            (0..20_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        std::fs::write(format!("{folder}{left_out}"), noise).expect("written");
    }
    std::fs::write(format!("{folder}/env/pyvenv.cfg"), "").expect("written");
    std::fs::write(format!("{folder}/tools/drive.py"), drives(0.8)).expect("written");
    std::fs::write(format!("{folder}/run.toml"), "command = \"python3 tools/drive.py\"\n").expect("written");
    let output = submit(&url, &["--student", "Ada Lovelace", &folder]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.starts_with("handed in, receipt "), "{text}");
    assert!(text.contains("dash") && text.contains(", rank 1 of 1"), "{text}");

    let crash = contest.path("crash.py");
    std::fs::write(&crash, "print('oh')\n1 / 0\n").expect("written");
    let output = submit(&url, &["--student", "Bob", &crash]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.contains("exited with status 1") && text.contains("  │ ZeroDivisionError"), "{text}");

    let missing = contest.path("missing");
    for (arguments, code, says) in [
        (["--student", "=1+1", crash.as_str()], 1, "student must be a name"),
        (["--student", "Ada", missing.as_str()], 64, "can't read "),
        (["--student", "Ada", "Cargo.toml"], 64, "neither a folder, nor a Python file"),
    ] {
        let output = submit(&url, &arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{output:?}");
    }
}

#[test]
fn a_contest_can_have_several_worlds_and_a_seed() {
    let contest = Contest::new("worlds");
    let world = contest.path("dash.json");
    let options = [
        "--leaderboard-interval",
        "0",
        "--leaderboard-world",
        &world,
        "--leaderboard-world",
        "oval",
        "--leaderboard-seed",
        "7",
    ];
    let contest = contest.with(&options);
    let program = contest.serve();
    let mut client = program.client();
    // The program ends after two seconds, so the script of the oval ends without a result.
    let received = accepted(&mut client, "Ada", &drives(0.5));
    assert_eq!(received["worlds"], json!(["dash", "oval"]));
    let done = result(&mut client, &received);
    let verdicts: Vec<_> =
        done["results"].as_array().expect("results").iter().map(|run| &run["verdict"]).collect();
    assert_eq!(verdicts, ["finished", "failed"], "{done}");
    let session = done["results"][0]["session"].as_str().expect("a session");
    assert_eq!(get(&mut client, &format!("/evaluation/record?session={session}"))["seed"], 7);
    let board = get(&mut client, "/leaderboard");
    assert_eq!((table(&board).len(), &board["tables"][1]["rows"]), (1, &json!([])));
    assert_eq!(board["tables"][1]["display"], "Oval");
}
