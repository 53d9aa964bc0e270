//! Tokens, and anonymous tables.

use crate::support::{Contest, drives, get, hand_in, result, table};
use chicane_testkit::http::Client;
use serde_json::{Value, json};

#[test]
fn students_hand_in_and_only_the_teacher_sees_all_names() {
    let options = [
        "--token",
        "teacher-token-0001",
        "--student-token",
        "student-token-0001",
        "--spectator-token",
        "spectator-token-01",
        "--leaderboard-anonymous",
    ];
    let contest = Contest::new("roles").with(&options);
    let program = contest.serve();
    let with =
        |token: &str| Client::new(program.address).with_header("authorization", format!("Bearer {token}"));
    let (mut teacher, mut student) = (with("teacher-token-0001"), with("student-token-0001"));
    let mut spectator = with("spectator-token-01");
    let code = |client: &mut Client| hand_in(client, "Ada", "text/x-python", b"print(1)").status;
    assert_eq!(code(&mut Client::new(program.address)), 401);
    assert_eq!(code(&mut spectator), 403);
    let answer = hand_in(&mut student, "Ada Lovelace", "text/x-python", drives(0.5).as_bytes());
    assert_eq!(answer.status, 202, "{}", answer.text());
    let received: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let pseudonym = received["shown_as"].as_str().expect("a pseudonym").to_owned();
    assert_eq!(pseudonym.split(' ').count(), 2, "{pseudonym}");
    let done = result(&mut student, &received);
    assert_eq!((&done["student"], &done["shown_as"]), (&json!("Ada Lovelace"), &json!(pseudonym)));

    let board = get(&mut spectator, "/leaderboard");
    assert_eq!((&board["anonymous"], table(&board)[0].0.as_str()), (&json!(true), pseudonym.as_str()));
    for client in [&mut spectator, &mut student] {
        for path in ["/leaderboard", "/evaluation/records", "/evaluation/record"] {
            let text = get(client, path).to_string();
            assert!(!text.contains("Lovelace"), "{path}: {text}");
        }
        assert_eq!(client.get("/sim/api/submissions").status, 403);
    }
    // Students may replay the best run.
    let session = board["tables"][0]["rows"][0]["session"].as_str().expect("a session");
    assert_eq!(student.get(&format!("/sim/api/evaluation/replay?session={session}")).status, 200);
    let list = get(&mut teacher, "/submissions");
    assert_eq!(list["submissions"][0]["student"], "Ada Lovelace", "{list}");
    let id = received["id"].as_str().expect("an id");
    assert_eq!(student.delete(&format!("/sim/api/submissions/{id}")).status, 403);
    let removed = teacher.delete(&format!("/sim/api/submissions/{id}"));
    assert_eq!(removed.status, 200, "{}", removed.text());
    assert_eq!(table(&get(&mut teacher, "/leaderboard")), []);
    assert_eq!(teacher.delete(&format!("/sim/api/submissions/{id}")).status, 404);

    // A browser without a token gets the sign-in page, which returns to the leaderboard.
    let page =
        Client::new(program.address).request("GET", "/sim/leaderboard", &[("accept", "text/html")], b"");
    assert_eq!(page.status, 401);
    assert!(page.text().contains("action=\"/sim/leaderboard\""), "{}", page.text());
    let signed_in = Client::new(program.address).get("/sim/leaderboard?token=student-token-0001");
    assert_eq!((signed_in.status, signed_in.header("location")), (303, Some("/sim/leaderboard")));
}
