//! Images of the floor for printing: responses, the queue, and cancellation.

use crate::support::{
    MAX_STOP_TIME, Simulator, open_route, plain, refusal, setup, start, start_paused, truncated, until,
};
use chicane_testkit::http::HttpResponse;
use std::io::Write;
use std::net::TcpStream;

/// Path of a print that would take minutes to finish.
const LONG: &str = "/sim/api/worlds/oval/print.jpg?dpi=200";
const SHORT: &str = "/sim/api/worlds/oval/print.jpg?dpi=10";

/// Requests the long print without reading the response.
fn request_without_reading(simulator: &Simulator) -> TcpStream {
    let mut stream = TcpStream::connect(simulator.address).expect("a connection");
    let request = format!("GET {LONG} HTTP/1.1\r\nHost: {}\r\n\r\n", simulator.address);
    stream.write_all(request.as_bytes()).expect("the request is sent");
    stream.set_nonblocking(true).expect("a nonblocking stream");
    stream
}

/// The status of the response, or `None` if its first line has not arrived.
fn response_status(stream: &TcpStream) -> Option<u16> {
    let mut head = [0; 12];
    let there = stream.peek(&mut head).ok().filter(|n| *n == head.len())?;
    std::str::from_utf8(&head[there - 3..]).ok()?.parse().ok()
}

fn size(answer: &HttpResponse) -> (u32, u32) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let picture = image::load_from_memory(&answer.body).expect("a whole picture");
    (picture.width(), picture.height())
}

#[test]
fn a_print_is_a_jpeg_with_its_resolution() {
    let (simulator, mut api) = start_paused();
    let answer = simulator.client().get(SHORT);
    assert_eq!(answer.header("content-type"), Some("image/jpeg"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"oval-10dpi.jpg\""));
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"), "the image is streamed");
    let bounds = api.get("/bounds");
    let pixels = |axis: &str| {
        let of = |end: &str| bounds[format!("{end}{axis}")].as_f64().expect("a number");
        ((of("max") - of("min")) / 0.0254 * 10.0).round() as u32
    };
    assert_eq!(size(&answer), (pixels("X"), pixels("Y")));
    assert_eq!(answer.body[13..18], [1, 0, 10, 0, 10]);
    // A world that is not running can be printed too. A second print of the same floor has the same
    // bytes.
    let other = simulator.client().get("/sim/api/worlds/field/print.jpg?dpi=10");
    assert_eq!(size(&other), (3937, 3937));
    assert!(simulator.client().get(SHORT).body == answer.body);
}

#[test]
fn a_print_that_is_impossible_is_refused() {
    let worlds = setup().with_world("torn", truncated("torn")).with_world("plain", plain("plain"));
    let simulator = worlds.with_world("a_road", open_route("a_road")).start();
    let mut api = simulator.api();
    let range = "dpi must be a whole number from 10 to 600";
    for dpi in ["9", "601", "0", "-10", "1e2", "72.5", "", "x", "99999999999999999999", "%ff"] {
        let refused = api.get_refused(&format!("/worlds/oval/print.jpg?dpi={dpi}"));
        assert_eq!(refused, (400, range.to_owned()), "{dpi}");
    }
    let (status, text) = api.get_refused("/worlds/oval/print.jpg?dpi=600");
    assert!(status == 400 && text.contains("at most 208 dpi"), "{status} {text}");
    assert_eq!(api.get_refused("/worlds/nowhere/print.jpg?dpi=x").0, 404);
    assert_eq!(api.get_refused("/worlds/torn/print.jpg").0, 422);
    for name in ["plain", "a_road"] {
        let refused = api.get_refused(&format!("/worlds/{name}/print.jpg"));
        let text = "this world has no floor to print: no surface lies on the ground";
        assert_eq!(refused, (404, text.to_owned()), "{name}");
    }
}

#[test]
fn two_concurrent_prints_are_equal() {
    let simulator = start();
    // Both clients read, because a client that does not read would block the queue for a while.
    let (mut one, mut two) = (simulator.client(), simulator.client());
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(|| two.get(SHORT));
        (one.get(SHORT), other.join().expect("an answer"))
    });
    assert_eq!(size(&one), (3150, 2362));
    assert!(one.body == two.body);
}

#[test]
fn a_print_is_cancelled_when_its_client_disconnects() {
    let simulator = start();
    for _ in 0..3 {
        let gone = request_without_reading(&simulator);
        assert_eq!(until("the print has started", || response_status(&gone)), 200);
        drop(gone);
    }
    // If a cancelled print were still running, this request would time out.
    assert_eq!(simulator.client().get(SHORT).status, 200);
}

#[test]
fn a_print_beyond_the_queue_limit_is_refused() {
    let simulator = start();
    // None of the nine clients reads. One print blocks on back-pressure, seven prints wait in the
    // queue, and the ninth print exceeds the limit.
    let mut waiting: Vec<TcpStream> = (0..9).map(|_| request_without_reading(&simulator)).collect();
    let refused = |w: &TcpStream| response_status(w) == Some(503);
    until("a print is refused", || waiting.iter().any(refused).then_some(()));
    assert_eq!(waiting.iter().filter(|w| refused(w)).count(), 1);
    let answer = simulator.client().get(LONG);
    assert_eq!(refusal(&answer), (503, "too many prints are being made; try again".to_owned()));
    // Other requests are not affected.
    assert_eq!(simulator.api().get("/status")["running"], true);
    waiting.clear();
    assert_eq!(until("the queue has room again", || free(&simulator)), 200);
}

fn free(simulator: &Simulator) -> Option<u16> {
    let answer = simulator.client().get(SHORT);
    (answer.status != 503).then_some(answer.status)
}

#[test]
fn a_print_does_not_delay_the_stop_of_the_simulator() {
    let simulator = start();
    let asked = [request_without_reading(&simulator), request_without_reading(&simulator)];
    until("a print has started", || asked.iter().any(|a| response_status(a) == Some(200)).then_some(()));
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
}
