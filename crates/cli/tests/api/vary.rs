//! Seeds that change the world: respawns with `vary`, and sessions.

use crate::support::judged::wait_for_end;
use crate::support::{setup, start_paused};
use chicane_wire::StartRequest;
use serde_json::{Value, json};

/// A document with which a seed changes every part of the state that [`state`] returns.
fn vary() -> Value {
    json!({
        "start": {"along": [0.1, 0.5], "across": [0.02, 0.1], "yaw": [0.05, 0.1]},
        "objects": {"jitter": 0.1, "turn": 1, "scatter": [3, 3]},
        "lights": {"phase": [1, 2]},
        "brightness": [0.4, 0.8],
        "noise": {"lidar": [2, 3]},
        "latency": [0.05, 0.1],
        "surface": ["wet"],
    })
}

/// The parts of the state that a seed changes.
fn state(api: &mut crate::support::Api) -> Value {
    let (state, world) = (api.get("/state"), api.get("/world"));
    json!([state["vehicle"], state["objects"], state["lights"], state["brightness"], world["objects"]])
}

#[test]
fn a_respawn_with_vary_changes_the_world_and_one_without_restores_it() {
    let (_simulator, mut api) = start_paused();
    api.post("/brightness", json!({"value": 1.5}));
    let published = state(&mut api);
    assert_eq!(api.post("/respawn", json!({"seed": 1}))["variation"], Value::Null);
    assert_eq!(state(&mut api), published, "without vary, a seed only changes noise");

    let first = api.post("/respawn", json!({"seed": 1, "vary": vary()}));
    assert_eq!(first["variation"]["seed"], 1, "{first}");
    let varied = state(&mut api);
    for part in 0..5 {
        assert_ne!(varied[part], published[part], "{part}");
    }
    assert!(varied[4]["extra3"]["movable"] == true && varied[4].get("extra4").is_none(), "{}", varied[4]);
    assert_eq!(api.light("signal1"), "red");
    api.step(400);
    assert_eq!(api.light("signal1"), "green", "the light turns green by itself");

    let again = api.post("/respawn", json!({"seed": 1, "vary": vary()}));
    assert_eq!((&again, state(&mut api)), (&first, varied.clone()), "the same seed gives the same world");
    let second = api.post("/respawn", json!({"seed": 2, "vary": vary()}));
    assert_ne!(second["variation"]["sha256"], first["variation"]["sha256"]);
    assert_ne!(state(&mut api), varied);

    assert_eq!(api.post("/respawn", json!({"seed": 0, "vary": vary()}))["variation"], Value::Null);
    assert_eq!(state(&mut api), published, "seed 0 is the world as published");
    api.post("/respawn", json!({"seed": 3, "vary": vary()}));
    api.post("/brightness", json!({"value": 1.1}));
    api.post("/respawn", json!({}));
    assert_eq!(api.get("/brightness")["value"], 1.1, "a brightness that was set stays");
}

#[test]
fn a_wrong_document_is_refused() {
    let (_simulator, mut api) = start_paused();
    for (vary, error) in [
        (json!([]), "vary must be an object with start, objects, lights, brightness"),
        (json!({"speed": [1, 2]}), "vary.speed is not a known field; the known fields are start"),
        (
            json!({"noise": {"lidar": [0, 11]}}),
            "vary.noise.lidar must be [least, most] with numbers from 0 to 10",
        ),
    ] {
        let (status, text) = api.refused("/respawn", json!({"seed": 1, "vary": vary}));
        assert!(status == 400 && text.starts_with(error), "{status} {text}");
    }
}

/// A judging script that records what a seed changes, and finishes after 0.1 s.
const SCRIPT: &str = "\
def evaluate(sim):
    pose = sim.state.pose
    sim.record([pose.x, pose.y, pose.yaw, sim.state.brightness, sorted(sim.objects), sim.seed])
    if sim.state.time >= 0.1:
        sim.finish()
";

#[test]
fn sessions_start_from_the_published_world() {
    let simulator = setup().judge_script(SCRIPT).speed(0.0).start();
    let mut api = simulator.api();
    api.post("/respawn", json!({"seed": 9, "vary": vary()}));
    let judge = |seed: u64| {
        let server = simulator.server();
        let request = StartRequest { seed, ..StartRequest::default() };
        let id = simulator.block_on(server.host().evaluate(request, Default::default())).expect("started");
        wait_for_end(&mut api);
        let record = server.host().record(&id).expect("read").expect("there");
        serde_json::to_value(&record).expect("JSON")
    };
    let [zero, one, two, again] = [0, 1, 2, 1].map(judge);
    assert_eq!((&zero["variation"], &zero["record"][3]), (&Value::Null, &json!(1.0)), "{zero}");
    assert_eq!(zero["record"][4], json!(["box1", "signal1", "wall_0", "wall_1", "wall_2", "wall_3"]));
    assert_eq!(one["variation"]["seed"], 1, "{one}");
    assert_eq!(one["record"], again["record"]);
    assert_eq!(one["variation"], again["variation"]);
    for other in [&zero, &two] {
        assert_ne!(one["record"], other["record"]);
        assert_ne!(one["variation"], other["variation"]);
    }
    // A respawn after the sessions loads the published world, without the changes of a seed.
    api.post("/respawn", json!({}));
    assert_eq!(api.get("/brightness")["value"], 1.0);
    assert!(api.get("/world")["objects"].get("extra1").is_none());
}
