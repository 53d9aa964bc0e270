//! The roles of tokens: teacher, student, spectator.

use crate::support::judged::{judged, one_second, wait_for_end, wait_for_phase};
use crate::support::{Api, Setup, Simulator, Socket, json as body, refusal, setup, setup_in};
use chicane_store::Access;
use chicane_testkit::cdn::{packed, publish};
use chicane_testkit::http::{Client, Events, HttpResponse};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const TEACHER: &str = "the-teachers-token";
const STUDENT: &str = "the-students-token";
const SPECTATOR: &str = "the-spectators-token";
const NEEDS_TEACHER: &str = "this needs the teacher's token";
const NEEDS_STUDENT: &str = "this needs the students' or the teacher's token";

/// A judging script that never ends a session.
const ENDLESS: &str = "def evaluate(sim):\n    pass\n";

fn with_roles() -> Setup {
    setup().token(TEACHER).student_token(STUDENT).spectator_token(SPECTATOR)
}

fn client(simulator: &Simulator, token: &str) -> Client {
    simulator.client().with_header("authorization", format!("Bearer {token}"))
}

fn api(simulator: &Simulator, token: &str) -> Api {
    Api(client(simulator, token))
}

fn code(answer: &HttpResponse) -> String {
    body(answer)["code"].as_str().unwrap_or_default().to_owned()
}

/// All operations of the OpenAPI documents of simulator and robot, as pairs of method and path. The
/// parameter `{name}` of a path is replaced by `box1`.
fn operations() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for text in [chicane_server::openapi(), chicane_server::robot_openapi()] {
        let document: Value = serde_json::from_str(&text).expect("JSON");
        for (path, item) in document["paths"].as_object().expect("paths") {
            for method in item.as_object().expect("operations").keys() {
                all.push((method.to_uppercase(), path.replace("{name}", "box1")));
            }
        }
    }
    assert!(all.len() > 50 && all.iter().any(|(_, path)| path == "/sim/api/step"), "{all:?}");
    all
}

#[test]
fn every_token_permitted_everything() {
    let simulator = with_roles().start();
    let (all, mut permitted) = (operations(), BTreeSet::new());
    for (method, path) in all.iter().filter(|(method, _)| method != "GET") {
        // No path accepts this body, so a permitted request changes nothing.
        let send = |token: &str| client(&simulator, token).request(method, path, &[], b"[1]");
        assert_ne!(code(&send(TEACHER)), "role_forbids", "{method} {path}");
        let spectator = send(SPECTATOR);
        assert_eq!((spectator.status, code(&spectator)), (403, "role_forbids".to_owned()), "{method} {path}");
        let student = send(STUDENT);
        if student.status == 403 {
            assert_eq!(refusal(&student), (403, NEEDS_TEACHER.to_owned()), "{method} {path}");
            assert_eq!(refusal(&spectator).1, NEEDS_TEACHER);
        } else {
            assert_eq!(refusal(&spectator).1, NEEDS_STUDENT);
            permitted.insert(path.as_str());
        }
    }
    let of_the_simulator: Vec<_> =
        permitted.iter().filter(|path| path.starts_with("/sim")).copied().collect();
    let expected =
        ["evaluation/run", "evaluation/start", "evaluation/stop", "respawn", "step", "submissions", "switch"];
    assert_eq!(of_the_simulator, expected.map(|name| format!("/sim/api/{name}")));
    for path in ["/speed", "/steering", "/drive", "/camera/pan", "/audio/play"] {
        assert!(permitted.contains(path), "{path} in {permitted:?}");
    }
}

#[test]
fn students_and_spectators_read_everything_that_names_nobody_and_no_folder() {
    let simulator = with_roles().start();
    for token in [STUDENT, SPECTATOR] {
        for path in ["/", "/sim", "/metrics", "/docs", "/sim/api/docs", "/health", "/cdn/worlds/"] {
            let status = client(&simulator, token).get(path).status;
            assert!(status < 400, "{path}: {status}");
        }
        for (_, path) in operations().iter().filter(|(method, _)| method == "GET") {
            if path.ends_with("/events") {
                continue;
            }
            let answer = client(&simulator, token).get(path);
            let teachers = ["/sim/api/recording", "/sim/api/submissions", "/sim/api/builder/published"];
            if teachers.contains(&path.as_str()) || path.ends_with("/runs") {
                // These responses name a folder of the machine, students, or unlisted worlds, so
                // only the teacher gets them.
                assert_eq!(refusal(&answer), (403, NEEDS_TEACHER.to_owned()));
                continue;
            }
            if token == SPECTATOR && path.starts_with("/sim/api/workspace") {
                assert_eq!(refusal(&answer), (403, NEEDS_STUDENT.to_owned()));
                continue;
            }
            assert!(![401, 403].contains(&answer.status), "{path}: {}", answer.text());
        }
        // The file of a run contains commands of other people, so only the teacher gets it.
        let file = client(&simulator, token).get("/sim/api/evaluation/run?session=last");
        assert_eq!(refusal(&file), (403, NEEDS_TEACHER.to_owned()));
        let bearer = format!("Bearer {token}");
        for path in ["/sim/api/events", "/odom?stream=true"] {
            let mut events = Events::open(simulator.address, path, &[("authorization", &bearer)]);
            assert_eq!(events.head.status, 200, "{path}");
            assert!(events.next().is_some(), "{path}");
        }
    }
    // The server checks the role of a POST request even if the path is unknown.
    assert_eq!(refusal(&client(&simulator, STUDENT).post("/sim/api/nothing", "")).0, 403);
    assert_eq!(refusal(&client(&simulator, STUDENT).get("/sim/api/nothing")).0, 404);
}

#[test]
fn a_spectator_could_drive_through_a_web_socket() {
    let simulator = with_roles().start();
    for path in ["/speed/stream", "/steering/stream", "/rosbridge", "/audio/stream?sample_rate=24000"] {
        let open = |token: &str| {
            let bearer = format!("Bearer {token}");
            Socket::try_open(simulator.address, path, &[("authorization", &bearer)]).map(drop)
        };
        assert_eq!(open(SPECTATOR), Err(403), "{path}");
        assert_eq!(open(STUDENT), Ok(()), "{path}");
        assert_eq!(open(TEACHER), Ok(()), "{path}");
    }
}

#[test]
fn each_token_signs_in_on_the_page() {
    let simulator = with_roles().start();
    let mut cookies = Vec::new();
    for (token, status) in [(SPECTATOR, 403), (STUDENT, 403), (TEACHER, 200)] {
        // A person who is signed in with one role can sign in with another one.
        let cookie = cookies.join("; ");
        let headers = [("cookie", cookie.as_str())];
        let answer = simulator.client().request("GET", &format!("/sim?token={token}"), &headers, b"");
        assert_eq!(answer.status, 303, "{token}");
        let cookie = answer.header("set-cookie").expect("a cookie");
        let cookie = cookie.split(';').next().expect("a pair").to_owned();
        let send = |method: &str, path: &str| {
            simulator.client().request(method, path, &[("cookie", cookie.as_str())], b"").status
        };
        assert_eq!(send("GET", "/sim"), 200);
        assert_eq!(send("POST", "/sim/api/reset"), status, "{token}");
        cookies = vec![cookie];
    }
}

#[test]
fn without_a_token_everybody_is_a_teacher() {
    let simulator = setup().start();
    assert_eq!(simulator.client().post("/sim/api/reset", "").status, 200);
    // A token that is not needed is ignored.
    assert_eq!(client(&simulator, SPECTATOR).post("/sim/api/reset", "").status, 200);
}

#[test]
fn every_role_needs_a_token_of_its_own() {
    let equal = with_roles().spectator_token(STUDENT).try_start().err().expect("refused").to_string();
    assert!(equal.contains("student and spectator are equal"), "{equal}");
    let alone = setup().student_token(STUDENT).try_start().err().expect("refused").to_string();
    assert!(alone.contains("--student-token") && alone.contains("--token auto"), "{alone}");
}

#[test]
fn a_student_could_read_the_records_of_others() {
    let simulator = judged(with_roles(), ENDLESS);
    let run = |token: &str| {
        let mut own = api(&simulator, token);
        let id = own.post("/evaluation/start", one_second())["session"]["id"].clone();
        wait_for_end(&mut own);
        id.as_str().expect("an id").to_owned()
    };
    let listed = |token: &str| -> Vec<String> {
        let list = api(&simulator, token).get("/evaluation/records");
        let records = list["records"].as_array().expect("a list");
        records.iter().map(|record| record["session"].as_str().expect("an id").to_owned()).collect()
    };
    let mut student = api(&simulator, STUDENT);
    let none = (404, "no record".to_owned());
    let teachers = run(TEACHER);
    assert_eq!(listed(STUDENT), [""; 0]);
    assert_eq!(student.get_refused("/evaluation/record"), none);
    assert_eq!(student.get_refused(&format!("/evaluation/record?session={teachers}")), none);
    assert_eq!(student.get("/evaluation/session"), json!({"active": false, "session": null}));
    let students = run(STUDENT);
    let again = run(TEACHER);
    assert_eq!(listed(STUDENT), [students.as_str()]);
    assert_eq!(student.get("/evaluation/record")["session"], students.as_str());
    assert_eq!(student.get(&format!("/evaluation/record?session={students}"))["session"], students.as_str());
    for token in [TEACHER, SPECTATOR] {
        assert_eq!(listed(token), [again.clone(), students.clone(), teachers.clone()]);
        assert_eq!(api(&simulator, token).get("/evaluation/record")["session"], again.as_str());
    }
    // The role that started a session is stored with the session.
    let data = simulator.stop_and_keep();
    let simulator = setup_in(&data).token(TEACHER).student_token(STUDENT).start();
    let list = api(&simulator, STUDENT).get("/evaluation/records");
    assert_eq!(list["records"].as_array().map(Vec::len), Some(1), "{list}");
}

#[test]
fn a_student_could_stop_or_disturb_the_session_of_others() {
    let simulator = judged(with_roles(), ENDLESS);
    let (mut teacher, mut student) = (api(&simulator, TEACHER), api(&simulator, STUDENT));
    let long = json!({"time_limit_s": 3600});
    teacher.post("/evaluation/start", long.clone());
    wait_for_phase(&mut teacher, "running");
    assert_eq!(student.refused("/evaluation/stop", json!({})), (403, NEEDS_TEACHER.to_owned()));
    let busy = (409, "evaluation in progress".to_owned());
    assert_eq!(student.refused("/switch", json!({"world": "field"})), busy);
    assert_eq!(student.refused("/respawn", json!({})), busy);
    assert_eq!(student.get("/evaluation/session"), json!({"active": true, "session": null}));
    assert_eq!(teacher.post("/evaluation/stop", json!({}))["stopped"], true);
    // While no session of another person is active, a student may stop, switch, respawn and start.
    assert_eq!(student.post("/evaluation/stop", json!({}))["stopped"], false);
    student.post("/switch", json!({"world": "technical"}));
    student.post("/respawn", json!({}));
    student.post("/evaluation/start", long);
    assert_eq!(student.post("/evaluation/stop", json!({}))["stopped"], true);
}

#[test]
fn a_spectator_could_run_a_shell_command() {
    let simulator = judged(with_roles(), ENDLESS);
    let command = json!({"command": "true"});
    let refused = api(&simulator, SPECTATOR).refused("/evaluation/start", command);
    assert_eq!(refused, (403, NEEDS_STUDENT.to_owned()));
    assert_eq!(api(&simulator, TEACHER).get("/evaluation/session")["session"], Value::Null);
}

#[test]
fn a_student_program_got_the_teachers_token() {
    let script = "def evaluate(sim):\n    if sim.state.run.exit_code is not None:\n        sim.finish()\n";
    let simulator = judged(with_roles(), script);
    let mut teacher = api(&simulator, TEACHER);
    teacher.post("/evaluation/start", json!({"command": "echo token $CHICANE_TOKEN", "time_limit_s": 60}));
    wait_for_end(&mut teacher);
    let record = teacher.get("/evaluation/record").to_string();
    assert!(record.contains("token ") && !record.contains(TEACHER), "{record}");
}

#[test]
fn the_role_of_a_student_does_not_open_private_worlds() {
    const CDN: &str = "the-token-of-the-cdn";
    let simulator = with_roles().cdn_token(CDN).start();
    let world = packed("field", Access::Private);
    publish(&world, &simulator.folder().join("cdn"));
    let status = |token: &str, path: &str| client(&simulator, token).get(path).status;
    let meta = format!("/cdn/worlds/{}/meta.json", world.id);
    assert_eq!([STUDENT, SPECTATOR].map(|token| status(token, &meta)), [404, 404]);
    assert_eq!([TEACHER, CDN].map(|token| status(token, &meta)), [200, 200]);
    // The token of the CDN opens nothing else.
    assert_eq!(status(CDN, "/sim/api/status"), 401);
}
