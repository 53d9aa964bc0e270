//! Runs that are over: tracks, pictures and files.

use crate::support::judged::{judged, one_second, run, wait_for_end, wait_for_phase};
use crate::support::{TempFolder, json as body, setup};
use chicane_replay::{RecordedRun, verify};
use chicane_session::{Launcher, Setting, SettingOptions, root};
use chicane_store::run_file;
use chicane_testkit::http::{Client, HttpResponse};
use serde_json::{Value, json};
use std::sync::Arc;

/// A judging script that never ends a session.
const ENDLESS: &str = "def evaluate(sim):\n    sim.record(round(sim.state.pose.x, 4))\n";

fn setting() -> Setting {
    let launcher = Launcher::open(env!("CARGO_BIN_EXE_chicane").as_ref()).expect("the program");
    let folder = root::folder().expect("the judge's root");
    let options = SettingOptions { launcher, folder, isolation: None, engine: None };
    Setting::find(&options).expect("a judge")
}

fn header(tracks: &HttpResponse) -> Value {
    assert_eq!((tracks.status, &tracks.body[..8]), (200, &b"CHTRACK1"[..]), "{}", tracks.text());
    let length = u32::from_le_bytes(tracks.body[8..12].try_into().expect("4 bytes")) as usize;
    serde_json::from_slice(&tracks.body[12..12 + length]).expect("JSON")
}

/// People drive, place objects and pause during the run. The run is verified, and the pictures of
/// its replay are equal to those of the live camera.
#[test]
fn a_run_with_people_is_replayed_and_verified() {
    let simulator = judged(setup().world("technical"), ENDLESS);
    let (mut api, mut client) = (simulator.api(), simulator.client());
    api.post("/evaluation/start", json!({"time_limit_s": 600}));
    wait_for_phase(&mut api, "running");
    api.post("/clock", json!({"paused": true}));
    let mut pictures = Vec::new();
    for turn in 0..4 {
        let speed = 0.3 * f64::from(turn);
        // The test later asks the replay for the picture at the time of this response. The
        // simulated time of the response equals the time in the run, because the run started at
        // tick 0. The test does not use the session's `elapsed_s`, because the session may not have
        // processed the last tick yet.
        let stepped = api.post("/step", json!({"steps": 60, "speed": speed, "steering": 0.1}));
        let time_s = stepped["time"].as_f64().expect("a time");
        let picture = client.get("/camera");
        assert_eq!(picture.status, 200);
        pictures.push((time_s, picture.body));
        let objects = api.get("/objects");
        let movable = objects["objects"].as_array().and_then(|all| {
            all.iter().find(|object| object["type"] == "box").map(|object| object["name"].clone())
        });
        if let Some(Value::String(name)) = movable {
            api.post(&format!("/models/{name}/pose"), json!({"x": 0.5, "y": 0.1 * f64::from(turn)}));
        }
        api.post("/brightness", json!({"value": 1.0 - 0.1 * f64::from(turn)}));
    }
    api.post("/pose", json!({"x": 0.2, "y": 0.3, "yaw": 1.0}));
    api.post("/step", json!({"steps": 10}));
    api.post("/evaluation/stop", json!({}));
    let session = wait_for_end(&mut api);
    let id = session["id"].as_str().expect("an id").to_owned();

    let tracks = header(&client.get(&format!("/sim/api/evaluation/replay?session={id}")));
    assert_eq!((&tracks["session"], &tracks["world"]), (&json!(id), &json!("technical")));
    assert_eq!(tracks["jumps"].as_array().map(Vec::len), Some(1), "{}", tracks["jumps"]);
    assert_eq!(tracks["brightness"].as_array().map(Vec::len), Some(4), "{}", tracks["brightness"]);
    // The times go backwards, so that the replay has to return to a saved state for every picture.
    for (time_s, live) in pictures.iter().rev() {
        let path = format!("/sim/api/evaluation/replay/camera?session={id}&time={time_s}");
        let picture = client.get(&path);
        assert_eq!(picture.status, 200, "{}", picture.text());
        assert!(picture.body == *live, "the picture at {time_s} s differs");
    }
    let file = client.get(&format!("/sim/api/evaluation/run?session={id}"));
    assert_eq!(file.status, 200);
    let recorded = RecordedRun::read(&file.body).expect("a run file");
    assert!(recorded.record["interference"]["count"].as_u64() >= Some(6), "{}", recorded.record);
    let verified = verify(&recorded, &setting()).unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!(verified.time_s, session["elapsed_s"].as_f64().expect("a time"));
}

#[test]
fn runs_of_the_same_world_share_it_and_keep_their_own_pictures() {
    let simulator = judged(setup(), ENDLESS);
    let (mut api, mut client) = (simulator.api(), simulator.client());
    let mut runs = Vec::new();
    for speed in [0.2, 0.6] {
        api.post("/evaluation/start", json!({"time_limit_s": 600}));
        wait_for_phase(&mut api, "running");
        api.post("/clock", json!({"paused": true}));
        // The run was in real time until the pause, so this step ends at another time in each of
        // the two runs.
        let stepped = api.post("/step", json!({"steps": 400, "speed": speed, "steering": 0.1}));
        let time_s = stepped["time"].as_f64().expect("a time");
        let live = client.get("/camera").body;
        // The session may be stopped before it has processed the last tick. With these further
        // ticks, the tick of the picture is not the last one.
        api.post("/step", json!({"steps": 10}));
        api.post("/evaluation/stop", json!({}));
        runs.push((wait_for_end(&mut api)["id"].as_str().expect("an id").to_owned(), time_s, live));
        api.post("/clock", json!({"paused": false}));
    }
    assert!(runs[0].2 != runs[1].2, "both runs have the same picture");
    for (id, time_s, live) in [&runs[0], &runs[1], &runs[0], &runs[1]] {
        let answer = client.get(&format!("/sim/api/evaluation/replay/camera?session={id}&time={time_s}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.body == *live, "the picture of {id} at {time_s} s is not its own");
    }

    let parts = |client: &mut Client, id: &str| {
        let file = client.get(&format!("/sim/api/evaluation/run?session={id}"));
        run_file::unpack(&file.body).expect("a run file")
    };
    let one = RecordedRun::of_parts(&parts(&mut client, &runs[0].0), &[]).expect("a run");
    let two = RecordedRun::of_parts(&parts(&mut client, &runs[1].0), &[&one]).expect("a run");
    assert!(Arc::ptr_eq(&one.served.published(), &two.served.published()), "the world is not shared");
    let other = judged(setup().world("technical"), ENDLESS);
    run(&mut other.api(), one_second());
    let other = RecordedRun::of_parts(&parts(&mut other.client(), "last"), &[&one]).expect("a run");
    assert!(!Arc::ptr_eq(&one.served.published(), &other.served.published()), "another world is shared");
}

#[test]
fn a_run_survives_a_restart_and_wrong_requests_are_explained() {
    let folder = Arc::new(TempFolder::new());
    let simulator = judged(crate::support::setup_in(&folder), ENDLESS);
    let mut api = simulator.api();
    let missing = simulator.client().get("/sim/api/evaluation/replay");
    assert_eq!((missing.status, &body(&missing)["code"]), (404, &json!("no_record")));
    let record = run(&mut api, one_second());
    assert_eq!(record["journal"]["problem"], Value::Null, "{}", record["journal"]);
    let tracks = simulator.client().get("/sim/api/evaluation/replay").body;
    drop(simulator);
    let simulator = judged(crate::support::setup_in(&folder), ENDLESS);
    let mut client = simulator.client();
    assert!(client.get("/sim/api/evaluation/replay").body == tracks, "the tracks differ after a restart");
    for (path, status, code) in [
        ("/evaluation/replay?session=nobody", 404, "no_record"),
        ("/evaluation/run?session=nobody", 404, "no_record"),
        ("/evaluation/replay/camera", 400, "invalid_request"),
        ("/evaluation/replay/camera?time=-1", 400, "invalid_request"),
        ("/evaluation/replay/camera?time=nan", 400, "invalid_request"),
    ] {
        let answer = client.get(&format!("/sim/api{path}"));
        assert_eq!((answer.status, &body(&answer)["code"]), (status, &json!(code)), "{path}");
    }
    // If `time` is later than the end of the run, the request succeeds with the last picture.
    assert_eq!(client.get("/sim/api/evaluation/replay/camera?time=1e6").status, 200);
}

#[test]
fn students_and_judged_programs_cannot_copy_the_runs_of_others() {
    let after_exit = "\
def evaluate(sim):
    if sim.state.run.exit_code is not None:
        sim.finish()
";
    let simulator = judged(setup().token("teacher-token-1").student_token("student-token-1"), after_exit);
    let client = |token: &str| simulator.client().with_header("authorization", format!("Bearer {token}"));
    let (mut teacher, mut student) = (client("teacher-token-1"), client("student-token-1"));
    let mut api = crate::support::Api(client("teacher-token-1"));
    // The teacher starts this run. The program of the next run asks for it.
    run(&mut api, one_second());
    let script = "import os, urllib.request, urllib.error\n\
        for path in ['run', 'replay', 'replay/camera?time=0']:\n    \
        try:\n        urllib.request.urlopen(os.environ['CHICANE_URL'] + '/sim/api/evaluation/' + path)\n        \
        print('open')\n    \
        except urllib.error.HTTPError as error:\n        print(error.code)\n";
    let record = run(&mut api, json!({"command": format!("python3 -c \"{script}\""), "time_limit_s": 60}));
    let printed = crate::support::judged::student_output(&record);
    assert_eq!(printed, ["403", "403", "403"], "{record}");
    let refused = student.get("/sim/api/evaluation/run?session=last");
    assert_eq!((refused.status, &body(&refused)["code"]), (403, &json!("role_forbids")));
    // Both runs were started by the teacher, so a student does not see them.
    assert_eq!(student.get("/sim/api/evaluation/replay").status, 404);
    assert_eq!(teacher.get("/sim/api/evaluation/run?session=last").status, 200);
}
