//! Clients of `/foxglove` that are malicious or too slow.

use crate::support::{
    Event, FOXGLOVE_V1, Foxglove, MAX_STOP_TIME, Received, Simulator, Socket, number, start, start_paused,
    until,
};
use serde_json::json;

#[test]
fn unusual_messages_are_refused_without_effect() {
    let (simulator, mut api) = start_paused();
    let mut client = simulator.foxglove();
    let deep = "[".repeat(30_000);
    let deep_value = format!(
        r#"{{"op": "setParameters", "parameters": [{{"name": "speed", "value": {}1{}}}]}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let name = "é".repeat(20_000);
    let names = format!(r#"{{"op": "getParameters", "parameterNames": ["{name}"]}}"#);
    let id = format!(r#"{{"op": "getParameters", "id": "{}"}}"#, "i".repeat(50_000));
    let op = format!(r#"{{"op": "{name}"}}"#);
    for bad in [
        "",
        "[]",
        "{}",
        "\u{0}",
        &deep,
        &deep_value,
        &names,
        &id,
        &op,
        r#"{"op": "subscribe"}"#,
        r#"{"op": "subscribe", "subscriptions": [{"id": -1, "channelId": 1}]}"#,
        r#"{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 4000000000}]}"#,
        r#"{"op": "unadvertise", "channelIds": {"a": 1}}"#,
        r#"{"op": "setParameters", "parameters": [{"name": "speed", "value": {"a": []}}]}"#,
    ] {
        client.refused(bad);
    }
    for bad in [&b""[..], b"\x00", b"\x01\x01", b"\x02\x01\0\0\0\x01\0\0\0\xff\xff\xff\xffx", b"\xff\xff"] {
        client.socket.send_bytes(bad);
        client.next_refusal();
    }
    assert_eq!(client.parameters(&[]), json!({"brightness": 1.0, "paused": true, "speed": 1.0}));
    // A message over the size limit closes only the connection of its sender.
    client.socket.send_bytes(&vec![1; (64 << 10) + 1]);
    let end =
        std::iter::from_fn(|| Some(client.receive())).find(|e| matches!(e, Event::Close(_) | Event::End));
    assert_eq!(end, Some(Event::Close(1009)));
    assert_eq!(simulator.foxglove().parameters(&["speed"]), json!({"speed": 1.0}));
    assert_eq!(api.get("/clock")["speed"], 1.0);
}

#[test]
fn too_many_errors_in_a_row_close_the_connection() {
    let (simulator, _) = start_paused();
    let mut client = simulator.foxglove();
    for _ in 0..99 {
        client.refused("{");
    }
    client.parameters(&["speed"]);
    // The valid message above has reset the count of errors, so 99 further errors are accepted. The
    // unsupported operation below neither counts as an error nor resets the count.
    for _ in 0..99 {
        client.refused("{");
    }
    client.send(json!({"op": "subscribeConnectionGraph"}));
    assert_eq!(client.next_of("status")["level"], 1);
    client.send(json!("{"));
    let end =
        std::iter::from_fn(|| Some(client.receive())).find(|e| matches!(e, Event::Close(_) | Event::End));
    assert_eq!(end, Some(Event::Close(1008)));
}

#[test]
fn lists_cause_a_bounded_number_of_responses() {
    let (simulator, _) = start_paused();
    let mut client = simulator.foxglove();
    let ids: Vec<u32> = (0..5000).collect();
    client.send(json!({"op": "unsubscribe", "subscriptionIds": ids}));
    client.send(json!({"op": "getParameters", "id": "end"}));
    let mut count = 0;
    client.find(|event| {
        let Event::Text(text) = event else { return None };
        count += u32::from(text["op"] == "status");
        (text["id"] == "end").then_some(())
    });
    assert!((1..=100).contains(&count), "{count}");
    // A client can subscribe to a channel only once, so the number of its subscriptions is limited.
    let channel = client.channels["/imu"]["id"].clone();
    for id in 0..3 {
        client.send(json!({"op": "subscribe", "subscriptions": [{"id": id, "channelId": channel}]}));
    }
    assert!(client.next_refusal().contains("a subscription to /imu already"));
    // The number of channels that a client can advertise is limited too.
    let channels =
        (0..1000).map(|id| json!({"id": id, "topic": "/speed", "encoding": "cdr", "schemaName": ""}));
    client.send(json!({"op": "advertise", "channels": channels.take(500).collect::<Vec<_>>()}));
    client.find(|event| match event {
        Event::Text(text) if text["op"] == "status" => {
            text["message"].as_str()?.contains("up to 64 channels").then_some(())
        }
        _ => None,
    });
}

#[test]
fn requests_of_a_client_that_does_not_read_are_not_processed_further() {
    let (simulator, _) = start_paused();
    let mut unread = simulator.foxglove();
    let (calls, length) = (2000, 200);
    let id = "i".repeat(length);
    let asking = std::thread::spawn(move || {
        for _ in 0..calls {
            unread.send(json!({"op": "getParameters", "id": id}));
        }
        unread
    });
    let mut other = simulator.foxglove();
    for _ in 0..200 {
        other.parameters(&[]);
    }
    // When the client finally reads, it receives all responses.
    let mut unread = asking.join().expect("the sending thread");
    for _ in 0..calls {
        unread.next_of("parameterValues");
    }
}

/// Opens a client that subscribes to several topics, among them those with the most data.
fn greedy(simulator: &Simulator) -> Foxglove {
    let mut client = simulator.foxglove();
    for topic in
        ["/camera/image_raw", "/camera/image_raw/compressed", "/scan", "/tf", "/clock", "/sim/objects"]
    {
        client.subscribe(topic);
    }
    client
}

#[test]
fn a_stalled_reader_delays_no_other_and_loses_old_messages() {
    let simulator = start();
    let mut stalled: Vec<Foxglove> = (0..3).map(|_| greedy(&simulator)).collect();
    let (mut client, mut api) = (simulator.foxglove(), simulator.api());
    client.subscribe("/imu");
    let first = client.next_on("/imu").time_s();
    let mut last = first;
    // After three seconds the data that the stalled clients do not read exceeds all buffers.
    while last < first + 3.0 {
        let next = client.next_on("/imu").time_s();
        assert!((next - last - 0.02).abs() < 1e-6, "a message is missing: {next} after {last}");
        last = next;
    }
    // A stalled client that reads again receives the buffered messages, misses some, and then
    // catches up.
    let now = api.time();
    let mut clocks = Vec::new();
    while clocks.last().is_none_or(|last| *last < now) {
        clocks.push(stalled[0].next_on("/clock").time_s());
    }
    assert!(clocks.windows(2).all(|w| w[1] > w[0]), "the messages are not in order");
    assert!(clocks.windows(2).any(|w| w[1] - w[0] > 0.1), "no message was dropped");
    until("the simulation keeps real time", || (number(&api.get("/clock")["rtf"]) > 0.95).then_some(()));
    // The stalled clients disconnect without a close frame. This must not affect the other client.
    drop(stalled);
    assert!(client.next_on("/imu").time_s() > last);
}

#[test]
fn disconnected_clients_free_their_places() {
    let simulator = start();
    for round in 0..10 {
        let mut clients: Vec<_> = (0..10).map(|_| simulator.foxglove()).collect();
        for client in &mut clients {
            client.wait_until_tapped();
            client.subscribe("/sim/state");
            client.next_on("/sim/state");
        }
        for (i, client) in clients.into_iter().enumerate() {
            if (i + round) % 2 == 0 { client.socket.close() } else { client.socket.disconnect() }
        }
    }
    let open = || Socket::try_open(simulator.address, "/foxglove", &[FOXGLOVE_V1]).expect("a socket");
    // The first message is a text if the server has a free place for the client, else a close
    // frame.
    let served = |mut socket: Socket| matches!(socket.receive(), Received::Text(_)).then_some(socket);
    let place = || until("a free place", || served(open()));
    let all: Vec<Socket> = (0..64).map(|_| place()).collect();
    assert_eq!(open().receive(), Received::Close(1013));
    drop(all);
}

#[test]
fn the_simulator_stops_with_reading_and_stalled_clients() {
    let simulator = start();
    let _stalled: Vec<Foxglove> = (0..3).map(|_| greedy(&simulator)).collect();
    let mut client = simulator.foxglove();
    client.wait_until_tapped();
    let took = simulator.stop();
    assert!(took < MAX_STOP_TIME, "{took:?}");
    let end =
        std::iter::from_fn(|| Some(client.receive())).find(|e| matches!(e, Event::Close(_) | Event::End));
    assert_eq!(end, Some(Event::Close(1001)));
}
