//! Clients of `/rosbridge` that mean harm, or do not keep up.

use crate::support::{AT_ONCE, Socket, Spoken, number, seconds, start, start_paused, until};
use serde_json::json;

#[test]
fn strange_json_does_no_harm() {
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
    assert_eq!(simulator.robot().asked("speed"), 0.0);
    assert_eq!(bridge.call("/rosapi/nodes", json!({})), json!({"nodes": ["/chicane"]}));
    // More than a message may have ends it, and nothing else.
    bridge.0.send_bytes(&vec![b' '; (64 << 10) + 1]);
    assert_eq!(bridge.0.hear(), Spoken::Close(1009));
    assert_eq!(simulator.bridge().call("/rosapi/nodes", json!({})), json!({"nodes": ["/chicane"]}));
}

#[test]
fn thousands_of_subscriptions_are_refused_one_by_one() {
    let (simulator, mut api) = start_paused();
    let mut bridge = simulator.bridge();
    let mut refused = 0;
    for round in 0..100 {
        for i in 0..50 {
            let id = format!("{round}.{i}");
            bridge
                .say(json!({"op": "subscribe", "topic": "/imu", "id": id, "queue_length": 4_000_000_000u64}));
        }
        bridge.say(json!({"op": "call_service", "service": "/rosapi/nodes"}));
        loop {
            match bridge.0.hear() {
                Spoken::Text(said) if said["op"] == "status" => refused += 1,
                Spoken::Text(_) => break,
                other => panic!("{other:?}"),
            }
        }
        if refused > 0 {
            break;
        }
    }
    assert!(refused > 0);
    // Those that were taken get each message once.
    bridge.say(json!({"op": "unsubscribe", "topic": "/imu", "id": "0.0"}));
    bridge.listening();
    api.step(8);
    let stamps: Vec<f64> = (0..2).map(|_| seconds(&bridge.next_on("/imu")["header"]["stamp"])).collect();
    assert_eq!(stamps, [0.02, 0.04]);
    bridge.say(json!({"op": "unsubscribe", "topic": "/imu"}));
    bridge.subscribe("/imu");
    // Whoever is answered was heard: the step comes after that, on a connection of its own.
    bridge.call("/rosapi/nodes", json!({}));
    api.step(4);
    assert!((seconds(&bridge.next_on("/imu")["header"]["stamp"]) - 0.06).abs() < 1e-9);
}

#[test]
fn one_who_asks_and_does_not_listen_is_not_asked_on_for() {
    let (simulator, _) = start_paused();
    let mut deaf = simulator.socket("/rosbridge");
    // Each is answered by some ten kilobytes, more in all than any buffer holds.
    let asking = std::thread::spawn(move || {
        for _ in 0..2000 {
            deaf.send(json!({"op": "call_service", "service": "/rosapi/topics_and_raw_types"}));
        }
        deaf
    });
    let mut other = simulator.bridge();
    for _ in 0..200 {
        other.call("/rosapi/topics", json!({}));
    }
    // All of them, in their time, for one who listens after all.
    let mut deaf = asking.join().expect("it asked");
    for _ in 0..2000 {
        assert!(matches!(deaf.hear(), Spoken::Text(said) if said["result"] == true));
    }
}

/// A client that wants everything.
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
fn a_stalled_reader_delays_nobody_and_loses_what_is_old() {
    let simulator = start();
    let mut stalled: Vec<Socket> = (0..3).map(|_| greedy(&simulator)).collect();
    let (mut bridge, mut api) = (simulator.bridge(), simulator.api());
    bridge.subscribe("/imu");
    let stamp = |message: serde_json::Value| seconds(&message["header"]["stamp"]);
    let first = stamp(bridge.next_on("/imu"));
    let mut last = first;
    // Longer than all buffers hold what the greedy ones do not take.
    while last < first + 3.0 {
        let next = stamp(bridge.next_on("/imu"));
        assert!((next - last - 0.02).abs() < 1e-6, "none is missing: {next} after {last}");
        last = next;
    }
    until("time keeps its pace", || (number(&api.get("/clock")["rtf"]) > 0.95).then_some(()));
    // Whoever reads on gets what was on its way, then misses some, and is in the present again.
    let now = api.time();
    let mut clocks = Vec::new();
    while clocks.last().is_none_or(|last| *last < now) {
        match stalled[0].hear() {
            Spoken::Text(said) if said["topic"] == "/clock" => clocks.push(seconds(&said["msg"]["clock"])),
            Spoken::Text(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(clocks.windows(2).all(|w| w[1] > w[0]), "in their order");
    assert!(clocks.windows(2).any(|w| w[1] - w[0] > 0.1), "some are lost");
    // They go without a word, and are not missed.
    drop(stalled);
    let after = stamp(bridge.next_on("/imu"));
    assert!(after > last);
}

#[test]
fn clients_that_come_and_go_leave_nothing_behind() {
    let simulator = start();
    for round in 0..20 {
        let mut clients: Vec<_> = (0..10).map(|_| simulator.bridge()).collect();
        for client in &mut clients {
            client.listening();
            client.subscribe("/imu");
            client.next_on("/imu");
        }
        for (i, client) in clients.into_iter().enumerate() {
            if (i + round) % 2 == 0 { client.0.close() } else { client.0.hang_up() }
        }
    }
    // Every place is free again.
    let open = || Socket::try_open(simulator.address, "/rosbridge", &[]);
    let all: Vec<_> = (0..256).map(|_| until("a place", || open().ok())).collect();
    assert_eq!(open().err(), Some(503));
    drop(all);
}

#[test]
fn the_simulator_stops_with_clients_that_listen_and_some_that_do_not() {
    let simulator = start();
    let _stalled: Vec<Socket> = (0..3).map(|_| greedy(&simulator)).collect();
    let mut bridge = simulator.bridge();
    bridge.listening();
    let took = simulator.stop();
    assert!(took < AT_ONCE, "{took:?}");
    let end = std::iter::from_fn(|| Some(bridge.0.hear())).find(|said| !matches!(said, Spoken::Text(_)));
    assert_eq!(end, Some(Spoken::Close(1001)));
}
