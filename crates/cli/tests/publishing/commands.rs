//! Tests of `chicane publish` and `chicane worlds`, with and without a running simulator.

use crate::program::{Program, TempFolder, stderr_of_failure};
use crate::{get, output_of, publish};
use serde_json::json;

const PROJECT: &str = "examples/projects/loop.json";

fn worlds(data: &str, arguments: &[&str]) -> String {
    output_of(&[&["worlds", "--data-dir", data], arguments].concat())
}

fn refused(data: &str, arguments: &[&str]) -> String {
    stderr_of_failure(&[&["worlds", "--data-dir", data], arguments].concat(), &[])
}

#[test]
fn a_published_project_is_installed_by_another_simulator() {
    let (teachers, students) = (TempFolder::new("teacher"), TempFolder::new("student"));
    let everything = "examples/projects/everything.json";
    // The simulator is running before the publication and must serve the new world at once.
    let teacher = Program::serve(&["--data-dir", teachers.path()]);
    let id = publish(everything, teachers.path());
    assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
    let again = publish(everything, teachers.path());
    assert_ne!(id, again, "two publications have the same id");
    let cdn = format!("http://{}/cdn", teacher.address);
    let student = Program::serve(&["--data-dir", students.path(), "--cdn", &cdn]);
    let mut client = student.client();
    let body = json!({"world_id": id}).to_string();
    let answer = client.post("/sim/api/worlds/install", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = client.post("/sim/api/switch", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());

    // The installed world has everything that the project has.
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(everything);
    let project: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path).expect("a project")).expect("JSON");
    let objects = get(&mut client, "/objects")["objects"].as_array().expect("objects").clone();
    let names: Vec<&str> = objects.iter().map(|o| o["name"].as_str().expect("a name")).collect();
    for object in project["objects"].as_array().expect("objects") {
        assert!(names.contains(&object["name"].as_str().expect("a name")), "{object} is not in {names:?}");
    }
    assert!(!get(&mut client, "/traffic_lights")["lights"].as_array().expect("lights").is_empty());
    assert!(get(&mut client, "/route")["waypoints"].as_array().expect("a route").len() > 10);
    let evaluation = get(&mut client, "/evaluation");
    assert_eq!(
        evaluation["config"]["description"], project["evaluation"]["config"]["description"],
        "{evaluation}"
    );
    assert_eq!(get(&mut client, "/world")["display"], project["display_name"]);
    assert_eq!(get(&mut client, "/worldpub")["world_id"], id);
}

#[test]
fn commands_work_on_a_data_folder_without_a_simulator() {
    let data = TempFolder::new("offline");
    let data = data.path();
    assert!(worlds(data, &["list"]).contains("oval"));
    let id = publish(PROJECT, data);
    assert!(worlds(data, &["list", "--published"]).contains(&id));
    let name = format!("custom_{id}");
    assert_eq!(worlds(data, &["install", &id]), format!("{name}.world"));
    assert_eq!(worlds(data, &["install", &name]), format!("{name}.world (was installed already)"));
    assert!(worlds(data, &["list"]).contains(&name));
    assert_eq!(worlds(data, &["rename", &id, "Another name"]), format!("{id} is Another name"));
    for list in [&["list"][..], &["list", "--published"]] {
        assert!(worlds(data, list).contains("Another name"), "{list:?}");
    }
    assert_eq!(worlds(data, &["access", &id, "private"]), format!("{id} is private"));
    assert!(worlds(data, &["list", "--published"]).contains("private"));
    assert_eq!(worlds(data, &["remove", &id]), format!("{name} is removed"));
    assert!(!worlds(data, &["list"]).contains(&name));

    for (arguments, word) in [
        (&["remove", &id][..], "not installed"),
        (&["remove", "oval"], "protected"),
        (&["remove", "../x"], "is not the name of a world"),
        (&["install", "nonsense"], "\"nonsense\" is not a world id (32 hex digits)"),
        (&["install", &"f".repeat(32)], "world not published"),
        (&["rename", &"f".repeat(32), "x"], "is not published in"),
        (&["rename", &id, "two\nlines"], "one line"),
        (&["access", &id, "everybody"], "everybody"),
        (&["access", &id, "public", "--to", "ftp://bucket"], "s3://"),
        (&["list", "--to", "/nowhere/at/all"], "does not exist"),
        (&["install", &id, "--cdn", "http://127.0.0.1:1/cdn"], "the CDN failed"),
    ] {
        let text = refused(data, arguments);
        assert!(text.contains(word), "{arguments:?}: {text}");
    }
    let broken = stderr_of_failure(&["publish", "examples/projects/points.py", "--data-dir", data], &[]);
    assert!(broken.contains("points.py"), "{broken}");
}

/// Regression test: a failed installation printed "100 %" and did not say where it looked.
#[test]
fn a_failed_installation_looked_complete() {
    let scratch = TempFolder::new("nowhere");
    let data = scratch.path();
    let id = "f".repeat(32);
    let folder = refused(data, &["install", &id]);
    let cdn = "http://127.0.0.1:1/cdn";
    let web = refused(data, &["install", &id, "--cdn", cdn]);
    for (text, place) in [(&folder, format!("the CDN folder {data}/cdn")), (&web, format!("the CDN {cdn}"))] {
        let last = text.lines().last().expect("a line");
        assert!(last.contains(&place) && last.contains("--cdn"), "{text}");
        assert!(!text.contains("100 %") && text.contains("installing"), "{text}");
    }
    assert!(folder.contains("world not published") && web.contains("the CDN failed"), "{folder}\n{web}");
}

#[test]
fn commands_work_on_a_data_folder_that_a_simulator_uses() {
    let scratch = TempFolder::new("online");
    let data = scratch.path();
    // The commands get no token. They find the token of the simulator in the data folder.
    let mut program = Program::serve(&["--data-dir", data, "--token", "0123456789abcdef"]);
    let mut client = program.client().with_header("authorization", "Bearer 0123456789abcdef");
    let id = publish(PROJECT, data);
    let name = format!("custom_{id}");
    assert_eq!(worlds(data, &["install", &id]), format!("{name}.world"));
    assert!(worlds(data, &["list"]).lines().any(|l| l.starts_with("oval") && l.contains("running")));
    assert_eq!(client.post("/sim/api/switch", &json!({"world_id": id}).to_string()).status, 200);
    assert!(refused(data, &["remove", &id]).contains("the world is running"));
    // The running simulator sees renamed and imported worlds.
    worlds(data, &["rename", &id, "On the fly"]);
    let listed = get(&mut client, "/worlds");
    let entry = listed["worlds"].as_array().expect("worlds").iter().find(|w| w["world_id"] == json!(id));
    assert_eq!(entry.expect("listed")["display"], "On the fly");
    let built = TempFolder::new("online-built");
    output_of(&["build", PROJECT, "-o", &format!("{}/world", built.path())]);
    let imported = worlds(data, &["import", &format!("{}/world", built.path())]);
    let imported = imported.lines().next().expect("a name").to_owned();
    let switch = client.post("/sim/api/switch", &json!({"world": format!("{imported}.world")}).to_string());
    assert_eq!(switch.status, 200, "{}", switch.text());
    assert_eq!(worlds(data, &["remove", &id]), format!("{name} is removed"));
    // The other data folder does not contain the token of the simulator, so the CDN of the
    // simulator refuses the request. An installation treats a refused `meta.json` like a missing
    // one.
    let cdn = format!("http://{}/cdn", program.address);
    let elsewhere = TempFolder::new("elsewhere");
    assert!(
        refused(elsewhere.path(), &["install", &id, "--cdn", &cdn]).contains("world not published"),
        "the CDN accepted a request without a token"
    );
    program.kill();
    // The killed simulator left `running.json` in the data folder. The commands must ignore this
    // file.
    assert!(worlds(data, &["list"]).contains(&imported));
}

#[test]
fn a_world_is_published_to_a_folder_of_a_static_host() {
    let (host, data) = (TempFolder::new("host"), TempFolder::new("host-data"));
    let to = format!("{}/public/cdn", host.path());
    let id = output_of(&["publish", PROJECT, "--to", &to, "--name", "Ring", "--access", "public"]);
    let other = output_of(&["publish", PROJECT, "--to", &format!("file://{to}")]);
    let server = chicane_testkit::cdn::WebServer::of(std::path::Path::new(&to));
    for id in [&id, &other] {
        let installed = worlds(data.path(), &["install", id, "--cdn", &server.url(), "--require-verified"]);
        assert_eq!(installed, format!("custom_{id}.world"));
    }
    assert!(worlds(data.path(), &["list"]).contains("Ring"));
    worlds(data.path(), &["rename", &id, "Rung", "--to", &to]);
    assert_eq!(
        worlds(data.path(), &["install", &id, "--cdn", &server.url()]),
        format!("custom_{id}.world (was installed already)")
    );
    assert!(worlds(data.path(), &["list"]).contains("Rung"));
}

#[test]
fn list_shows_the_public_worlds_of_a_simulator() {
    let teachers = TempFolder::new("listing");
    let teacher = Program::serve(&["--data-dir", teachers.path(), "--cdn-token", "classroom-7b"]);
    let hidden = publish(PROJECT, teachers.path());
    let shown = output_of(&["publish", PROJECT, "--data-dir", teachers.path(), "--access", "public"]);
    let cdn = format!("http://{}/cdn", teacher.address);
    let nowhere = TempFolder::new("listing-none");
    let listed = worlds(nowhere.path(), &["list", "--cdn", &cdn]);
    assert!(listed.contains(&shown) && !listed.contains(&hidden), "{listed}");
    let listed = worlds(nowhere.path(), &["list", "--cdn", &cdn, "--cdn-token", "classroom-7b"]);
    assert!(listed.contains(&shown) && listed.contains(&hidden), "{listed}");
}
