//! Every error response has the same body format, whichever layer of the server sends it. A refused
//! request changes nothing.

use crate::support::{refusal, start, start_paused};
use chicane_testkit::http::{raw, raw_until_quiet};
use serde_json::json;
use std::time::Duration;

#[test]
fn unknown_paths_are_refused() {
    let (simulator, _) = start_paused();
    let mut client = simulator.client();
    for path in [
        "/nothing",
        "/sim/nothing",
        "/sim/api",
        "/sim/api/",
        "/sim/api/nothing",
        "/sim/api/pose/",
        "/sim/api//pose",
        "/sim/api/Pose",
        "/sim/api/models/box1",
        "/sim/api/docs/nothing.js",
        "/sim/viewer/nothing.js",
        "/favicon.ico",
    ] {
        for method in ["GET", "POST", "DELETE", "PUT"] {
            let (status, _) = refusal(&client.request(method, path, &[], b""));
            let wrong_method = status == 405 && path.contains("nothing.js") && method != "GET";
            assert!(status == 404 || wrong_method, "{method} {path}: {status}");
        }
    }
}

#[test]
fn a_wrong_method_is_refused_with_the_allowed_ones() {
    let (simulator, _) = start_paused();
    let mut client = simulator.client();
    let mut check = |method: &str, path: &str, allowed: &[&str]| {
        let answer = client.request(method, path, &[], b"");
        assert_eq!(refusal(&answer).0, 405, "{method} {path}");
        let allow = answer.header("allow").unwrap_or_else(|| panic!("{method} {path}: no Allow"));
        let named: Vec<&str> = allow.split(',').map(str::trim).collect();
        for right in allowed {
            assert!(named.contains(right), "{method} {path}: Allow: {allow}");
        }
    };
    for path in ["status", "world", "route", "bounds", "objects", "vehicle", "state", "events", "worlds"] {
        for method in ["POST", "DELETE", "PUT", "PATCH", "OPTIONS", "BREW"] {
            check(method, &format!("/sim/api/{path}"), &["GET"]);
        }
    }
    for path in ["step", "reset", "respawn", "switch", "models/box1/pose", "traffic_lights/signal1"] {
        for method in ["GET", "DELETE", "PUT"] {
            check(method, &format!("/sim/api/{path}"), &["POST"]);
        }
    }
    for path in ["pose", "clock", "brightness", "overlay"] {
        check("DELETE", &format!("/sim/api/{path}"), &["GET", "POST"]);
    }
    check("GET", "/sim/api/worlds/oval", &["DELETE"]);
    check("POST", "/sim", &["GET"]);
    check("POST", "/metrics", &["GET"]);
    check("POST", "/sim/api/openapi.json", &["GET"]);
}

#[test]
fn a_head_request_has_no_body() {
    let (simulator, _) = start_paused();
    let mut client = simulator.client();
    for path in ["/sim/api/status", "/sim", "/metrics"] {
        let answer = client.request("HEAD", path, &[], b"");
        assert_eq!((answer.status, answer.body.len()), (200, 0), "{path}");
    }
    assert_eq!(client.get("/sim/api/status").status, 200, "the connection stays open");
}

const COMMANDS: [&str; 14] = [
    "/clock",
    "/step",
    "/pose",
    "/reset",
    "/respawn",
    "/models/box1/pose",
    "/models/nothing/pose",
    "/traffic_lights/signal1",
    "/brightness",
    "/overlay",
    "/evaluation/start",
    "/evaluation/stop",
    "/switch",
    "/worlds/install",
];

#[test]
fn a_body_that_is_not_a_json_object_changes_nothing() {
    let (_simulator, mut api) = start_paused();
    api.step(10);
    let before = api.get("/state");
    let deep = "[".repeat(100_000);
    let nested = format!("{{\"x\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    for path in COMMANDS {
        for body in [
            "{",
            "}",
            "{]",
            "{\"x\": }",
            "{'x': 1}",
            "{x: 1}",
            "{\"x\": 1,}",
            "{\"x\": NaN}",
            "{\"x\": 1e999}",
            "{} {}",
            "nonsense",
            "x=1&y=2",
            "[]",
            "[{}]",
            "null",
            "true",
            "5",
            "\"text\"",
            "\u{feff}{}",
            deep.as_str(),
            nested.as_str(),
        ] {
            let (status, text) = api.refused_raw(path, body);
            assert_eq!(status, 400, "POST {path} {}: {text}", &body[..body.len().min(40)]);
        }
        let answer = api.0.request("POST", &format!("/sim/api{path}"), &[], b"{\"text\": \"\xff\xfe\"}");
        assert_eq!(refusal(&answer).0, 400, "POST {path} with bytes that are not UTF-8");
    }
    assert_eq!(api.get("/state"), before);
    assert_eq!(api.get("/clock")["sim_time"], 0.05);
}

#[test]
fn an_empty_body_is_an_object_without_fields() {
    let (simulator, mut api) = start_paused();
    for path in ["/clock", "/step", "/pose", "/reset", "/respawn", "/models/box1/pose", "/evaluation/stop"] {
        for body in ["", " ", "\r\n\t ", "{}"] {
            let answer = api.try_post(path, body);
            assert_eq!(answer.status, 200, "POST {path} {body:?}: {}", answer.text());
        }
        // This request has no content length, no content type and no body.
        let bytes = format!("POST /sim/api{path} HTTP/1.1\r\nHost: {}\r\n\r\n", simulator.address);
        assert_eq!(raw(simulator.address, bytes.as_bytes()).status, 200, "POST {path}");
    }
}

#[test]
fn chunked_bodies_are_accepted() {
    let (simulator, mut api) = start_paused();
    let head = format!("POST /sim/api/pose HTTP/1.1\r\nHost: {}\r\n", simulator.address);
    let bytes = format!("{head}Transfer-Encoding: chunked\r\n\r\n4\r\n{{\"x\"\r\n6\r\n: 2.5}}\r\n0\r\n\r\n");
    assert_eq!(raw(simulator.address, bytes.as_bytes()).status, 200);
    assert_eq!(api.get("/pose")["x"], 2.5);
}

#[test]
fn query_strings_and_unknown_keys_are_ignored() {
    let (_simulator, mut api) = start_paused();
    api.get("/status?x=1&y");
    let posed = api.post("/pose?x=7", json!({"x": 2.5, "speed": "fast", "": {}}));
    assert_eq!(posed["pose"]["x"], 2.5);
}

#[test]
fn a_body_over_one_mebibyte_is_refused() {
    let (simulator, mut api) = start_paused();
    let before = api.get("/state");
    let padded = |length: usize| format!("{{\"x\": 2}}{}", " ".repeat(length - 8));
    for length in [(1 << 20) + 1, 2 << 20, 10 << 20] {
        let (status, _) = api.refused_raw("/pose", &padded(length));
        assert_eq!(status, 413, "{length} bytes");
    }
    // A chunked body has no declared length, so the server must count its bytes.
    let head = format!("POST /sim/api/pose HTTP/1.1\r\nHost: {}\r\n", simulator.address);
    let chunk = "x".repeat(64 << 10);
    let mut bytes = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    for _ in 0..20 {
        bytes.push_str(&format!("{:x}\r\n{chunk}\r\n", chunk.len()));
    }
    bytes.push_str("0\r\n\r\n");
    assert_eq!(refusal(&raw(simulator.address, bytes.as_bytes())).0, 413);
    assert_eq!(api.get("/state"), before);
    assert_eq!(api.try_post("/pose", &padded(1 << 20)).status, 200);
}

#[test]
fn a_request_head_that_is_too_large_is_refused() {
    let (simulator, mut api) = start_paused();
    let head = |extra: &str| {
        format!("GET /sim/api/status HTTP/1.1\r\nHost: {}\r\n{extra}\r\n", simulator.address).into_bytes()
    };
    let large = format!("X-Long: {}\r\n", "x".repeat(64 << 10));
    assert_eq!(refusal(&raw(simulator.address, &head(&large))).0, 431);
    let many = "X-Many: x\r\n".repeat(5000);
    assert_eq!(refusal(&raw(simulator.address, &head(&many))).0, 431);
    let fits = format!("X-Long: {}\r\n", "x".repeat(16 << 10));
    assert_eq!(raw(simulator.address, &head(&fits)).status, 200);
    let address = format!("GET /{} HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(70_000), simulator.address);
    let (status, _) = refusal(&raw(simulator.address, address.as_bytes()));
    assert!(status == 414 || status == 431, "{status}");
    assert_eq!(api.get("/status")["running"], true);
}

#[test]
fn bytes_that_are_not_http_get_an_error_response() {
    let (simulator, mut api) = start_paused();
    for bytes in [
        b"garbage\r\n\r\n".as_slice(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS client speaks\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /sim/api/status\r\n\r\n",
        b"GET /sim/api/status HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /sim/api/status HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET /sim/api/status HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /sim/api/pose HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /sim/api/pose HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    ] {
        let (status, _) = refusal(&raw(simulator.address, bytes));
        assert_eq!(status, 400, "{}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(api.get("/status")["running"], true);
}

#[test]
fn a_request_cannot_be_smuggled_behind_another() {
    let (simulator, mut api) = start_paused();
    let before = api.get("/state");
    let host = simulator.address;
    let smuggled = "POST /sim/api/pose HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n{\"x\": 2}";
    let both = format!(
        "POST /sim/api/clock HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n\
         0\r\n\r\n{smuggled}"
    );
    raw_until_quiet(simulator.address, both.as_bytes(), Duration::from_millis(300));
    // A request inside the body of another request must not be executed.
    let inside = format!(
        "POST /sim/api/clock HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{smuggled}",
        smuggled.len()
    );
    raw_until_quiet(simulator.address, inside.as_bytes(), Duration::from_millis(300));
    assert_eq!(api.get("/pose")["x"], before["vehicle"]["x"]);
}

#[test]
fn a_connection_with_http_2_is_closed() {
    let (simulator, _) = start_paused();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let response = raw_until_quiet(simulator.address, preface, Duration::from_secs(10));
    assert!(
        response.is_empty() || response.starts_with(b"HTTP/1.1 4"),
        "{}",
        String::from_utf8_lossy(&response)
    );
}

#[test]
fn names_that_are_not_utf_8_are_refused() {
    let (simulator, _) = start_paused();
    let mut client = simulator.client();
    for (method, path) in [
        ("POST", "/sim/api/models/%ff/pose"),
        ("POST", "/sim/api/traffic_lights/%c3%28"),
        ("DELETE", "/sim/api/worlds/%ff"),
        ("GET", "/sim/api/worlds/%ff/waypoints.npy"),
        ("GET", "/sim/api/worlds/%80/print.jpg"),
        ("GET", "/sim/api/docs/%ff"),
        ("GET", "/sim/viewer/%ff"),
    ] {
        let answer = client.request(method, path, &[], b"{\"state\": \"red\"}");
        let (status, _) = refusal(&answer);
        assert!(status == 400 || status == 404, "{method} {path}: {status}");
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (simulator, _) = start_paused();
    let host = simulator.address;
    let request = |path: &str, end: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{end}\r\n");
    let bytes = [
        request("/sim/api/brightness", ""),
        request("/sim/api/nothing", ""),
        request("/sim/api/bounds", "Connection: close\r\n"),
    ]
    .concat();
    let text = raw_until_quiet(simulator.address, bytes.as_bytes(), Duration::from_secs(10));
    let text = String::from_utf8_lossy(&text);
    let places = ["{\"value\":", "{\"error\":", "{\"minX\":"].map(|part| text.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
}

#[test]
fn an_error_response_arrives_while_the_client_is_still_sending() {
    let simulator = start();
    let body = vec![b' '; 3 << 20];
    for (path, headers, status) in [
        ("/sim/api/nothing", &[][..], 404),
        ("/sim/api/status", &[][..], 405),
        ("/sim/api/pose", &[("origin", "http://evil.example")][..], 403),
        ("/sim/api/pose", &[][..], 413),
    ] {
        let answer = simulator.client().request("POST", path, headers, &body);
        assert_eq!(refusal(&answer).0, status, "{path}");
    }
}
