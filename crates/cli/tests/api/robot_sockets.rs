//! The WebSockets `/speed/stream` and `/steering/stream`.

use crate::support::{
    MAX_STOP_TIME, Received, Socket, detail, json as parsed, refusal, setup, start, start_paused,
    status_when_full, until,
};
use chicane_testkit::http::{HttpResponse, raw_until, raw_until_quiet};
use serde_json::json;
use std::time::{Duration, Instant};

const TOKEN: &str = "s3cret-token.of~mine_0";

#[test]
fn every_frame_is_a_command() {
    let (simulator, _) = start_paused();
    let mut robot = simulator.robot();
    for (path, axis, limit) in [("/speed/stream", "speed", 3.0), ("/steering/stream", "steering", 0.3491)] {
        let mut socket = simulator.socket(path);
        for (value, taken) in [(0.1, 0.1), (-0.2, -0.2), (1e9, limit)] {
            socket.send(json!({"value": value, "more": "is ignored"}));
            until("the frame takes effect", || (robot.commanded(axis) == taken).then_some(()));
        }
        // Frames are carried out in order, so the last command stays in effect.
        for i in 0..500 {
            socket.send(json!({"value": f64::from(i) * 1e-4}));
        }
        until("the last frame takes effect", || (robot.commanded(axis) == 0.0499).then_some(()));
        socket.close();
    }
}

#[test]
fn an_invalid_frame_is_answered_and_the_socket_stays_open() {
    let (simulator, _) = start_paused();
    let mut robot = simulator.robot();
    for (path, axis, unit) in [("/speed/stream", "speed", "m/s"), ("/steering/stream", "steering", "rad")] {
        let mut socket = simulator.socket(path);
        for (frame, word) in [
            ("{}", unit),
            ("{\"value\": \"fast\"}", unit),
            ("{\"value\": null}", unit),
            ("nonsense", "JSON"),
            ("5", "JSON object"),
            ("", unit),
        ] {
            socket.send(frame);
            let Received::Text(reply) = socket.receive() else { panic!("{path} {frame:?}: no reply") };
            let text = reply["detail"].as_str().expect("a text");
            assert!(text.contains(word), "{path} {frame:?}: {text}");
        }
        socket.send_bytes(b"{\"value\": 1}");
        let Received::Text(reply) = socket.receive() else { panic!("{path}: no reply") };
        assert!(reply["detail"].as_str().is_some_and(|t| t.contains("text frames")), "{reply}");
        socket.send(json!({"value": 0.2}));
        until("the next frame takes effect", || (robot.commanded(axis) == 0.2).then_some(()));
        socket.close();
    }
}

#[test]
fn the_value_returns_to_zero_0_7_s_after_the_client_disconnects() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    for (path, axis) in [("/speed/stream", "speed"), ("/steering/stream", "steering")] {
        for with_handshake in [true, false] {
            let mut socket = simulator.socket(path);
            socket.send(json!({"value": 0.3}));
            until("the frame takes effect", || (robot.commanded(axis) == 0.3).then_some(()));
            api.step(10);
            if with_handshake {
                socket.close()
            } else {
                socket.disconnect()
            }
            api.step(139);
            assert_eq!(robot.commanded(axis), 0.3, "{axis}");
            api.step(1);
            assert_eq!(robot.commanded(axis), 0.0, "{axis}");
        }
    }
}

#[test]
fn a_disconnecting_client_ends_no_newer_command() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let (mut first, mut second) =
        (simulator.socket("/steering/stream"), simulator.socket("/steering/stream"));
    first.send(json!({"value": 0.1}));
    until("the first frame takes effect", || (robot.commanded("steering") == 0.1).then_some(()));
    second.send(json!({"value": 0.2}));
    until("the second frame takes effect", || (robot.commanded("steering") == 0.2).then_some(()));
    first.close();
    api.step(400);
    assert_eq!(robot.commanded("steering"), 0.2);
    robot.post("/steering", json!({"value": 0.05}));
    second.disconnect();
    api.step(400);
    assert_eq!(robot.commanded("steering"), 0.05);
    // If a client that sent no command disconnects, the command of another client continues.
    simulator.socket("/steering/stream").close();
    api.step(400);
    assert_eq!(robot.commanded("steering"), 0.05);
}

#[test]
fn a_disconnecting_client_ends_no_command_of_a_later_world() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut socket = simulator.socket("/steering/stream");
    socket.send(json!({"value": 0.3}));
    until("the frame takes effect", || (robot.commanded("steering") == 0.3).then_some(()));
    api.post("/respawn", json!({}));
    assert_eq!(robot.commanded("steering"), 0.0);
    // Command numbers restart with each world. So this command has the same number as the socket's
    // command in the old world.
    robot.post("/steering", json!({"value": 0.1}));
    socket.close();
    api.step(400);
    assert_eq!(robot.commanded("steering"), 0.1);
    let mut socket = simulator.socket("/steering/stream");
    socket.send(json!({"value": 0.2}));
    until("a new socket works", || (robot.commanded("steering") == 0.2).then_some(()));
}

fn handshake(simulator: &crate::support::Simulator, headers: &[(&str, &str)]) -> HttpResponse {
    simulator.client().request("GET", "/speed/stream", headers, b"")
}

#[test]
fn an_invalid_handshake_is_refused_with_the_required_headers() {
    let (simulator, _) = start_paused();
    let upgrade = [("connection", "Upgrade"), ("upgrade", "websocket")];
    let key = ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let version = ("sec-websocket-version", "13");
    let plain = handshake(&simulator, &[]);
    assert_eq!((detail(&plain).0, plain.header("upgrade")), (426, Some("websocket")));
    let old = handshake(&simulator, &[upgrade[0], upgrade[1], key, ("sec-websocket-version", "8")]);
    assert_eq!((detail(&old).0, old.header("sec-websocket-version")), (426, Some("13")));
    for headers in [
        vec![upgrade[0], upgrade[1], version],
        vec![upgrade[0], upgrade[1], version, ("sec-websocket-key", "short")],
    ] {
        assert_eq!(detail(&handshake(&simulator, &headers)).0, 400, "{headers:?}");
    }
    let post =
        simulator.client().request("POST", "/speed/stream", &[upgrade[0], upgrade[1], key, version], b"");
    assert_eq!(detail(&post).0, 405);
    // The response to a valid handshake contains the simulated time.
    let request = format!(
        "GET /speed/stream HTTP/1.1\r\nHost: {}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        simulator.address
    );
    let response = raw_until(simulator.address, request.as_bytes(), |response| response.contains("\r\n\r\n"));
    let response = response.to_lowercase();
    assert!(response.starts_with("http/1.1 101"), "{response}");
    assert!(response.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "{response}");
    assert!(response.contains("x-sim-time: 0.000"), "{response}");
}

#[test]
fn pages_of_other_sites_cannot_open_a_socket() {
    let (simulator, _) = start_paused();
    let open = |headers: &[(&str, &str)]| Socket::try_open(simulator.address, "/speed/stream", headers);
    for origin in ["http://evil.example", "null", "http://localhost:1"] {
        assert_eq!(open(&[("origin", origin)]).err(), Some(403), "{origin}");
    }
    assert_eq!(open(&[("sec-fetch-site", "cross-site")]).err(), Some(403));
    let own = format!("http://{}", simulator.address);
    assert!(open(&[("origin", &own)]).is_ok());
    let foreign = handshake(&simulator, &[("origin", "http://evil.example")]);
    assert_eq!(refusal(&foreign).0, 403);
}

#[test]
fn a_socket_requires_the_token_if_one_is_set() {
    let simulator = setup().token(TOKEN).start();
    let open = |headers: &[(&str, &str)]| Socket::try_open(simulator.address, "/steering/stream", headers);
    assert_eq!(open(&[]).err(), Some(401));
    assert_eq!(open(&[("authorization", "Bearer wrong-token")]).err(), Some(401));
    assert!(open(&[("authorization", &format!("Bearer {TOKEN}"))]).is_ok());
    let cookie = format!("chicane_token_{}={TOKEN}", simulator.address.port());
    assert!(open(&[("cookie", &cookie)]).is_ok());
    let refused = simulator.client().get("/speed");
    assert_eq!(refusal(&refused).0, 401);
}

#[test]
fn a_message_that_is_too_large_closes_the_socket() {
    let (simulator, _) = start_paused();
    let mut socket = simulator.socket("/speed/stream");
    socket.send_bytes(&vec![b' '; (64 << 10) + 1]);
    assert_eq!(socket.receive(), Received::Close(1009));
    let mut socket = simulator.socket("/speed/stream");
    socket.send(format!("{{\"value\": 0.5}}{}", " ".repeat(60 << 10)));
    let mut robot = simulator.robot();
    until("a message below the limit takes effect", || (robot.commanded("speed") == 0.5).then_some(()));
}

#[test]
fn a_protocol_violation_closes_the_socket_with_code_1002() {
    let (simulator, _) = start_paused();
    // These frames are invalid: an unmasked frame, a frame with an unknown opcode, and a
    // continuation frame without a first frame.
    let unknown = [0x85, 0x80, 1, 2, 3, 4];
    for frame in [&b"\x81\x0c{\"value\": 1}"[..], &unknown, &[0x80, 0x80, 1, 2, 3, 4]] {
        for path in ["/speed/stream", "/audio/stream"] {
            let mut socket = simulator.socket(path);
            socket.send_raw(frame);
            let received = std::iter::repeat_with(|| socket.receive())
                .find(|message| !matches!(message, Received::Text(_)));
            assert_eq!(received, Some(Received::Close(1002)), "{path} {frame:?}");
        }
    }
}

#[test]
fn the_number_of_sockets_is_limited() {
    let (simulator, _) = start_paused();
    let mut sockets: Vec<Socket> = (0..256).map(|_| simulator.socket("/speed/stream")).collect();
    let open = || Socket::try_open(simulator.address, "/steering/stream", &[]);
    assert_eq!(status_when_full(&mut sockets, open), 503);
    sockets.pop().expect("one").disconnect();
    until("a socket can be opened again", || open().ok());
    assert_eq!(simulator.client().get("/speed").status, 200);
}

#[test]
fn the_simulator_stops_with_open_sockets() {
    let simulator = start();
    let mut robot = simulator.robot();
    let mut sockets: Vec<Socket> = (0..20).map(|_| simulator.socket("/speed/stream")).collect();
    // A command ends after a second, which the test could miss on a busy machine.
    until("the frames take effect", || {
        for socket in &mut sockets {
            socket.send(json!({"value": 0.1}));
        }
        (robot.commanded("speed") == 0.1).then_some(())
    });
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
    for socket in &mut sockets {
        assert_eq!(socket.receive(), Received::Close(1001));
        assert_eq!(socket.receive(), Received::End);
    }
}

#[test]
fn an_idle_client_stays_connected_and_one_without_pongs_is_disconnected() {
    let (simulator, _) = start_paused();
    let mut robot = simulator.robot();
    let request = format!(
        "GET /steering/stream HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        simulator.address
    );
    let address = simulator.address;
    let began = Instant::now();
    // This client reads but does not answer pings, so the server closes the connection.
    let dead = std::thread::spawn(move || {
        raw_until_quiet(address, request.as_bytes(), Duration::from_secs(30));
        began.elapsed()
    });
    let mut socket = simulator.socket("/speed/stream");
    let quiet = std::thread::spawn(move || {
        // `receive` answers pings while it waits.
        let message = socket.receive();
        (message, socket)
    });
    let dead = dead.join().expect("the reader");
    assert!(dead > Duration::from_secs(8) && dead < Duration::from_secs(25), "{dead:?}");
    assert_eq!(parsed(&robot.0.get("/speed")), json!(0.0));
    let asked = simulator.stop();
    assert!(asked < MAX_STOP_TIME, "{asked:?}");
    let (message, _) = quiet.join().expect("the idle client");
    assert_eq!(message, Received::Close(1001), "the idle client stays until the stop");
    assert!(began.elapsed() > Duration::from_secs(8));
}
