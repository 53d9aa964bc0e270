//! Who may do what over `/foxglove`: tokens, roles, and pages of other sites.

use crate::support::{Event, FOXGLOVE_V1, Foxglove, Simulator, Socket, setup, start, until};
use chicane_ros::cdr;
use chicane_ros::messages::Float64;
use serde_json::json;

const TEACHER: &str = "the-teachers-token";
const STUDENT: &str = "the-students-token";
const SPECTATOR: &str = "the-spectators-token";
const NEEDS_TEACHER: &str = "this needs the teacher's token";
const NEEDS_STUDENT: &str = "this needs the students' or the teacher's token";

fn open(simulator: &Simulator, token: &str) -> Result<Foxglove, u16> {
    simulator.try_foxglove(&[("authorization", &format!("Bearer {token}"))])
}

/// Tries every action. Returns the error texts for a command, a parameter, a reset and a respawn.
/// `None` stands for an action that the server accepted.
fn refusals(client: &mut Foxglove) -> [Option<String>; 4] {
    let refusal = |client: &mut Foxglove| {
        // The server processes messages in order. So a refusal arrives before the reply to this
        // request.
        client.send(json!({"op": "getParameters", "id": "end"}));
        let mut refused = None;
        client.find(|event| {
            let Event::Text(text) = event else { return None };
            if text["op"] == "status" {
                refused = text["message"].as_str().map(str::to_owned);
            }
            (text["id"] == "end").then_some(())
        });
        refused
    };
    let steering = cdr::encode(&Float64 { data: 0.1 });
    client.publish("/steering", "std_msgs/msg/Float64", "cdr", &steering);
    let command = refusal(client);
    client.send(json!({"op": "setParameters", "parameters": [{"name": "brightness", "value": 0.5}]}));
    let parameter = refusal(client);
    // Waits for the response to each accepted call, because commands are refused until a respawn
    // has ended.
    let calls = [1, 2].map(|id| {
        client.send_call(id, 1, "json", b"");
        client.find(|event| match event {
            Event::Text(text) if text["op"] == "status" => Some(text["message"].as_str().map(str::to_owned)),
            Event::Response { service, .. } if *service == id => Some(None),
            _ => None,
        })
    });
    let [reset, respawn] = calls;
    [command, parameter, reset, respawn]
}

#[test]
fn every_action_needs_the_role_of_its_post_request() {
    let setup = setup().token(TEACHER).student_token(STUDENT).spectator_token(SPECTATOR);
    let simulator = setup.start();
    let (student, teacher) = (|| Some(NEEDS_STUDENT.to_owned()), || Some(NEEDS_TEACHER.to_owned()));
    assert_eq!(simulator.try_foxglove(&[]).err(), Some(401));
    assert_eq!(open(&simulator, "wrong").err(), Some(401));
    let mut client = open(&simulator, SPECTATOR).expect("a spectator watches");
    client.subscribe("/sim/state");
    client.next_on("/sim/state");
    client.subscribe("/imu");
    client.next_on("/imu");
    assert_eq!(refusals(&mut client), [student(), teacher(), teacher(), student()]);
    let brightness = || {
        let mut client = simulator.client().with_header("authorization", format!("Bearer {TEACHER}"));
        client.get("/sim/api/brightness").text()
    };
    assert_eq!(brightness(), r#"{"value":1.0}"#);
    let mut client = open(&simulator, STUDENT).expect("a student drives");
    assert_eq!(refusals(&mut client), [None, teacher(), teacher(), None]);
    let mut client = open(&simulator, TEACHER).expect("a teacher");
    assert_eq!(refusals(&mut client), [None, None, None, None]);
    until("the brightness", || (brightness() == r#"{"value":0.5}"#).then_some(()));
}

#[test]
fn only_listed_pages_of_other_sites_may_connect() {
    const APP: &str = "https://app.foxglove.dev";
    let with = |simulator: &Simulator, path: &str, origin: &str| {
        let headers = [FOXGLOVE_V1, ("origin", origin), ("sec-fetch-site", "cross-site")];
        Socket::try_open(simulator.address, path, &headers).map(drop)
    };
    let closed = start();
    assert_eq!(with(&closed, "/foxglove", APP), Err(403));
    let simulator = setup().foxglove_origin(APP).start();
    assert_eq!(with(&simulator, "/foxglove", APP), Ok(()));
    for other in
        ["https://app.foxglove.dev.evil.example", "http://app.foxglove.dev", "null", "https://evil.example"]
    {
        assert_eq!(with(&simulator, "/foxglove", other), Err(403), "{other}");
    }
    for path in ["/rosbridge", "/speed/stream"] {
        assert_eq!(with(&simulator, path, APP), Err(403), "{path}");
    }
    // A page of this origin may only open the WebSocket. Other requests of the page are refused.
    let headers = [("origin", APP), ("content-type", "application/json")];
    assert_eq!(simulator.client().request("POST", "/sim/api/reset", &headers, b"{}").status, 403);
    assert_eq!(simulator.client().request("GET", "/foxglove", &headers, b"").status, 403);
}

#[test]
fn the_refusal_names_the_option() {
    let simulator = start();
    let headers = [
        FOXGLOVE_V1,
        ("origin", "https://app.foxglove.dev"),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let answer = simulator.client().request("GET", "/foxglove", &headers, b"");
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("--foxglove-origin https://app.foxglove.dev"), "{}", answer.text());
}
