//! An acknowledged submission survives a kill of the simulator, and is judged once.

use crate::support::{Contest, accepted, drives, get, result, table, until};
use serde_json::{Value, json};

fn counts(client: &mut chicane_testkit::http::Client) -> (usize, usize) {
    let records = get(client, "/evaluation/records?limit=100");
    let submissions = get(client, "/submissions");
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    (count(&records["records"]), count(&submissions["submissions"]))
}

#[test]
fn acknowledged_submissions_are_judged_once_after_a_kill() {
    let contest = Contest::new("killed");
    let mut program = contest.serve();
    let mut client = program.client();
    let receipts: Vec<Value> = (0..4)
        .map(|i| accepted(&mut client, &format!("Student {i}"), &drives(0.5 + 0.2 * f64::from(i))))
        .collect();
    program.kill();
    drop(program);
    // The second simulator is killed after the first result.
    let mut program = contest.serve();
    let mut client = program.client();
    until("a result", || {
        let board = get(&mut client, "/leaderboard");
        (!table(&board).is_empty()).then_some(board)
    });
    program.kill();
    drop(program);
    let program = contest.serve();
    let mut client = program.client();
    for receipt in &receipts {
        let done = result(&mut client, receipt);
        assert_eq!(
            (&done["state"], done["results"].as_array().map(Vec::len)),
            (&json!("done"), Some(1)),
            "{done}"
        );
    }
    let board = get(&mut client, "/leaderboard");
    let names: Vec<String> = table(&board).into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["Student 3", "Student 2", "Student 1", "Student 0"]);
    let rows = board["tables"][0]["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["runs"] == 1), "{board}");
    assert_eq!(counts(&mut client), (4, 4), "nothing was judged twice");
    drop(program);

    // A restart keeps the tables, and judges nothing again.
    let program = contest.serve();
    let mut client = program.client();
    let again = get(&mut client, "/leaderboard");
    assert_eq!((&again["tables"], &again["changes"]), (&board["tables"], &board["changes"]));
    assert_eq!(counts(&mut client), (4, 4));
}

#[test]
fn a_contest_with_another_seed_has_a_table_of_its_own() {
    let contest = Contest::new("seed");
    {
        let program = contest.serve();
        let mut client = program.client();
        let received = accepted(&mut client, "Ada", &drives(0.5));
        result(&mut client, &received);
        assert_eq!(table(&get(&mut client, "/leaderboard")).len(), 1);
    }
    let contest = contest.with(&["--leaderboard-seed", "5"]);
    let program = contest.serve();
    assert_eq!(table(&get(&mut program.client(), "/leaderboard")).len(), 0);
}

#[test]
fn a_stop_ends_the_run_in_progress_at_once() {
    let contest = Contest::new("stop");
    let mut program = contest.serve();
    let mut client = program.client();
    let received = accepted(&mut client, "Ada", "while True: pass\n");
    until("a running submission", || {
        let board = get(&mut client, "/leaderboard");
        board["queue"]["running"].is_object().then_some(board)
    });
    program.signal("-TERM");
    let code = program.wait(std::time::Duration::from_secs(20));
    assert_eq!(code, Some(0), "the simulator stops although a program runs");
    let id = received["id"].as_str().expect("an id");
    let program = contest.serve();
    let state = get(&mut program.client(), &format!("/submissions/{id}"));
    assert!(matches!(state["state"].as_str(), Some("waiting" | "running")), "{state}");
}
