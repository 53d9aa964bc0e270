//! Drive commands: values are clamped, the newest command takes precedence, and a speed ends after
//! one second.

use crate::support::{
    LoadGate, detail, number, plain, refusal, setup, start, start_paused, truncated, until,
};
use serde_json::json;

#[test]
fn commands_are_clamped_and_take_effect_at_once() {
    let (simulator, mut api) = start_paused();
    api.step(7);
    let mut robot = simulator.robot();
    let camera = chicane_world::Profile::gen1().camera;
    for (path, axis, limit) in [
        ("/speed", "speed", 3.0),
        ("/steering", "steering", 0.3491),
        ("/camera/pan", "pan", camera.max_pan_rad),
        ("/camera/tilt", "tilt", camera.max_tilt_rad),
    ] {
        for (value, taken) in
            [(0.25, 0.25), (-0.1, -0.1), (1e300, limit), (-1e300, -limit), (0.0, 0.0), (0.2, 0.2)]
        {
            let (done, time) = robot.post_at(path, json!({"value": value}));
            assert_eq!(done, json!({"success": true, "value": taken, "message": null}), "{path}");
            assert_eq!((robot.commanded(axis), time), (taken, 0.035), "{path}");
        }
    }
    let (done, time) = robot.post_at("/drive", json!({"speed": -100, "steering": 0.1, "value": 7}));
    assert_eq!(
        (done, time),
        (json!({"success": true, "value": {"speed": -3.0, "steering": 0.1}, "message": null}), 0.035)
    );
    assert_eq!((robot.commanded("speed"), robot.commanded("steering")), (-3.0, 0.1));
}

#[test]
fn an_invalid_command_is_refused_with_the_expected_form() {
    let (simulator, mut api) = start_paused();
    api.step(1);
    let mut client = simulator.client();
    let cases = [
        ("/speed", "{}", "m/s"),
        ("/speed", "", "m/s"),
        ("/speed", "{\"value\": \"fast\"}", "m/s"),
        ("/speed", "{\"value\": null}", "m/s"),
        ("/speed", "{\"value\": [1]}", "m/s"),
        ("/speed", "{\"value\": 1, \"duration\": 0}", "600"),
        ("/speed", "{\"value\": 1, \"duration\": -1}", "600"),
        ("/speed", "{\"value\": 1, \"duration\": 600.5}", "600"),
        ("/speed", "{\"value\": 1, \"duration\": \"long\"}", "600"),
        ("/steering", "{}", "rad"),
        ("/steering", "{\"value\": true}", "rad"),
        ("/camera/pan", "{\"angle\": 1}", "rad"),
        ("/camera/tilt", "{\"value\": {}}", "rad"),
        ("/drive", "{\"speed\": 1}", "both"),
        ("/drive", "{\"steering\": 1}", "both"),
        ("/drive", "{\"speed\": 1, \"steering\": \"left\"}", "both"),
    ];
    for (path, body, word) in cases {
        let answer = client.post(path, body);
        let (status, text) = detail(&answer);
        assert!(status == 422 && text.contains(word), "{path} {body}: {status} {text}");
        assert_eq!(answer.header("x-sim-time"), Some("0.005"), "{path} {body}");
    }
    for path in ["/speed", "/steering", "/drive", "/camera/pan", "/camera/tilt"] {
        for body in ["{", "[]", "5", "nonsense", "{\"value\": NaN}", "{\"value\": 1e999}", "value=1"] {
            assert_eq!(detail(&client.post(path, body)).0, 422, "{path} {body}");
        }
        let large = format!("{{\"value\": 1, \"x\": \"{}\"}}", "x".repeat(1 << 20));
        assert_eq!(detail(&client.post(path, &large)).0, 413, "{path}");
        let origin = format!("http://{}", simulator.address);
        let form = [("origin", origin.as_str()), ("content-type", "text/plain")];
        let answer = client.request("POST", path, &form, b"{\"value\": 1, \"speed\": 1, \"steering\": 1}");
        assert_eq!(refusal(&answer).0, 403, "{path}");
    }
    let mut robot = simulator.robot();
    for axis in ["speed", "steering", "pan", "tilt"] {
        assert_eq!(robot.commanded(axis), 0.0, "{axis}: a refused command took effect");
    }
}

#[test]
fn a_speed_ends_after_one_second_and_steering_persists() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    robot.post("/drive", json!({"speed": 1, "steering": 0.2}));
    api.step(199);
    assert_eq!(robot.commanded("speed"), 1.0);
    api.step(1);
    assert_eq!((robot.commanded("speed"), robot.commanded("steering")), (0.0, 0.2));
    robot.post("/speed", json!({"value": 1}));
    api.step(150);
    robot.post("/speed", json!({"value": 1}));
    api.step(199);
    assert_eq!(robot.commanded("speed"), 1.0, "the second command restarts the timeout");
    api.step(1);
    assert_eq!(robot.commanded("speed"), 0.0);
    api.step(2000);
    assert_eq!(robot.commanded("steering"), 0.2);
    assert!((number(&robot.get("/steering")) - 0.2).abs() < 0.01);
}

#[test]
fn the_newest_command_wins_whatever_its_source() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    let mut speeds = simulator.socket("/speed/stream");
    let mut angles = simulator.socket("/steering/stream");
    robot.post("/speed", json!({"value": 0.5}));
    speeds.send(json!({"value": 0.7}));
    until("the frame takes effect", || (robot.commanded("speed") == 0.7).then_some(()));
    angles.send(json!({"value": -0.1}));
    until("the frame takes effect", || (robot.commanded("steering") == -0.1).then_some(()));
    api.post("/step", json!({"steps": 2, "speed": 0.3, "steering": 0.05}));
    assert_eq!((robot.commanded("speed"), robot.commanded("steering")), (0.3, 0.05));
    robot.post("/drive", json!({"speed": 0.4, "steering": 0.15}));
    speeds.close();
    angles.disconnect();
    api.step(199);
    assert_eq!(
        (robot.commanded("speed"), robot.commanded("steering")),
        (0.4, 0.15),
        "an older client ended a newer command"
    );
}

#[test]
fn a_reset_and_a_respawn_end_every_command() {
    let (simulator, mut api) = start_paused();
    let mut robot = simulator.robot();
    for path in ["/reset", "/respawn"] {
        robot.post("/drive", json!({"speed": 1, "steering": 0.2}));
        robot.post("/camera/pan", json!({"value": 0.3}));
        robot.post("/camera/tilt", json!({"value": 0.3}));
        api.step(20);
        api.post(path, json!({}));
        for axis in ["speed", "steering", "pan", "tilt"] {
            assert_eq!(robot.commanded(axis), 0.0, "{axis} after {path}");
        }
        api.step(100);
        assert!(number(&robot.get("/camera/pan")).abs() < 0.01, "{path}");
        assert!(number(&robot.get("/speed")).abs() < 0.01, "{path}");
    }
}

#[test]
fn commands_are_refused_while_a_world_is_loading() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).start();
    let mut switching = simulator.client();
    switching.send("POST", "/sim/api/switch", &[], b"{\"world\": \"slow.world\"}");
    gate.wait_until_blocked();
    let answer = simulator.client().post("/speed", "{\"value\": 1}");
    assert_eq!(detail(&answer), (409, "world not ready".to_owned()));
    assert!(simulator.robot().get("/speed").is_number(), "the old world can still be read");
    let mut socket = simulator.socket("/speed/stream");
    socket.send(json!({"value": 1}));
    assert_eq!(
        socket.receive(),
        crate::support::Received::Text(json!({"detail": "world not ready", "code": "not_ready"}))
    );
    gate.open();
    let mut robot = simulator.robot();
    until("the new world accepts commands", || {
        (robot.0.post("/speed", "{\"value\": 1}").status == 200).then_some(())
    });
    // A command ends after a second, which the test could miss on a busy machine.
    until("the socket works in the new world", || {
        socket.send(json!({"value": 0.5}));
        (robot.commanded("speed") == 0.5).then_some(())
    });
}

#[test]
fn a_command_ends_if_its_client_disconnects_while_a_world_fails_to_load() {
    let gate = LoadGate::default();
    let (simulator, mut api) = setup().with_world("torn", gate.wrap(truncated("torn"))).start_paused();
    let mut robot = simulator.robot();
    let mut socket = simulator.socket("/steering/stream");
    socket.send(json!({"value": 0.2}));
    until("the frame takes effect", || (robot.commanded("steering") == 0.2).then_some(()));
    let mut switching = simulator.client();
    switching.send("POST", "/sim/api/switch", &[], b"{\"world\": \"torn.world\"}");
    gate.wait_until_blocked();
    socket.close();
    gate.open();
    until("the load has failed", || (api.get("/status")["switching"] == false).then_some(()));
    api.step(139);
    assert_eq!(robot.commanded("steering"), 0.2);
    api.step(1);
    assert_eq!(robot.commanded("steering"), 0.0);
}

#[test]
fn the_car_drives_and_stops_after_the_command_times_out() {
    let simulator = start();
    let mut robot = simulator.robot();
    // The command ends after a second, which the test could miss on a busy machine.
    until("the car moves", || {
        robot.post("/speed", json!({"value": 0.5}));
        (number(&robot.get("/speed")) > 0.2).then_some(())
    });
    until("the car has stopped", || (number(&robot.get("/speed")).abs() < 0.01).then_some(()));
}
