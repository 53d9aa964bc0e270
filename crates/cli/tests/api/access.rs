//! Access control: the server refuses requests that a browser sends for a page of another site, and
//! accepts requests of programs such as curl.

use crate::support::{Simulator, refusal, setup, start_paused};
use chicane_testkit::http::{Events, HttpResponse, raw, raw_until_quiet};

/// Paths of every kind: API, page, asset, document, metrics, and an unknown path.
const PATHS: [&str; 9] = [
    "/sim/api/status",
    "/sim/api/state",
    "/sim/api/events",
    "/sim/api/openapi.json",
    "/sim",
    "/sim/viewer/icon.svg",
    "/sim/api/docs",
    "/metrics",
    "/nothing",
];

/// Sends a request with these headers, and with `Content-Length` if there is a body. The response
/// must have no CORS headers.
fn send(simulator: &Simulator, line: &str, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let mut bytes = format!("{line} HTTP/1.1\r\n");
    for (name, value) in headers {
        bytes.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        bytes.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    bytes.push_str("\r\n");
    bytes.push_str(body);
    let answer = raw(simulator.address, bytes.as_bytes());
    for (name, _) in &answer.headers {
        assert!(!name.starts_with("access-control-"), "{name} after {line}");
    }
    answer
}

/// Checks that GET requests for [`PATHS`] and some POST requests are refused with this status if
/// they have these headers, and that the car does not move.
fn refused_everywhere(simulator: &Simulator, status: u16, headers: &[(&str, &str)]) {
    for path in PATHS {
        let answer = send(simulator, &format!("GET {path}"), headers, "");
        assert_eq!(refusal(&answer).0, status, "GET {path} {headers:?}");
    }
    let before = simulator.api().get("/pose");
    let body = "{\"x\": 2}";
    for path in ["/sim/api/pose", "/sim/api/nothing", "/sim"] {
        let answer = send(simulator, &format!("POST {path}"), headers, body);
        assert_eq!(refusal(&answer).0, status, "POST {path} {headers:?}");
    }
    assert_eq!(simulator.api().get("/pose"), before, "the car moved");
}

#[test]
fn an_unknown_host_is_refused_on_every_path() {
    let (simulator, _) = start_paused();
    let port = simulator.address.port();
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        &format!("0.0.0.0:{port}"),
        "localhost.evil.example",
        &format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1@evil.example",
        "notlocalhost",
        "[::]",
        "192.168.0.1",
        "",
        "a b",
    ] {
        refused_everywhere(&simulator, 403, &[("Host", host)]);
    }
}

#[test]
fn a_request_without_exactly_one_host_is_refused() {
    let (simulator, _) = start_paused();
    let ours = simulator.address.to_string();
    refused_everywhere(&simulator, 403, &[]);
    refused_everywhere(&simulator, 403, &[("Host", &ours), ("Host", &ours)]);
    refused_everywhere(&simulator, 403, &[("Host", &ours), ("Host", "evil.example")]);
    refused_everywhere(&simulator, 403, &[("Host", "evil.example"), ("Host", &ours)]);
    // The server must ignore `X-Forwarded-Host`.
    let forwarded = [("Host", "evil.example"), ("X-Forwarded-Host", ours.as_str())];
    refused_everywhere(&simulator, 403, &forwarded);
}

#[test]
fn host_names_of_loopback_are_accepted() {
    let (simulator, _) = start_paused();
    let port = simulator.address.port();
    for host in [
        "localhost",
        "LOCALHOST:1",
        &format!("localhost:{port}"),
        &format!("127.0.0.1:{port}"),
        &format!("[::1]:{port}"),
        "127.0.0.1",
    ] {
        for path in ["/sim/api/status", "/sim", "/metrics"] {
            assert_eq!(send(&simulator, &format!("GET {path}"), &[("Host", host)], "").status, 200, "{host}");
        }
    }
}

#[test]
fn an_allowed_host_is_accepted() {
    let (simulator, _) = setup().allow_host("Lab-7.example").start_paused();
    for host in ["lab-7.example", "LAB-7.example:8000"] {
        assert_eq!(send(&simulator, "GET /sim/api/status", &[("Host", host)], "").status, 200);
    }
    let own = [("Host", "lab-7.example:8000"), ("Origin", "http://lab-7.example:8000")];
    assert_eq!(send(&simulator, "POST /sim/api/pose", &own, "").status, 200);
    refused_everywhere(&simulator, 403, &[("Host", "lab-8.example")]);
    refused_everywhere(&simulator, 403, &[("Host", "lab-7.example.evil.example")]);
}

#[test]
fn requests_from_pages_of_other_sites_are_refused_on_every_path() {
    let (simulator, _) = start_paused();
    let host = simulator.address.to_string();
    let other_port = format!("http://127.0.0.1:{}", simulator.address.port().wrapping_add(1));
    let prefix = format!("http://{host}.evil.example");
    let user = format!("http://{host}@evil.example");
    let scheme = format!("ftp://{host}");
    for origin in
        ["https://evil.example", "null", &other_port, &prefix, &user, &scheme, "http://localhost", "x"]
    {
        refused_everywhere(&simulator, 403, &[("Host", &host), ("Origin", origin)]);
    }
    for site in ["cross-site", "same-site"] {
        refused_everywhere(&simulator, 403, &[("Host", &host), ("Sec-Fetch-Site", site)]);
        let own_origin = format!("http://{host}");
        let headers = [("Host", host.as_str()), ("Sec-Fetch-Site", site), ("Origin", &own_origin)];
        refused_everywhere(&simulator, 403, &headers);
    }
}

#[test]
fn a_form_of_another_site_is_refused() {
    let (simulator, mut api) = start_paused();
    let before = api.get("/state");
    let host = simulator.address.to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        for origin in ["https://evil.example", "null"] {
            let headers = [("Host", host.as_str()), ("Origin", origin), ("Content-Type", kind)];
            for (path, body) in
                [("pose", "{\"x\": 2}"), ("reset", ""), ("respawn", ""), ("overlay", "{\"text\": \"x\"}")]
            {
                let answer = send(&simulator, &format!("POST /sim/api/{path}"), &headers, body);
                assert_eq!(refusal(&answer).0, 403, "{kind} from {origin} to {path}");
            }
        }
    }
    // A browser sends these headers when a page of another site submits a form, in the window of
    // that page or in a frame.
    for dest in ["document", "iframe"] {
        let headers = [
            ("Host", host.as_str()),
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", dest),
        ];
        assert_eq!(refusal(&send(&simulator, "POST /sim/api/reset", &headers, "")).0, 403);
    }
    let preflight = [
        ("Host", host.as_str()),
        ("Origin", "https://evil.example"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "content-type"),
        ("Access-Control-Request-Private-Network", "true"),
    ];
    assert!(refusal(&send(&simulator, "OPTIONS /sim/api/pose", &preflight, "")).0 >= 400);
    assert_eq!(api.get("/state"), before);
}

#[test]
fn a_websocket_of_another_site_is_refused() {
    let (simulator, _) = start_paused();
    let host = simulator.address.to_string();
    let headers = [
        ("Host", host.as_str()),
        ("Origin", "https://evil.example"),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    for path in ["/", "/sim", "/sim/api/events"] {
        assert_eq!(refusal(&send(&simulator, &format!("GET {path}"), &headers, "")).0, 403, "{path}");
    }
}

#[test]
fn a_link_from_another_site_may_be_followed() {
    let (simulator, _) = start_paused();
    let host = simulator.address.to_string();
    let link = [
        ("Host", host.as_str()),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
        ("Sec-Fetch-User", "?1"),
        ("Referer", "https://evil.example/"),
    ];
    let answer = send(&simulator, "GET /sim", &link, "");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-frame-options"), Some("DENY"));
    let frame = [link[0], link[1], link[2], ("Sec-Fetch-Dest", "iframe")];
    assert_eq!(refusal(&send(&simulator, "GET /sim", &frame, "")).0, 403);
}

#[test]
fn request_targets_with_a_host_dots_or_a_fragment_are_refused() {
    let (simulator, mut api) = start_paused();
    let host = simulator.address.to_string();
    let own = [("Host", host.as_str())];
    for target in [
        &format!("http://{host}/sim/api/status"),
        "http://evil.example/sim/api/status",
        "https://localhost/",
        "/sim/%2e%2e/x",
        "/sim/../sim/api/status",
        "/sim/./api/status",
        "/sim/%2E%2e/%2e%2e/etc/passwd",
        "/sim/api/docs/..%2f..%2fx",
        "/sim/viewer/%252e%252e%252fx",
        "/sim/api\\status",
        "/sim/api/status%00",
        "/sim/api/status#fragment",
        "/sim#",
        "/#/sim/api/status",
        "/sim/api/status%23",
    ] {
        let (status, _) = refusal(&send(&simulator, &format!("GET {target}"), &own, ""));
        assert!((400..=404).contains(&status), "{target}: {status}");
    }
    let before = api.get("/pose");
    for target in ["/sim/api/pose#", "/sim/x/../api/pose", "/sim/api/%2e/pose"] {
        let (status, _) = refusal(&send(&simulator, &format!("POST {target}"), &own, "{\"x\": 2}"));
        assert!((400..=404).contains(&status), "{target}: {status}");
    }
    assert_eq!(api.get("/pose"), before);
    let (status, _) = refusal(&send(&simulator, "OPTIONS *", &own, ""));
    assert!(status >= 400);
}

#[test]
fn requests_of_curl_and_python_are_accepted() {
    let (simulator, _) = start_paused();
    let host = simulator.address.to_string();
    // These are the headers that curl sends with `-d`.
    let curl = [
        ("Host", host.as_str()),
        ("User-Agent", "curl/8.5.0"),
        ("Accept", "*/*"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ];
    assert_eq!(send(&simulator, "POST /sim/api/pose", &curl, "{\"x\": 2}").status, 200);
    assert_eq!(send(&simulator, "GET /sim/api/pose", &curl[..3], "").status, 200);
    assert_eq!(send(&simulator, "POST /sim/api/reset", &curl[..3], "").status, 200);
    // These are the headers that `requests` and `urllib` of Python send.
    let requests = [
        ("Host", host.as_str()),
        ("User-Agent", "python-requests/2.32"),
        ("Accept-Encoding", "gzip, deflate"),
        ("Accept", "*/*"),
        ("Connection", "keep-alive"),
        ("Content-Type", "application/json"),
    ];
    assert_eq!(send(&simulator, "POST /sim/api/pose", &requests, "{\"x\": 2}").status, 200);
    let urllib = [
        ("Accept-Encoding", "identity"),
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Host", host.as_str()),
        ("User-Agent", "Python-urllib/3.14"),
        ("Connection", "close"),
    ];
    assert_eq!(send(&simulator, "POST /sim/api/brightness", &urllib, "{\"value\": 0.5}").status, 200);
}

#[test]
fn http_1_0_and_expect_100_continue_are_accepted() {
    let (simulator, mut api) = start_paused();
    let quiet = std::time::Duration::from_secs(10);
    let old = "GET /sim/api/status HTTP/1.0\r\nHost: localhost\r\n\r\n";
    let response = raw_until_quiet(simulator.address, old.as_bytes(), quiet);
    assert!(response.starts_with(b"HTTP/1.0 200 "), "{}", String::from_utf8_lossy(&response));
    // curl sends `Expect: 100-continue` with large bodies.
    let careful = "POST /sim/api/pose HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\
        Connection: close\r\nContent-Length: 10\r\n\r\n{\"x\": 2.5}";
    let response = raw_until_quiet(simulator.address, careful.as_bytes(), quiet);
    assert!(
        String::from_utf8_lossy(&response).contains("HTTP/1.1 200 "),
        "{}",
        String::from_utf8_lossy(&response)
    );
    assert_eq!(api.get("/pose")["x"], 2.5);
}

#[test]
fn requests_of_our_own_pages_are_accepted() {
    let (simulator, _) = start_paused();
    let host = simulator.address.to_string();
    let origin = format!("http://{host}");
    let own = [
        ("Host", host.as_str()),
        ("Origin", origin.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "cors"),
        ("Sec-Fetch-Dest", "empty"),
        ("Content-Type", "application/json"),
    ];
    assert_eq!(send(&simulator, "POST /sim/api/pose", &own, "{\"x\": 2}").status, 200);
    assert_eq!(send(&simulator, "POST /sim/api/reset", &own[..5], "").status, 200);
    assert_eq!(send(&simulator, "GET /sim/api/state", &own[..5], "").status, 200);
    let typed = [("Host", host.as_str()), ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate")];
    assert_eq!(send(&simulator, "GET /sim", &typed, "").status, 200);
    let headers = [("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
    let mut events = Events::open(simulator.address, "/sim/api/events", &headers);
    assert_eq!(events.next().map(|e| e.event), Some("state".to_owned()));
}

const PAGE: &str = "http://localhost:3000";

/// Sends a request as the browser does for a page of `origin`. Unlike [`send`], this function does
/// not assert that the response has no CORS headers.
fn send_for_page(simulator: &Simulator, line: &str, origin: &str, more: &[(&str, &str)]) -> HttpResponse {
    let mut text = format!("{line} HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\n", simulator.address);
    for (name, value) in [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "cors")].iter().chain(more) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    raw(simulator.address, text.as_bytes())
}

#[test]
fn a_page_that_the_operator_allows_uses_the_api() {
    let simulator = setup().allow_origin(PAGE).start();
    let asks =
        [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type")];
    let preflight = send_for_page(&simulator, "OPTIONS /sim/api/pose", PAGE, &asks);
    assert_eq!((preflight.status, preflight.body.len()), (204, 0));
    assert_eq!(preflight.header("access-control-allow-origin"), Some(PAGE));
    assert!(preflight.header("access-control-allow-methods").is_some_and(|m| m.contains("POST")));
    assert!(preflight.header("access-control-allow-headers").is_some_and(|h| h.contains("content-type")));
    for path in ["/sim/api/state", "/speed", "/nothing"] {
        let answer = send_for_page(&simulator, &format!("GET {path}"), PAGE, &[]);
        assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE), "{path}: errors too");
        assert_eq!(answer.header("access-control-allow-credentials"), None, "{path}");
        assert!(answer.header("vary").is_some_and(|v| v.contains("origin")), "{path}");
    }
    let posted = send_for_page(&simulator, "POST /steering", PAGE, &[("Content-Type", "application/json")]);
    assert_eq!(posted.status, 422, "the body is empty, and the page may see this: {}", posted.text());
    for foreign in ["http://localhost:3001", "https://localhost:3000", "http://evil.example", "null"] {
        let answer = send_for_page(&simulator, "GET /sim/api/state", foreign, &[]);
        assert_eq!(
            (refusal(&answer).0, answer.header("access-control-allow-origin")),
            (403, None),
            "{foreign}"
        );
        let preflight = send_for_page(&simulator, "OPTIONS /sim/api/pose", foreign, &asks);
        assert_eq!(
            (preflight.status, preflight.header("access-control-allow-origin")),
            (403, None),
            "{foreign}"
        );
    }
}

#[test]
fn a_page_that_the_operator_allows_needs_the_token_too() {
    let simulator = setup().allow_origin(PAGE).token("correct-horse-battery").start();
    let asks =
        [("Access-Control-Request-Method", "GET"), ("Access-Control-Request-Headers", "authorization")];
    assert_eq!(send_for_page(&simulator, "OPTIONS /sim/api/state", PAGE, &asks).status, 204);
    let refused = send_for_page(&simulator, "GET /sim/api/state", PAGE, &[]);
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some(PAGE)));
    let token = [("Authorization", "Bearer correct-horse-battery")];
    assert_eq!(send_for_page(&simulator, "GET /sim/api/state", PAGE, &token).status, 200);
}

#[test]
fn a_page_that_the_operator_allows_shows_the_viewer_in_a_frame() {
    let simulator = setup().allow_origin(PAGE).allow_origin("https://lab.example").start();
    let host = simulator.address.to_string();
    let frame = [
        ("Host", host.as_str()),
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "iframe"),
    ];
    let answer = send(&simulator, "GET /sim", &frame, "");
    assert_eq!((answer.status, answer.header("x-frame-options")), (200, None));
    let policy = answer.header("content-security-policy").expect("a policy");
    assert!(policy.ends_with("frame-ancestors 'self' http://localhost:3000 https://lab.example"), "{policy}");
    for path in ["/sim/api/docs", "/sim/leaderboard"] {
        assert_eq!(refusal(&send(&simulator, &format!("GET {path}"), &frame, "")).0, 403, "{path}");
    }
    let docs = send(&simulator, "GET /sim/api/docs", &frame[..1], "");
    assert!(docs.header("content-security-policy").is_some_and(|p| p.ends_with("frame-ancestors 'none'")));
    assert_eq!(docs.header("x-frame-options"), Some("DENY"));
}
