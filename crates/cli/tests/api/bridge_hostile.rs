//! Clients of `/rosbridge` that are malicious or too slow.

use crate::support::{
    MAX_STOP_TIME, Received, Socket, number, seconds, start, start_paused, status_when_full, until,
};
use serde_json::json;

#[test]
fn unusual_json_is_refused_without_effect() {
    let (simulator, _) = start_paused();
    let mut bridge = simulator.bridge();
    let deep = "[".repeat(30_000);
    let deep_message = format!(
        r#"{{"op": "publish", "topic": "/speed", "msg": {}1{}}}"#,
        "{\"data\":".repeat(100),
        "}".repeat(100)
    );
    let numbers = vec!["1"; 30_000].join(",");
    let wide = format!(r#"{{"op": "publish", "topic": "/speed", "msg": {{"data": [{numbers}]}}}}"#);
    let many: String = (0..3000).map(|i| format!(r#""f{i}": 0,"#)).collect();
    let fields = format!(r#"{{"op": "publish", "topic": "/speed", "msg": {{{many} "data": 1}}}}"#);
    let args =
        format!(r#"{{"op": "call_service", "service": "/rosapi/{}", "args": [{numbers}]}}"#, "x".repeat(300));
    let id = format!(r#"{{"op": "subscribe", "id": "{}", "topic": "/scan"}}"#, "i".repeat(50_000));
    let name = format!(r#"{{"op": "subscribe", "topic": "/{}"}}"#, "é".repeat(20_000));
    for bad in [&deep, &deep_message, &wide, &fields, &args, &id, &name] {
        bridge.refused(bad);
    }
    for bad in
        [r#"{"op": ["subscribe"]}"#, r#"{"op": "subscribe", "topic": {"a": 1}}"#, r#"{"op": null}"#, "\u{0}"]
    {
        bridge.refused(bad);
    }
    assert_eq!(simulator.robot().commanded("speed"), 0.0);
    assert_eq!(bridge.call("/rosapi/nodes", json!({})), json!({"nodes": ["/chicane"]}));
    // A message over the size limit closes only the connection of its sender.
    bridge.0.send_bytes(&vec![b' '; (64 << 10) + 1]);
    assert_eq!(bridge.0.receive(), Received::Close(1009));
    assert_eq!(simulator.bridge().call("/rosapi/nodes", json!({})), json!({"nodes": ["/chicane"]}));
}

#[test]
fn subscriptions_over_the_limit_are_refused() {
    let (simulator, mut api) = start_paused();
    let mut bridge = simulator.bridge();
    let mut refused = 0;
    for round in 0..100 {
        for i in 0..50 {
            let id = format!("{round}.{i}");
            bridge.send(
                json!({"op": "subscribe", "topic": "/imu", "id": id, "queue_length": 4_000_000_000u64}),
            );
        }
        bridge.send(json!({"op": "call_service", "service": "/rosapi/nodes"}));
        loop {
            match bridge.0.receive() {
                Received::Text(reply) if reply["op"] == "status" => refused += 1,
                Received::Text(_) => break,
                other => panic!("{other:?}"),
            }
        }
        if refused > 0 {
            break;
        }
    }
    assert!(refused > 0);
    // The next message cancels only one of many subscriptions to `/imu`. So the client still
    // receives the topic, and it receives each message once.
    bridge.send(json!({"op": "unsubscribe", "topic": "/imu", "id": "0.0"}));
    bridge.wait_until_tapped();
    api.step(8);
    let stamps: Vec<f64> = (0..2).map(|_| seconds(&bridge.next_on("/imu")["header"]["stamp"])).collect();
    assert_eq!(stamps, [0.02, 0.04]);
    bridge.send(json!({"op": "unsubscribe", "topic": "/imu"}));
    bridge.subscribe("/imu");
    // The step uses another connection and could overtake the subscription. So the client first
    // waits for a reply. The bridge sends this reply after the subscription has taken effect.
    bridge.call("/rosapi/nodes", json!({}));
    api.step(4);
    assert!((seconds(&bridge.next_on("/imu")["header"]["stamp"]) - 0.06).abs() < 1e-9);
}

#[test]
fn requests_of_a_client_that_does_not_read_are_not_processed_further() {
    let (simulator, _) = start_paused();
    let mut unread = simulator.socket("/rosbridge");
    // Each response has about ten kilobytes. All responses together exceed the socket buffers.
    let asking = std::thread::spawn(move || {
        for _ in 0..2000 {
            unread.send(json!({"op": "call_service", "service": "/rosapi/topics_and_raw_types"}));
        }
        unread
    });
    let mut other = simulator.bridge();
    for _ in 0..200 {
        other.call("/rosapi/topics", json!({}));
    }
    // When the client finally reads, it receives all responses.
    let mut unread = asking.join().expect("the sending thread");
    for _ in 0..2000 {
        assert!(matches!(unread.receive(), Received::Text(reply) if reply["result"] == true));
    }
}

/// Opens a client that subscribes to many topics, among them those with the most data.
fn greedy(simulator: &crate::support::Simulator) -> Socket {
    let mut socket = simulator.socket("/rosbridge");
    for topic in [
        "/camera/image_raw",
        "/camera/image_raw/compressed",
        "/scan",
        "/scan_filtered",
        "/tf",
        "/clock",
        "/imu",
    ] {
        socket.send(json!({"op": "subscribe", "topic": topic}));
    }
    socket
}

#[test]
fn a_stalled_reader_delays_no_other_and_loses_old_messages() {
    let simulator = start();
    let mut stalled: Vec<Socket> = (0..3).map(|_| greedy(&simulator)).collect();
    let (mut bridge, mut api) = (simulator.bridge(), simulator.api());
    bridge.subscribe("/imu");
    let stamp = |message: serde_json::Value| seconds(&message["header"]["stamp"]);
    let first = stamp(bridge.next_on("/imu"));
    let mut last = first;
    // After three seconds the data that the stalled clients do not read exceeds all buffers.
    while last < first + 3.0 {
        let next = stamp(bridge.next_on("/imu"));
        assert!((next - last - 0.02).abs() < 1e-6, "a message is missing: {next} after {last}");
        last = next;
    }
    // A stalled client that reads again receives the buffered messages, misses some, and then
    // catches up.
    let now = api.time();
    let mut clocks = Vec::new();
    while clocks.last().is_none_or(|last| *last < now) {
        match stalled[0].receive() {
            Received::Text(reply) if reply["topic"] == "/clock" => {
                clocks.push(seconds(&reply["msg"]["clock"]))
            }
            Received::Text(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(clocks.windows(2).all(|w| w[1] > w[0]), "the messages are not in order");
    assert!(clocks.windows(2).any(|w| w[1] - w[0] > 0.1), "no message was dropped");
    until("the simulation keeps real time", || (number(&api.get("/clock")["rtf"]) > 0.95).then_some(()));
    // The stalled clients disconnect without a close frame. This must not affect the other client.
    drop(stalled);
    let after = stamp(bridge.next_on("/imu"));
    assert!(after > last);
}

#[test]
fn disconnected_clients_free_their_places() {
    let simulator = start();
    for round in 0..20 {
        let mut clients: Vec<_> = (0..10).map(|_| simulator.bridge()).collect();
        for client in &mut clients {
            client.wait_until_tapped();
            client.subscribe("/imu");
            client.next_on("/imu");
        }
        for (i, client) in clients.into_iter().enumerate() {
            if (i + round) % 2 == 0 { client.0.close() } else { client.0.disconnect() }
        }
    }
    // The bridge has room for 256 clients, and all places are free again.
    let open = || Socket::try_open(simulator.address, "/rosbridge", &[]);
    let mut all: Vec<_> = (0..256).map(|_| until("a free place", || open().ok())).collect();
    assert_eq!(status_when_full(&mut all, open), 503);
    drop(all);
}

#[test]
fn the_simulator_stops_with_reading_and_stalled_clients() {
    let simulator = start();
    let _stalled: Vec<Socket> = (0..3).map(|_| greedy(&simulator)).collect();
    let mut bridge = simulator.bridge();
    bridge.wait_until_tapped();
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
    let end =
        std::iter::from_fn(|| Some(bridge.0.receive())).find(|reply| !matches!(reply, Received::Text(_)));
    assert_eq!(end, Some(Received::Close(1001)));
}
