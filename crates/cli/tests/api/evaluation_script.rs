//! The API of judging scripts in a real judge: state, actions and errors.

use crate::audio::play;
use crate::support::judged::{judged, one_second, run, script_log, wait_for_phase};
use crate::support::{near, setup, setup_in};
use chicane_testkit::sounds::wav;
use serde_json::{Value, json};

/// Runs a judging script on the oval for one simulated second, and returns the record.
fn judge(script: &str) -> Value {
    run(&mut judged(setup().speed(0.0), script).api(), one_second())
}

/// Runs these Python assertions inside a judging script. The session finishes only if all of them
/// hold.
fn holds(checks: &str) -> Value {
    let body: String = checks.lines().map(|line| format!("    {line}\n")).collect();
    let record = judge(&format!("def evaluate(sim):\n{body}    sim.finish()\n"));
    assert_eq!(
        (&record["outcome"], &record["reason"]),
        (&json!("finished"), &Value::Null),
        "{:?}",
        script_log(&record)
    );
    record
}

#[test]
fn a_script_reads_the_state_of_the_world() {
    holds(
        "state = sim.state\n\
         assert state.time == 0 and state['time'] == 0 and not state.paused and state.rtf >= 0\n\
         assert state.brightness == 1 and state.contacts == []\n\
         assert {'x', 'y', 'z', 'roll', 'pitch', 'yaw', 'speed'} <= set(state.pose)\n\
         assert state.objects.box1.x == state['objects']['box1']['x']\n\
         assert set(state.objects) == set(sim.objects)\n\
         assert set(sim.origins) == {name for name, one in sim.objects.items() if one.movable}\n\
         assert 'box1' in sim.origins and 'signal1' in sim.origins and 'wall_0' not in sim.origins\n\
         assert state.lights == {'signal1': 'green'}, state.lights\n\
         assert state.run.running is False and state.run.exit_code is None\n\
         assert state.audio.playing == [] and state.audio.events == []\n\
         assert sim.config.better == 'lower' and sim.config['time_limit_s'] == 180\n\
         assert sim.route == sim.track.waypoints and sim.track.waypoints[0] == sim.track.waypoints[-1]\n\
         assert len(sim.track.inner) == len(sim.track.outer) == len(sim.route)\n\
         assert sim.track.bounds.minX < sim.track.bounds.maxX\n\
         box = sim.objects['box1']\n\
         assert (box.type, box.kind, box.movable) == ('object', 'box', True), box\n\
         assert box.size.x > 0 and box.origin == sim.origins.box1\n\
         assert sim.objects.signal1.type == 'light'\n\
         assert sim.seed == 0 and sim.random.random() == __import__('random').Random(0).random()\n\
         import sys\n\
         assert sys.version_info[:2] == (3, 14)\n\
         import ssl, sqlite3, json, zoneinfo, threading, subprocess, asyncio\n\
         assert zoneinfo.ZoneInfo('Europe/Berlin')\n\
         open('/tmp/a', 'w').write('x'); open('b', 'w').write('y')",
    );
}

#[test]
fn an_action_is_carried_out_or_raises_an_error() {
    let script = "\
def initialize(sim):
    sim.step = 0

def evaluate(sim):
    sim.step += 1
    if sim.step == 1:
        sim.teleport(1.5, 1.25, 0.5)
        sim.move_object('box1', x=2.5, y=2.0, yaw=1.0)
        sim.set_light('signal1', 'red')
        sim.overlay('look', secs=5, size=2)
        sim.set_brightness(0.5)
        for wrong in (
            lambda: sim.teleport(x=1000),
            lambda: sim.teleport(x='1'),
            lambda: sim.teleport(x=float('nan')),
            lambda: sim.move_object('nobody', x=1),
            lambda: sim.move_object('wall_0', x=1),
            lambda: sim.move_object('vehicle', x=1),
            lambda: sim.set_light('signal1', 'green'),
            lambda: sim.set_light('signal1', 'blue'),
            lambda: sim.set_light('nobody', 'red'),
            lambda: sim.overlay('x' * 301),
            lambda: sim.overlay('x', secs=0),
            lambda: sim.set_brightness(7),
            lambda: sim.record(float('inf')),
            lambda: sim.record('x' * 20000),
            lambda: sim.record(object()),
            lambda: sim.record({1: 2}),
            lambda: sim.record(10 ** 400),
        ):
            try:
                wrong()
            except SimError as error:
                print(error)
            else:
                raise AssertionError('done')
    elif sim.step == 2:
        pose, box = sim.state.pose, sim.state.objects.box1
        assert abs(pose.x - 1.5) < 0.01 and abs(pose.y - 1.25) < 0.01 and abs(pose.yaw - 0.5) < 0.01, pose
        assert abs(box.x - 2.5) < 0.01 and abs(box.yaw - 1.0) < 0.01, box
        assert sim.state.lights.signal1 == 'yellow' and sim.state.brightness == 0.5
        sim.teleport({'x': 2.0, 'y': 1.0, 'yaw': 0.0, 'speed': 3.0})
        sim.move_object('box1', sim.origins.box1)
        sim.move_object('box1', x=3.0, y=2.0, duration=0.1)
    elif sim.step == 20:
        assert abs(sim.state.objects.box1.x - 3.0) < 0.02, sim.state.objects.box1
        sim.move_object('box1', path=[(3, 2), (3.5, 2)], speed=1.0, loop=True)
        sim.record([1, {'a': None}])
        sim.finish()
";
    let record = judge(script);
    assert_eq!(record["outcome"], "finished", "{} {:?}", record["reason"], script_log(&record));
    assert_eq!(record["record"], json!([1, {"a": null}]));
    let lines = script_log(&record);
    for (line, says) in [
        (0, "position out of range"),
        (3, "model not found in world"),
        (4, "wall cannot be moved"),
        (5, "use teleport for the vehicle"),
        (6, "yellow transition in progress"),
        (7, "state must be one of red, green"),
        (8, "light not found"),
        (12, "record takes a finite number"),
    ] {
        assert!(lines[line].starts_with(says), "{line}: {lines:?}");
    }
    assert_eq!(lines.len(), 17);
}

/// Regression test: a number that JSON parsers do not accept ended the session with the reason
/// "channel misused".
#[test]
fn a_value_that_cannot_be_sent_raises_sim_error_and_the_session_goes_on() {
    holds(
        "deep = []\n\
         for _ in range(150):\n    deep = [deep]\n\
         for wrong in (\n    \
             lambda: sim.teleport(10 ** 400),\n    \
             lambda: sim.teleport(10 ** 5000),\n    \
             lambda: sim.teleport(float('-inf')),\n    \
             lambda: sim.move_object('box1', x=-10 ** 400),\n    \
             lambda: sim.move_object('box1', path=deep, speed=1),\n    \
             lambda: sim.move_object('box1', path=[(0.123456789, 1)] * 200_000, speed=1),\n    \
             lambda: sim.set_light('\\ud800', 'red'),\n    \
             lambda: sim.overlay('x' * 3_000_000),\n    \
             lambda: sim.overlay('x', secs=10 ** 400),\n    \
             lambda: sim.set_brightness(10 ** 400),\n    \
             lambda: sim.record(10 ** 400),\n    \
             lambda: sim.record(deep),\n\
         ):\n    \
             try:\n        wrong()\n    \
             except SimError as error:\n        print(error)\n    \
             else:\n        raise AssertionError('sent')\n\
         sim.teleport(2 ** 0.5)",
    );
}

#[test]
fn every_sort_of_script_error_has_its_reason() {
    for (script, reason) in [
        ("def evaluate(sim):\n    1 / 0\n", "ZeroDivisionError: division by zero"),
        ("raise ValueError('at the top')\n", "ValueError: at the top"),
        (
            "def initialize(sim):\n    sim.nothing\ndef evaluate(sim): pass\n",
            "AttributeError: sim has no nothing",
        ),
        ("def evaluate(:\n", "SyntaxError: invalid syntax"),
        ("x = 1\n", "the script does not define evaluate(sim)"),
        ("import sys\ndef evaluate(sim):\n    sys.exit(3)\n", "the script exited: SystemExit: 3"),
        ("import os\ndef evaluate(sim):\n    os._exit(4)\n", "the script exited with status 4"),
        ("def evaluate(sim):\n    sim.set_light('nobody', 'red')\n", "light not found"),
        ("class Odd(Exception):\n    def __str__(self): raise 1\ndef evaluate(sim):\n    raise Odd\n", "Odd"),
    ] {
        let record = judge(script);
        assert_eq!(record["outcome"], "script_error", "{script}");
        assert!(
            record["reason"].as_str().is_some_and(|r| r.contains(reason)),
            "{script}: {}",
            record["reason"]
        );
    }
    let record = judge("def evaluate(sim):\n    sim.record(5)\n    raise KeyError('x')\n");
    assert_eq!(record["record"], 5, "the record before the error counts");
    let lines = script_log(&record);
    assert!(lines.iter().any(|l| l.contains("evaluation.py\", line 3")), "no traceback: {lines:?}");
    assert!(lines.iter().any(|l| l.contains("raise KeyError('x')")), "no source line: {lines:?}");
    assert!(!lines.iter().any(|l| l.contains("harness")), "the traceback shows the harness: {lines:?}");
}

#[test]
fn a_script_can_pause_and_resume_the_world() {
    let script = "\
def initialize(sim):
    sim.seen = 0
    sim.pause(True)

def evaluate(sim):
    if sim.state.paused:
        assert sim.state.time == 0
        sim.seen += 1
        if sim.seen == 3:
            sim.pause(False)
    elif sim.state.time > 0.1:
        sim.record(sim.seen)
        sim.finish()
";
    let record = judge(script);
    assert_eq!((&record["outcome"], &record["record"]), (&json!("finished"), &json!(3)), "{record}");
}

#[test]
fn a_script_receives_sound_events_with_their_data() {
    let script = "\
def initialize(sim):
    sim.heard = []

def evaluate(sim):
    for event in sim.state.audio.events:
        sim.heard.append([event.type, event.id, len(event.data) if 'data' in event else 0])
        if event.type == 'play':
            assert event.data[:4] == b'RIFF' and event.kind == 'file' and event.source == 'data'
    sim.record(sim.heard)
    if [kind for kind, _, _ in sim.heard] == ['play', 'volume', 'stop']:
        sim.finish()
";
    let simulator = judged(setup(), script);
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({}));
    wait_for_phase(&mut api, "running");
    let wav = wav(8000, 1, 400_000);
    let mut robot = simulator.robot();
    let id = play(&mut robot, &wav, json!({}));
    robot.post("/audio/volume", json!({"id": id, "volume": 0.5}));
    robot.post("/audio/stop", json!({"all": true}));
    crate::support::judged::wait_for_end(&mut api);
    let record = api.get("/evaluation/record");
    assert_eq!(record["outcome"], "finished", "{record}");
    assert_eq!(record["record"], json!([["play", id, wav.len()], ["volume", id, 0], ["stop", id, 0]]));
}

#[test]
fn a_step_of_a_client_is_judged_at_every_observation() {
    let simulator = judged(setup(), "def evaluate(sim):\n    sim.record(sim.state.time)\n");
    let mut api = simulator.api();
    api.post("/clock", json!({"speed": 0.05}));
    api.post("/evaluation/start", json!({}));
    wait_for_phase(&mut api, "running");
    let before = api.post("/step", json!({"steps": 1}));
    let after = api.post("/step", json!({"duration": 2, "speed": 0.5}));
    let went = after["time"].as_f64().expect("a time") - before["time"].as_f64().expect("a time");
    assert!((went - 2.0).abs() < 1e-9);
    api.post("/evaluation/stop", json!({}));
    let record = api.get("/evaluation/record");
    assert!(near(&record["elapsed_s"], after["time"].as_f64().expect("a time")), "{record}");
    assert!(record["judge"]["observations"].as_u64().is_some_and(|n| n >= 100), "{}", record["judge"]);
}

/// Regression test: lights that a script had set were not stored. A light that was red before a
/// restart was green after the restart.
#[test]
fn lights_and_brightness_of_a_script_survive_a_restart() {
    let script = "def evaluate(sim):\n    \
                  sim.set_light('signal1', 'red')\n    \
                  sim.set_brightness(0.5)\n    \
                  sim.finish()\n";
    let simulator = judged(setup().speed(0.0), script);
    assert_eq!(run(&mut simulator.api(), one_second())["outcome"], "finished");
    let data = simulator.stop_and_keep();
    let simulator = setup_in(&data).start();
    let mut api = simulator.api();
    assert_eq!(api.get("/traffic_lights")["lights"][0]["state"], "red");
    assert_eq!(api.get("/brightness"), json!({"value": 0.5}));
}
