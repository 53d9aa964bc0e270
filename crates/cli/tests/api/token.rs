//! Access with a token, and access from other machines.

use crate::support::{Simulator, refusal, setup, start};
use chicane_testkit::http::{Client, HttpResponse, raw};
use std::net::{IpAddr, SocketAddr, UdpSocket};

const TOKEN: &str = "s3cret-token.of~mine_0";

fn get(simulator: &Simulator, path: &str, headers: &[(&str, &str)]) -> HttpResponse {
    let answer = simulator.client().request("GET", path, headers, b"");
    assert_eq!(answer.header("access-control-allow-origin"), None);
    answer
}

#[test]
fn requests_without_the_token_are_refused() {
    let simulator = setup().token(TOKEN).start();
    let wrong = format!("Bearer {}", TOKEN.replace('0', "1"));
    let cookie = format!("chicane_token_{}={}", simulator.client().address().port(), TOKEN.to_uppercase());
    for headers in [
        vec![],
        vec![("authorization", wrong.as_str())],
        vec![("authorization", "Bearer")],
        vec![("authorization", "Bearer ")],
        vec![("authorization", TOKEN)],
        vec![("authorization", "Basic czNjcmV0")],
        vec![("cookie", cookie.as_str())],
        vec![("cookie", "other=1; chicane_token_1=")],
    ] {
        for path in
            ["/sim/api/status", "/sim/api/events", "/sim", "/sim/viewer/icon.svg", "/metrics", "/nothing"]
        {
            let answer = get(&simulator, path, &headers);
            assert!(is_refused(&answer), "{path} {headers:?}");
            assert!(!answer.text().contains(TOKEN));
        }
        let answer = simulator.client().request("POST", "/sim/api/reset", &headers, b"");
        assert!(is_refused(&answer), "{headers:?}");
    }
    // The server accepts the token as a query parameter only for the pages `/sim`,
    // `/sim/leaderboard` and `/build`.
    for path in ["/sim/api/status", "/metrics", "/sim/api/docs"] {
        assert_eq!(refusal(&get(&simulator, &format!("{path}?token={TOKEN}"), &[])).0, 401, "{path}");
    }
    assert!(is_refused(&get(&simulator, "/sim?token=wrong", &[])));
    assert_eq!(refusal(&get(&simulator, "/sim?token=", &[])).0, 401);
}

/// Whether a request was refused because of its token. After some wrong tokens within a second,
/// the status is 429.
fn is_refused(answer: &HttpResponse) -> bool {
    matches!(refusal(answer).0, 401 | 429)
}

/// Sends a request until it is answered with 429, and returns that response. The server answers
/// with 429 only after more than five wrong tokens within one second, so a slow machine needs more
/// attempts.
fn until_too_many(mut send: impl FnMut(usize) -> HttpResponse) -> HttpResponse {
    for attempt in 0..10_000 {
        let answer = send(attempt);
        if answer.status == 429 {
            assert!(attempt >= 5, "{attempt} wrong tokens");
            return answer;
        }
        assert_eq!(answer.status, 401, "{}", answer.text());
    }
    panic!("wrong tokens are not limited");
}

#[test]
fn wrong_tokens_were_not_throttled() {
    let simulators = [(); 5].map(|()| setup().token(TOKEN).start());
    let header = |k: usize| get(&simulators[0], "/odom", &[("authorization", &format!("Bearer {k}"))]);
    let page = |k: usize| get(&simulators[1], &format!("/sim?token=wrong-{k}"), &[]);
    let cookie = |k: usize| {
        let name = format!("chicane_token_{}", simulators[2].address.port());
        get(&simulators[2], "/sim/api/status", &[("cookie", &format!("{name}=wrong-{k}"))])
    };
    let socket = |k: usize| {
        let upgrade = [("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", "13")];
        let bearer = format!("Bearer {k}");
        let more = [("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="), ("authorization", bearer.as_str())];
        get(&simulators[3], "/rosbridge", &[&upgrade[..], &more].concat())
    };
    let health = |k: usize| get(&simulators[4], "/health", &[("authorization", &format!("Bearer {k}"))]);
    for answer in [
        until_too_many(header),
        until_too_many(page),
        until_too_many(cookie),
        until_too_many(socket),
        until_too_many(health),
    ] {
        let text = "too many wrong tokens came from this address; wait a second and try again";
        assert_eq!(refusal(&answer), (429, text.to_owned()));
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(answer.text().contains("\"too_many_attempts\""));
    }
}

#[test]
fn a_guesser_does_not_lock_out_a_person_at_the_same_address() {
    let simulator = setup().token(TOKEN).start();
    let right = format!("Bearer {TOKEN}");
    let status = || get(&simulator, "/sim/api/status", &[("authorization", &right)]).status;
    assert_eq!(status(), 200);
    until_too_many(|k| get(&simulator, "/odom", &[("authorization", &format!("Bearer {k}"))]));
    assert_eq!(status(), 200);
    // Requests without a token are not counted.
    assert_eq!(get(&simulator, "/sim/api/status", &[]).status, 401);
}

#[test]
fn a_browser_with_too_many_wrong_tokens_gets_the_sign_in_page() {
    let simulator = setup().token(TOKEN).start();
    let html = [("accept", "text/html,*/*;q=0.8")];
    let answer = until_too_many(|k| get(&simulator, &format!("/sim?token=wrong-{k}"), &html));
    assert!(answer.header("content-type").is_some_and(|t| t.starts_with("text/html")));
    assert!(answer.text().contains("role=\"alert\" >Too many wrong tokens."), "{}", answer.text());
}

#[test]
fn health_needed_a_token() {
    let simulator = setup().token(TOKEN).start();
    let answer = get(&simulator, "/health", &[]);
    assert_eq!((answer.status, answer.text()), (200, "{\"status\":\"ok\"}".to_owned()));
    assert_eq!(answer.header("x-sim-time"), None, "the simulated time is revealed");
    let head = simulator.client().request("HEAD", "/health", &[], b"");
    assert_eq!(head.status, 200);
    let all = get(&simulator, "/health", &[("authorization", &format!("Bearer {TOKEN}"))]);
    assert!(all.text().contains("\"paused\"") && all.header("x-sim-time").is_some());
    // Without a token, only a plain GET or HEAD request for `/health` succeeds.
    assert_eq!(refusal(&get(&simulator, "/health?stream=true", &[])).0, 401);
    assert_eq!(refusal(&get(&simulator, "/health", &[("accept", "text/event-stream")])).0, 401);
    assert_eq!(refusal(&simulator.client().post("/health", "")).0, 401);
    assert_eq!(refusal(&get(&simulator, "/health/", &[])).0, 401);
    assert_eq!(refusal(&simulator.client().with_host("evil.example").get("/health")).0, 403);
}

#[test]
fn a_browser_without_the_token_gets_a_login_page() {
    let simulator = setup().token(TOKEN).start();
    let html = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let answer = get(&simulator, "/sim?world=oval", &html);
    assert_eq!(answer.status, 401);
    assert!(answer.header("content-type").is_some_and(|t| t.starts_with("text/html")));
    assert!(answer.header("content-security-policy").is_some_and(|p| p.contains("form-action 'self'")));
    let page = answer.text();
    assert!(page.contains("value=\"oval\"") && !page.contains(TOKEN));
    assert!(page.contains("role=\"alert\" hidden"), "the error message is visible before a wrong token");
    let wrong = get(&simulator, "/sim?token=wrong&world=%22%3E%3Cscript%3E", &html).text();
    assert!(wrong.contains("role=\"alert\" >") && !wrong.contains("script"), "{wrong}");
    for path in ["/sim/api/status", "/sim/viewer/icon.svg", "/"] {
        assert_eq!(refusal(&get(&simulator, path, &html)).0, 401, "{path}");
    }
}

#[test]
fn a_bearer_token_is_accepted() {
    let simulator = setup().token(TOKEN).start();
    for scheme in ["Bearer", "bearer"] {
        let bearer = format!("{scheme} {TOKEN}");
        let headers = [("authorization", bearer.as_str())];
        for path in ["/sim/api/status", "/sim", "/metrics"] {
            assert_eq!(get(&simulator, path, &headers).status, 200, "{path}");
        }
        let answer = simulator.client().request("POST", "/sim/api/reset", &headers, b"");
        assert_eq!(answer.status, 200);
    }
}

#[test]
fn the_page_turns_the_token_into_a_cookie() {
    let simulator = setup().token(TOKEN).start();
    for (path, clean) in [
        (format!("/sim?token={TOKEN}"), "/sim"),
        (format!("/sim/?token={TOKEN}"), "/sim/"),
        (format!("/sim?a=1&token={TOKEN}&b=2"), "/sim?a=1&b=2"),
    ] {
        let answer = get(&simulator, &path, &[]);
        assert_eq!(answer.status, 303, "{path}");
        assert_eq!(answer.header("location"), Some(clean));
        let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
        let attributes: Vec<String> = cookie.split(';').map(|p| p.trim().to_ascii_lowercase()).collect();
        for needed in ["httponly", "samesite=strict"] {
            assert!(attributes.iter().any(|a| a == needed), "{cookie}");
        }
        let pair = cookie.split(';').next().expect("a pair");
        let both = format!("first=1; {pair}; last=2");
        for cookie in [pair, &both] {
            for path in ["/sim", "/sim/api/status", "/sim/viewer/icon.svg"] {
                let answer = get(&simulator, path, &[("cookie", cookie)]);
                assert_eq!(answer.status, 200, "{path}");
                assert!(!answer.text().contains(TOKEN));
            }
        }
    }
}

#[test]
fn requests_of_other_sites_are_refused_even_with_the_token() {
    let simulator = setup().token(TOKEN).start();
    let (bearer, cookie) = (format!("Bearer {TOKEN}"), format!("chicane_token={TOKEN}"));
    for own in [("authorization", bearer.as_str()), ("cookie", cookie.as_str())] {
        for other in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
            let answer = simulator.client().request("POST", "/sim/api/reset", &[own, other], b"");
            assert_eq!(refusal(&answer).0, 403, "{own:?} {other:?}");
        }
        let mut client = simulator.client().with_host("evil.example");
        assert_eq!(refusal(&client.request("GET", "/sim/api/status", &[own], b"")).0, 403);
    }
}

#[test]
fn a_token_parameter_is_ignored_without_token_authentication() {
    let simulator = start();
    assert_eq!(get(&simulator, "/sim?token=whatever", &[]).status, 200);
}

#[test]
fn listening_to_other_machines_requires_a_token() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = setup().listen(address).try_start().err().expect("refused");
        assert!(refused.to_string().contains("token"), "{refused}");
    }
}

/// Returns an address of this machine other than loopback, or `None` if the machine has none.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // On a UDP socket, `connect` sends nothing. It only selects a route and thus a local address.
    socket.connect("192.0.2.1:9").ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

#[test]
fn a_simulator_on_all_addresses_accepts_its_own_addresses_as_host() {
    let simulator = setup().listen("0.0.0.0:0").token(TOKEN).start();
    let port = simulator.address.port();
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("authorization", bearer.as_str())];
    let mut own: Vec<IpAddr> = vec!["127.0.0.1".parse().expect("an address")];
    own.extend(own_address());
    for ip in own {
        let address = SocketAddr::new(ip, port);
        let answer = Client::new(address).request("GET", "/sim/api/status", &headers, b"");
        assert_eq!(answer.status, 200, "{address}");
        assert_eq!(refusal(&Client::new(address).get("/sim/api/status")).0, 401, "{address}");
        let open = format!("/sim?token={TOKEN}");
        assert_eq!(Client::new(address).get(&open).status, 303, "{address}");
        for host in ["evil.example", "0.0.0.0", "192.0.2.1"] {
            let bytes =
                format!("GET /sim/api/status HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\n\r\n");
            assert_eq!(refusal(&raw(address, bytes.as_bytes())).0, 403, "{host} at {address}");
        }
    }
}
