//! The same session gives the same record and the same events, byte for byte, at any speed.

use crate::support::judged::wait_for_end;
use crate::support::setup;
use chicane_host::DriveAt;
use chicane_wire::StartRequest;
use serde_json::Value;

/// A judging script that reads the state and uses several kinds of actions.
const SCRIPT: &str = "\
import json

def initialize(sim):
    print('seed', sim.seed, sim.random.random())
    sim.count = 0

def evaluate(sim):
    sim.count += 1
    state = {key: value for key, value in sim.state.items() if key != 'rtf'}
    if sim.count % 10 == 0:
        print(json.dumps(state, sort_keys=True))
    if sim.count == 30:
        sim.move_object('box1', x=sim.random.uniform(1, 3), y=2.0, duration=0.5)
    if sim.count == 60:
        sim.set_light('signal1', 'green')  # the seed may have started it with red
        sim.set_light('signal1', 'red')
        try:
            sim.set_light('signal1', 'green')
        except SimError as error:
            print(error)
    if sim.count == 90:
        sim.teleport(x=sim.state.pose.x + 0.05)
    sim.record([sim.state.time, sim.state.pose.x, sim.state.pose.y, sim.random.random()])
";

/// Runs a session and returns its record and events as text, without the fields that differ between
/// equal runs.
fn judge(speed: f64, seed: u64) -> String {
    let simulator = setup().judge_script(SCRIPT).speed(speed).start();
    let drive = (0..40).map(|k| DriveAt {
        tick: 20 * k,
        speed: 0.4 + 0.02 * k as f64,
        steering: 0.3 * libm::sin(k as f64),
    });
    let request = StartRequest { time_limit_s: Some(3.0), seed, ..StartRequest::default() };
    let server = simulator.server();
    let id = simulator.block_on(server.host().evaluate(request, drive.collect())).expect("a started session");
    wait_for_end(&mut simulator.api());
    let record = server.host().record(&id).expect("read").expect("there");
    let mut all = serde_json::to_value(&record).expect("JSON");
    // The journal of a run in real time contains the measured real-time factor, so its checksum
    // differs between runs.
    for name in ["session", "started_at", "ended_at", "events", "journal"] {
        all[name] = Value::Null;
    }
    all["judge"]["wait_s"] = Value::Null;
    let story: Vec<&str> = record.events.iter().flatten().map(|event| event.get()).collect();
    assert!(story.len() > 40, "{}", story.len());
    format!("{all}\n{}", story.join("\n"))
}

#[test]
fn a_session_gives_the_same_bytes_at_any_speed_and_on_a_new_server() {
    let slow = judge(1.0, 7);
    let fast = judge(0.0, 7);
    let again = judge(0.0, 7);
    assert_eq!(slow, fast, "real time and maximum speed differ");
    assert_eq!(fast, again, "two runs at maximum speed differ");
    assert!(
        slow.contains("\"outcome\":\"timeout\"") && slow.contains("yellow transition in progress"),
        "{slow}"
    );
    assert_ne!(judge(0.0, 8), fast, "two seeds give the same run");
}
