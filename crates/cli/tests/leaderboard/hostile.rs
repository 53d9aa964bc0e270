//! Uploads that try to harm the simulator: each gets a clear error, and the next student is served.

use crate::support::{Contest, accepted, drives, encoded, get, hand_in, result, until, zipped};
use chicane_testkit::http::{Client, raw};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::net::TcpStream;
use zip::write::SimpleFileOptions;

/// An archive whose only file is much larger than the archive.
fn bomb() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("main.py", SimpleFileOptions::default()).expect("an entry");
    let zeros = vec![0; 1 << 20];
    for _ in 0..300 {
        archive.write_all(&zeros).expect("written");
    }
    archive.finish().expect("an archive").into_inner()
}

/// Regression test: one client could fill the whole queue with submissions under invented names,
/// and the teacher could not remove these submissions.
#[test]
fn one_address_filled_the_queue() {
    let contest = Contest::new("address");
    let program = contest.serve();
    let mut client = program.client();
    // Virtual time stands still while a program computes. So this endless loop keeps the worker
    // busy.
    let busy = accepted(&mut client, "Busy", "while True:\n    pass\n");
    let path_of =
        |received: &Value| format!("/sim/api/submissions/{}", received["id"].as_str().expect("an id"));
    let busy = path_of(&busy);
    until("a running submission", || {
        let board = get(&mut client, "/leaderboard");
        (board["queue"]["running"]["student"] == "Busy").then_some(board)
    });
    let refused = client.delete(&busy);
    assert_eq!(refused.status, 409, "{}", refused.text());
    let mut places = Vec::new();
    let refused = loop {
        let answer = hand_in(&mut client, &format!("Name {}", places.len()), "text/x-python", b"print(1)");
        if answer.status != 202 {
            break answer;
        }
        places.push(path_of(&serde_json::from_slice(&answer.body).expect("JSON")));
        assert!(places.len() < 500, "the whole queue is full");
    };
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("60")), "{}", refused.text());
    assert!(refused.text().contains("250 submissions from your address wait"), "{}", refused.text());
    let removed = client.delete(places.last().expect("a place"));
    assert_eq!(removed.status, 200, "{}", removed.text());
    accepted(&mut client, "Ada", "print(1)\n");
}

#[test]
fn bad_uploads_get_a_clear_error() {
    let contest = Contest::new("uploads");
    let program = contest.serve();
    let mut client = program.client();
    let cut = &zipped(&[("main.py", drives(1.0).as_bytes())])[..60];
    let nul = [b"print(1)\0".as_slice(), &[0xff; 50]].concat();
    let rows: [(&str, &[u8], &str); 10] = [
        ("application/zip", &bomb(), "zip bomb"),
        ("application/zip", cut, "the zip file is broken"),
        ("application/zip", &zipped(&[("../main.py", b"print(1)")]), "unsafe name"),
        ("application/zip", &zipped(&[("/etc/main.py", b"print(1)")]), "unsafe name"),
        (
            "application/zip",
            &zipped(&[("readme.txt", b"hello"), ("b.txt", b"")]),
            "neither run.toml nor main.py",
        ),
        ("application/zip", &zipped(&[]), "the submission is empty"),
        ("application/zip", &zipped(&[("run.toml", b"command = 7")]), "command is not a text"),
        ("application/octet-stream", b"\x7fELF\x02\x01\x01\0\0", "neither a zip file nor a Python program"),
        ("text/x-python", &nul, "neither a zip file nor a Python program"),
        ("text/x-python", b"", "the body is empty"),
    ];
    for (kind, bytes, says) in rows {
        let answer = hand_in(&mut client, "Mallory", kind, bytes);
        assert_eq!(answer.status, 400, "{says}: {}", answer.text());
        assert!(answer.text().contains(says), "{says}: {}", answer.text());
    }
    for kind in ["text/plain", "application/json", "multipart/form-data; boundary=x", ""] {
        let answer = hand_in(&mut client, "Mallory", kind, b"print(1)");
        assert_eq!(answer.status, 415, "{kind}: {}", answer.text());
    }
    let scratch = std::fs::read_dir(contest.path("data/leaderboard/scratch")).expect("a folder").count();
    let uploads = std::fs::read_dir(contest.path("data/leaderboard/uploads")).expect("a folder").count();
    assert_eq!((scratch, uploads), (0, 0), "nothing of refused uploads stays");
    let received = accepted(&mut client, "Ada", &drives(0.5));
    assert_eq!(result(&mut client, &received)["results"][0]["verdict"], "finished");
}

#[test]
fn large_and_slow_bodies_do_not_block_others() {
    let contest = Contest::new("bodies");
    let program = contest.serve();
    let address = program.address;
    // One client sends a little more than the limit. One client announces 100 MiB in
    // `content-length`, and another client sends 100 MiB in chunks without announcing the length.
    let large = vec![b'#'; 100 << 20];
    let answer = hand_in(&mut Client::new(address), "Mallory", "text/x-python", &large[..(16 << 20) + 1]);
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert!(answer.text().contains("body is larger than 16 MiB"), "{}", answer.text());
    let head = format!(
        "POST /sim/api/submissions?student=Mallory HTTP/1.1\r\nhost: {address}\r\ncontent-type: text/x-python\r\n"
    );
    let announced = raw(address, format!("{head}content-length: {}\r\n\r\n", large.len()).as_bytes());
    assert_eq!(announced.status, 413);
    let chunk = [format!("{:x}\r\n", large.len()).as_bytes(), &large, b"\r\n0\r\n\r\n"].concat();
    let chunked = [format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes(), &chunk].concat();
    assert_eq!(raw(address, &chunked).status, 413);
    // Slow clients hold their connections open.
    let slow: Vec<TcpStream> = (0..30)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("connected");
            let bytes = format!("{head}content-length: 1000000\r\n\r\nprint(");
            stream.write_all(bytes.as_bytes()).expect("sent");
            stream
        })
        .collect();
    let mut client = program.client();
    let received = accepted(&mut client, "Ada", &drives(0.5));
    assert_eq!(result(&mut client, &received)["state"], "done");
    drop(slow);
    assert_eq!(get(&mut client, "/status")["running"], true);
}

#[test]
fn names_that_harm_others_are_refused() {
    let contest = Contest::new("names");
    let program = contest.serve();
    let mut client = program.client();
    let long = "x".repeat(61);
    for name in [
        "",
        " ",
        "<script>alert(1)</script>",
        "a\u{0}b",
        "a\u{1b}[31m",
        "a\nb",
        "=HYPERLINK(1)",
        "+1",
        "-1",
        "@x",
        "\u{202e}adA",
        "a\u{200b}",
        "../../etc/passwd",
        long.as_str(),
    ] {
        let answer = hand_in(&mut client, name, "text/x-python", b"print(1)");
        assert_eq!(answer.status, 400, "{name:?}: {}", answer.text());
        assert!(answer.text().contains("student must be a name of 1 to 60 characters"), "{}", answer.text());
    }
    let missing =
        client.request("POST", "/sim/api/submissions", &[("content-type", "text/x-python")], b"print(1)");
    assert_eq!(missing.status, 400, "{}", missing.text());
    let not_utf8 = client.request(
        "POST",
        "/sim/api/submissions?student=%FF%FE",
        &[("content-type", "text/x-python")],
        b"print(1)",
    );
    assert!(matches!(not_utf8.status, 400 | 202), "{}", not_utf8.text());
    // Spellings of a name that differ only in case or in their Unicode form belong to the same
    // student.
    for (name, shown) in [("Zoë", "Zoë"), ("ZOE\u{308}", "Zoë"), ("ｚｏë", "Zoë")] {
        let received = accepted(&mut client, name, "print(1)");
        assert_eq!(received["shown_as"], shown);
    }
}

#[test]
fn unknown_ids_and_missing_leaderboards_are_told_apart() {
    let contest = Contest::new("ids");
    let program = contest.serve();
    let mut client = program.client();
    for id in ["0", &"0".repeat(32), "..%2f..", &encoded("' OR 1=1 --")] {
        let answer = client.get(&format!("/sim/api/submissions/{id}"));
        assert!(matches!(answer.status, 404 | 400), "{id}: {}", answer.text());
    }
    let without = crate::program::Program::serve(&["--data-dir", &contest.path("other")]);
    let mut client = without.client();
    for answer in [
        client.get("/sim/api/leaderboard"),
        client.get("/sim/api/submissions"),
        hand_in(&mut without.client(), "Ada", "text/x-python", b"print(1)"),
    ] {
        assert_eq!(answer.status, 404, "{}", answer.text());
        let body: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(body["code"], json!("no_leaderboard"));
        assert!(body["error"].as_str().is_some_and(|text| text.contains("--leaderboard")), "{body}");
    }
    assert_eq!(client.get("/sim/leaderboard").status, 200, "the page tells it");
}
