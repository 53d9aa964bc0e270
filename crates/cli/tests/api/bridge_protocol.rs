//! The rosbridge protocol: errors, rare operations, and access control.

use crate::support::{Bridge, Received, Socket, detail, refusal, setup, start_paused, until};
use chicane_testkit::http::RESPONSE_TIMEOUT;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

const TOKEN: &str = "s3cret-token.of~mine_0";

#[test]
fn an_invalid_message_is_answered_and_the_connection_stays_open() {
    let (simulator, _) = start_paused();
    let mut bridge = simulator.bridge();
    for (message, word) in [
        ("nonsense", "not JSON"),
        ("[1, 2]", "JSON object"),
        ("", "not JSON"),
        (r#"{"op": "dance"}"#, "use one of advertise"),
        (r#"{"topic": "/scan"}"#, "op is missing"),
        (r#"{"op": "subscribe", "topic": "/nothing"}"#, "/rosapi/topics lists"),
        (
            r#"{"op": "subscribe", "topic": "/scan", "type": "std_msgs/String"}"#,
            "sensor_msgs/msg/LaserScan, not",
        ),
        (r#"{"op": "subscribe", "topic": "/scan", "compression": "zip"}"#, "none, png, cbor, cbor-raw"),
        (r#"{"op": "subscribe", "topic": "/scan", "compression": 1}"#, "compression must be a text"),
        (r#"{"op": "subscribe", "topic": "/scan", "throttle_rate": "fast"}"#, "milliseconds"),
        (
            r#"{"op": "publish", "topic": "/scan", "msg": {}}"#,
            "only the robot publishes /scan; a client can publish on /speed",
        ),
        (r#"{"op": "advertise", "topic": "/tf", "type": "tf2_msgs/TFMessage"}"#, "only the robot publishes"),
        (
            r#"{"op": "advertise", "topic": "/cmd_vel", "type": "std_msgs/Float64"}"#,
            "geometry_msgs/msg/Twist, not",
        ),
        (r#"{"op": "publish", "topic": "/speed", "msg": {"value": 1}}"#, "no field \"value\"; it has data"),
        (r#"{"op": "publish", "topic": "/speed", "msg": {"data": "1"}}"#, "msg.data must be a number"),
        (r#"{"op": "publish", "topic": "/speed", "msg": {"data": null}}"#, "msg.data must be a number"),
        (r#"{"op": "publish", "topic": "/speed", "msg": {"data": true}}"#, "msg.data must be a number"),
        (r#"{"op": "publish", "topic": "/speed", "msg": {"data": 1e999}}"#, "not JSON"),
        (r#"{"op": "publish", "topic": "/speed", "msg": {"data": NaN}}"#, "not JSON"),
        (r#"{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": 1}}"#, "must be an object"),
        (r#"{"op": "advertise_service", "service": "/mine", "type": "a/B"}"#, "not supported"),
        (r#"{"op": "advertise_action", "action": "/mine", "type": "a/B"}"#, "not supported"),
    ] {
        let reply = bridge.refused(message);
        assert!(reply.contains(word), "{message}: {reply}");
    }
    bridge.0.send_bytes(b"{\"op\": \"subscribe\"}");
    assert!(bridge.next_of("status")["msg"].as_str().is_some_and(|m| m.contains("text frames")));
    // The error contains the id of the refused message.
    bridge.send(json!({"op": "subscribe", "id": "mine", "topic": "/nothing"}));
    assert_eq!(bridge.next_of("status")["id"], "mine");
    let mut robot = simulator.robot();
    assert_eq!(robot.commanded("speed"), 0.0, "an invalid message took effect");
    bridge.publish("/speed", json!({"data": 0.25}));
    until("the next command takes effect", || (robot.commanded("speed") == 0.25).then_some(()));
}

#[test]
fn a_hundred_invalid_messages_in_a_row_close_the_connection() {
    let (simulator, _) = start_paused();
    let mut bridge = simulator.bridge();
    for _ in 0..3 {
        for _ in 0..99 {
            bridge.refused("garbage");
        }
        // A valid message resets the count of invalid messages.
        bridge.call("/rosapi/nodes", json!({}));
    }
    for _ in 0..100 {
        bridge.0.send("garbage");
    }
    let end =
        std::iter::from_fn(|| Some(bridge.0.receive())).find(|reply| !matches!(reply, Received::Text(_)));
    assert_eq!(end, Some(Received::Close(1008)));
    assert_eq!(simulator.bridge().call("/rosapi/nodes", json!({})), json!({"nodes": ["/chicane"]}));
}

#[test]
fn set_level_selects_which_status_messages_are_sent() {
    let (simulator, _) = start_paused();
    let mut bridge = simulator.bridge();
    let quiet = |bridge: &mut Bridge| {
        bridge.send(json!({"op": "call_service", "service": "/rosapi/nodes"}));
        bridge.receive()["op"] == "service_response"
    };
    // Warnings are not sent by default.
    bridge.send(json!({"op": "unsubscribe", "topic": "/scan"}));
    bridge.send(json!({"op": "auth", "mac": "x"}));
    assert!(quiet(&mut bridge));
    bridge.send(json!({"op": "set_level", "level": "warning"}));
    bridge.send(json!({"op": "unsubscribe", "topic": "/scan"}));
    let reply = bridge.receive();
    assert_eq!((&reply["op"], &reply["level"]), (&json!("status"), &json!("warning")), "{reply}");
    bridge.send(json!({"op": "auth", "mac": "x"}));
    assert!(bridge.receive()["msg"].as_str().is_some_and(|m| m.contains("Authorization: Bearer")));
    bridge.send(json!({"op": "set_level", "level": "none"}));
    bridge.send(json!({"op": "dance"}));
    assert!(quiet(&mut bridge));
}

#[test]
fn services_reply_by_name() {
    let (simulator, mut api) = start_paused();
    let mut bridge = simulator.bridge();
    let types = bridge.call("rosapi/topics_for_type", json!({"type": "nav_msgs/Odometry"}));
    assert_eq!(types, json!({"topics": ["/odom", "/odom/laser"]}));
    assert_eq!(bridge.call("/rosapi/topic_type", json!(["odom"])), json!({"type": "nav_msgs/msg/Odometry"}));
    api.step(250);
    let time = bridge.call("/rosapi/get_time", Value::Null);
    assert_eq!((&time["time"]["sec"], &time["time"]["nanosec"]), (&json!(1), &json!(250_000_000)));
    assert_eq!(bridge.call("/rosapi/get_param", json!({"name": "/use_sim_time"}))["value"], "true");
    let details = bridge.call("/rosapi/message_details", json!({"type": "geometry_msgs/Twist"}));
    assert_eq!(details["typedefs"][0]["fieldnames"], json!(["linear", "angular"]));
    for (service, args, word) in [
        ("/add_two_ints", json!({"a": 1}), "unknown service"),
        ("/rosapi/topic_type", json!({"name": "x"}), "takes topic"),
        ("/rosapi/topic_type", json!(7), "takes topic"),
    ] {
        let answer = bridge.try_call(service, args);
        assert_eq!(answer["result"], false);
        assert!(answer["values"].as_str().is_some_and(|v| v.contains(word)), "{answer}");
    }
    bridge.send(
        json!({"op": "send_action_goal", "id": "goal", "action": "/drive", "action_type": "a/B", "args": {}}),
    );
    let result = bridge.next_of("action_result");
    assert_eq!(
        (&result["id"], &result["result"], &result["status"]),
        (&json!("goal"), &json!(false), &json!(6))
    );
    assert!(bridge.next_of("status")["msg"].as_str().is_some_and(|m| m.contains("not supported")));
}

#[test]
fn the_bridge_is_also_served_at_the_root() {
    let (simulator, _) = start_paused();
    let mut bridge = Bridge(simulator.socket("/"));
    assert_eq!(bridge.call("/rosapi/nodes", json!({})), json!({"nodes": ["/chicane"]}));
    let page = simulator.client().get("/");
    assert_eq!((page.status, page.header("location")), (307, Some("/sim")));
    let plain = simulator.client().get("/rosbridge");
    assert_eq!((detail(&plain).0, plain.header("upgrade")), (426, Some("websocket")));
}

#[test]
fn pages_of_other_sites_cannot_connect() {
    let (simulator, _) = start_paused();
    for path in ["/rosbridge", "/"] {
        let open = |headers: &[(&str, &str)]| Socket::try_open(simulator.address, path, headers);
        for origin in ["http://evil.example", "null", "http://localhost:1"] {
            assert_eq!(open(&[("origin", origin)]).err(), Some(403), "{origin}");
        }
        assert_eq!(open(&[("sec-fetch-site", "cross-site")]).err(), Some(403));
        assert_eq!(open(&[("host", "evil.example")]).err(), Some(403));
        let own = format!("http://{}", simulator.address);
        assert!(open(&[("origin", &own)]).is_ok());
    }
}

#[test]
fn the_handshake_requires_the_token_if_one_is_set() {
    let simulator = setup().token(TOKEN).start();
    for path in ["/rosbridge", "/"] {
        let open = |headers: &[(&str, &str)]| Socket::try_open(simulator.address, path, headers);
        assert_eq!(open(&[]).err(), Some(401));
        assert_eq!(open(&[("authorization", "Bearer wrong-token")]).err(), Some(401));
        let bearer = format!("Bearer {TOKEN}");
        let mut bridge = Bridge(open(&[("authorization", &bearer)]).expect("an open socket"));
        bridge.publish("/steering", json!({"data": 0.1}));
        bridge.call("/rosapi/nodes", json!({}));
        let mut client = simulator.client().with_header("authorization", bearer);
        until("the command takes effect", || {
            (client.get("/states?include=").text().contains("\"steering\":0.1")).then_some(())
        });
        let cookie = format!("chicane_token_{}={TOKEN}", simulator.address.port());
        assert!(open(&[("cookie", &cookie)]).is_ok());
    }
    assert_eq!(refusal(&simulator.client().get("/rosbridge")).0, 401);
}

/// Opens a WebSocket without the client library, sends an invalid frame, and returns everything
/// that the server sends after the handshake.
fn reply_to_frame(simulator: &crate::support::Simulator, path: &str, frame: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(simulator.address).expect("a connection");
    stream.set_read_timeout(Some(RESPONSE_TIMEOUT)).expect("a time limit");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        simulator.address
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut all = Vec::new();
    let mut byte = [0];
    while !all.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a head");
        all.push(byte[0]);
    }
    stream.write_all(frame).expect("sent");
    all.clear();
    // This read fails if the server resets the connection instead of closing it.
    stream.read_to_end(&mut all).expect("an orderly end");
    all
}

#[test]
fn a_client_chooses_how_messages_are_written() {
    use base64::Engine;
    let (simulator, mut api) = start_paused();
    let (mut bridge, mut raw, mut picture, mut plain) =
        (simulator.bridge(), simulator.bridge(), simulator.bridge(), simulator.bridge());
    for (client, compression) in
        [(&mut bridge, "cbor"), (&mut raw, "cbor-raw"), (&mut picture, "png"), (&mut plain, "none")]
    {
        client.wait_until_tapped();
        client.send(json!({"op": "subscribe", "topic": "/scan", "compression": compression}));
        client.call("/rosapi/nodes", json!({}));
    }
    api.step(20);
    let wanted = plain.next_on("/scan");
    let Received::Binary(bytes) = bridge.0.receive() else { panic!("a binary frame") };
    // The CBOR message is a map with three fields. The field `ranges` of its `msg` is an array of
    // 721 32-bit floats: tag 85, and 4 × 721 bytes.
    assert!(bytes.starts_with(b"\xa3\x62op\x67publish\x65topic\x65/scan\x63msg"), "{:x?}", &bytes[..40]);
    let name = b"\x66ranges\xd8\x55\x59\x0b\x44";
    let start = bytes.windows(name.len()).position(|part| part == name).expect("ranges") + name.len();
    let first = f32::from_le_bytes(bytes[start..start + 4].try_into().expect("four bytes"));
    let json_range = wanted["ranges"][0].as_f64();
    assert!(json_range.map_or(first.is_infinite(), |r| (r - f64::from(first)).abs() < 1e-6), "{first}");
    let Received::Binary(bytes) = raw.0.receive() else { panic!("a binary frame") };
    let scan = bytes.windows(4).position(|part| part == [0, 1, 0, 0]).expect("the header of the message");
    let scan: chicane_ros::messages::LaserScan = chicane_ros::cdr::decode(&bytes[scan..]).expect("a message");
    assert_eq!((scan.ranges.len(), scan.ranges[0]), (721, first));
    let packed = picture.next_of("png");
    let data = packed["data"].as_str().expect("a text");
    let file = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
    assert!(file.starts_with(b"\x89PNG"), "{:x?}", &file[..8]);
}

#[test]
fn a_protocol_violation_closes_the_connection_with_code_1002() {
    let (simulator, _) = start_paused();
    for path in ["/rosbridge", "/speed/stream", "/steering/stream"] {
        for (what, frame) in [
            ("without mask", &b"\x81\x02{}"[..]),
            ("reserved bits", b"\xf1\x80\0\0\0\0"),
            ("unknown opcode", b"\x83\x80\0\0\0\0"),
            ("fragmented ping", b"\x09\x80\0\0\0\0"),
            ("continuation without a beginning", b"\x80\x80\0\0\0\0"),
            ("without mask, followed by many bytes", &[&b"\x81\x02"[..], &[b'x'; 30_000]].concat()),
        ] {
            let reply = reply_to_frame(&simulator, path, frame);
            assert!(reply.len() > 4 && reply[0] == 0x88, "{path}, {what}: {reply:?}");
            assert_eq!(u16::from_be_bytes([reply[2], reply[3]]), 1002, "{path}, {what}");
        }
    }
}
