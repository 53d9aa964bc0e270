//! Sources of sound files, and malicious files.

use crate::audio::{data, ids, play};
use crate::support::{Robot, TempFolder, detail, setup, setup_in, start_paused};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_testkit::http::Client;
use chicane_testkit::sounds::{BEEP_FLAC, BEEP_MP3, BEEP_OGG, Block, flac, mp3, wav};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::sync::Arc;

fn refused(robot: &mut Robot, body: &Value) -> (u16, String) {
    detail(&robot.0.post("/audio/play", &body.to_string()))
}

#[test]
fn an_invalid_file_is_refused_with_the_reason() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    let bomb = flac(192_000, 0, &vec![Block::Constant(65_535, 0); 3000]);
    let liar = flac(192_000, (1 << 36) - 1, &[Block::Constant(65_535, 0)]);
    let mut damaged = BEEP_OGG.to_vec();
    damaged[3000] ^= 1;
    let cases = [
        (b"".to_vec(), "no sound"),
        (b"hello".to_vec(), "not a wav, mp3, ogg or flac"),
        (wav(8000, 1, 100)[..100].to_vec(), "truncated"),
        (mp3(5)[..2000].to_vec(), "truncated"),
        (BEEP_MP3[..1000].to_vec(), "truncated"),
        (BEEP_OGG[..3000].to_vec(), "truncated"),
        (BEEP_FLAC[..1000].to_vec(), "truncated"),
        (wav(8000, 1, 0), "no sound"),
        (wav(8000, 6, 100), "6 channels"),
        (wav(4000, 1, 100), "4000 Hz"),
        (damaged, "checksum"),
        (wav(8000, 1, 8000 * 601), "too long"),
        (bomb, "too long"),
        (liar, "too long"),
    ];
    for (file, word) in cases {
        let (status, text) = refused(&mut robot, &data(&file));
        assert_eq!((status, text.contains(word)), (422, true), "{word}: {text}");
    }
    for text in ["?", "YWJj*", "YWJ", "YW Jj", "data:audio/wav;base64,YWJj"] {
        let (status, text) = refused(&mut robot, &json!({"data": text}));
        assert_eq!((status, text.starts_with("data must be a file in base64")), (422, true), "{text}");
    }
    assert!(ids(&mut robot).is_empty());
}

#[test]
fn the_sizes_of_files_and_bodies_are_limited() {
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    // The file has exactly the largest accepted size.
    let most = wav(48_000, 2, ((16 << 20) - 44) / 4);
    assert_eq!(most.len(), 16 << 20);
    assert_eq!(play(&mut robot, &most, json!({})), "a1");
    let more = wav(48_000, 2, ((16 << 20) - 44) / 4 + 1);
    assert_eq!(refused(&mut robot, &data(&more)), (422, "the file is larger than 16 MiB".to_owned()));
    let (status, text) = refused(&mut robot, &json!({"data": "A".repeat(24 << 20)}));
    assert_eq!((status, text.as_str()), (413, "body is larger than 24 MiB"));
    // Other paths have a smaller limit for the body.
    let long = json!({"id": "a".repeat(2 << 20)}).to_string();
    assert_eq!(robot.0.post("/audio/stop", &long).status, 413);
    assert_eq!(ids(&mut robot), ["a1"]);
}

const TOKEN: &str = "correct-horse-battery";

/// A client that sends the token.
fn with_token(client: Client) -> Robot {
    Robot(client.with_header("authorization", format!("Bearer {TOKEN}")))
}

#[test]
fn with_a_token_only_files_of_the_workspace_are_played() {
    let folder = Arc::new(TempFolder::new());
    let sounds = folder.path().join("sounds");
    std::fs::create_dir(&sounds).expect("a folder");
    std::fs::write(sounds.join("beep.ogg"), BEEP_OGG).expect("a file");
    std::fs::write(sounds.join("notes.txt"), "no sound").expect("a file");
    symlink("beep.ogg", sounds.join("link.ogg")).expect("a link");
    symlink("/etc", sounds.join("etc")).expect("a link");
    let simulator = setup_in(&folder).token(TOKEN).start();
    let mut robot = with_token(simulator.client());
    assert_eq!(robot.0.post("/sim/api/clock", "{\"paused\": true}").status, 200);
    let played = robot.post("/audio/play", json!({"path": "sounds/beep.ogg"}));
    assert_eq!(played, json!({"success": true, "id": "a1", "duration": 0.25}));
    assert_eq!(robot.get("/audio")["playing"][0]["source"], "sounds/beep.ogg");
    let absolute = sounds.join("beep.ogg").to_string_lossy().into_owned();
    assert_eq!(robot.post("/audio/play", json!({"path": absolute}))["id"], "a2");
    for (path, word) in [
        ("", "workspace"),
        ("..", "workspace"),
        ("sounds/../sounds/beep.ogg", "workspace"),
        ("/etc/passwd", "workspace"),
        ("sounds/link.ogg", "link"),
        ("sounds/etc/passwd", "link"),
        ("sounds", "not a regular file"),
        ("sounds/nothing.wav", "there is no file"),
        ("sounds/notes.txt", "not a wav, mp3, ogg or flac"),
    ] {
        let (status, text) = refused(&mut robot, &json!({"path": path}));
        assert_eq!((status, text.contains(word)), (422, true), "{path}: {text}");
    }
}

#[test]
fn the_own_user_plays_any_file_and_files_of_this_machine() {
    let folder = TempFolder::new();
    let file = folder.path().join("beep.ogg");
    std::fs::write(&file, BEEP_OGG).expect("a file");
    let path = file.to_string_lossy().into_owned();
    let (simulator, _api) = start_paused();
    let mut robot = simulator.robot();
    let played = robot.post("/audio/play", json!({"path": path}));
    assert_eq!(played, json!({"success": true, "id": "a1", "duration": 0.25}));
    for (path, word) in [
        ("/etc/passwd", "not a wav, mp3, ogg or flac"),
        ("/nothing/beep.wav", "there is no file"),
        ("/dev/zero", "not a regular file"),
        ("/", "not a regular file"),
        ("../beep.ogg", "workspace"),
    ] {
        let (status, text) = refused(&mut robot, &json!({"path": path}));
        assert_eq!((status, text.contains(word)), (422, true), "{path}: {text}");
    }
    let web = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/beep.ogg", web.local_addr().expect("an address"));
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = web.accept().expect("a connection");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", BEEP_OGG.len());
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).expect("a request");
        stream.write_all(&[head.as_bytes(), BEEP_OGG].concat()).expect("sent");
    });
    assert_eq!(robot.post("/audio/play", json!({"url": url}))["duration"], 0.25);
    serving.join().expect("served");
}

#[test]
fn the_duration_of_a_sound_is_measured_without_playing_it() {
    let folder = Arc::new(TempFolder::new());
    std::fs::write(folder.path().join("beep.ogg"), BEEP_OGG).expect("a file");
    let simulator = setup_in(&folder).start();
    simulator.api().pause_at_zero();
    let mut robot = simulator.robot();
    let quarter = json!({"success": true, "duration": 0.25});
    assert_eq!(robot.post("/audio/duration", json!({"path": "beep.ogg"})), quarter);
    assert_eq!(robot.post("/audio/duration", data(BEEP_OGG)), quarter);
    assert_eq!(robot.get("/audio/duration?path=beep.ogg"), quarter);
    assert!(ids(&mut robot).is_empty());
    let id = play(&mut robot, BEEP_OGG, json!({}));
    assert_eq!(robot.get(&format!("/audio/duration?id={id}")), quarter);
    assert_eq!(detail(&robot.0.get("/audio/duration?id=a9")).0, 404);
    for query in ["", "?id=a1&path=beep.ogg", "?path=nothing.wav", "?path="] {
        assert_eq!(detail(&robot.0.get(&format!("/audio/duration{query}"))).0, 422, "{query}");
    }
    let (status, text) = detail(&robot.0.post("/audio/duration", "{\"data\": \"YWJj\"}"));
    assert!(status == 422 && text.contains("not a wav"), "{text}");
}

#[test]
fn local_and_private_addresses_are_never_contacted() {
    let (own_user, _api) = start_paused();
    let other = setup().token(TOKEN).start();
    let near = TcpListener::bind("127.0.0.1:0").expect("a port");
    near.set_nonblocking(true).expect("a nonblocking listener");
    let port = near.local_addr().expect("an address").port();
    let own = [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::1]",
    ];
    let foreign = [
        "0.0.0.0",
        "[::]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
    ];
    let check = |robot: &mut Robot, host: &str| {
        for url in [format!("http://{host}:{port}/beep.wav"), format!("https://{host}:{port}/beep.wav")] {
            let (status, text) = refused(robot, &json!({"url": url}));
            assert_eq!((status, text.contains("public addresses")), (422, true), "{url}: {text}");
        }
    };
    let mut robot = with_token(other.client());
    own.iter().chain(&foreign).for_each(|host| check(&mut robot, host));
    let mut robot = own_user.robot();
    foreign.iter().for_each(|host| check(&mut robot, host));
    for url in [
        "file:///etc/passwd".to_owned(),
        format!("ftp://127.0.0.1:{port}/"),
        format!("gopher://127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        "sounds/beep.wav".to_owned(),
        String::new(),
    ] {
        let (status, text) = refused(&mut robot, &json!({"url": url}));
        assert_eq!((status, text.contains("http")), (422, true), "{url}: {text}");
    }
    let user = format!("http://localhost@127.0.0.1:{port}/");
    assert_eq!(refused(&mut robot, &json!({"url": user})).0, 422);
    let nobody = near.accept().expect_err("no connection was made");
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn concurrent_files_are_all_played() {
    let (simulator, _api) = start_paused();
    let large = data(&wav(48_000, 2, 600_000)).to_string();
    let small = data(BEEP_MP3).to_string();
    std::thread::scope(|scope| {
        for number in 0..12 {
            let body = if number % 2 == 0 { &large } else { &small };
            let simulator = &simulator;
            scope.spawn(move || {
                let answer = simulator.client().post("/audio/play", body);
                assert_eq!(answer.status, 200, "{}", answer.text());
            });
        }
    });
    assert_eq!(ids(&mut simulator.robot()).len(), 12);
    let wrong = STANDARD.encode([0xff; 64]);
    assert_eq!(refused(&mut simulator.robot(), &json!({"data": wrong})).0, 422);
}
