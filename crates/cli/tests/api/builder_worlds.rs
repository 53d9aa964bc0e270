//! Worlds of projects: the scene, driving, publishing, prints, judging scripts, events.

use crate::builder::{Builder, builder};
use crate::support::{json as body, refusal, setup, setup_in, start, until};
use chicane_testkit::http::{EventWait, Events};
use serde_json::{Value, json};
use std::time::Duration;

/// Makes a project that has errors, and returns its id.
fn with_errors(builder: &mut Builder) -> String {
    let id = builder.id(json!({"from": "empty"}));
    let mut document = builder.document(&id);
    document["objects"] = json!([{"kind": "cone", "name": "far", "x": 90, "y": 1}]);
    let saved = builder.save(&id, &document);
    assert_eq!(saved["errors"], 1);
    id
}

#[test]
fn a_project_with_errors_has_no_world() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = with_errors(&mut builder);
    for (method, rest) in [
        ("GET", "/scene"),
        ("POST", "/drive"),
        ("POST", "/publish"),
        ("GET", "/print"),
        ("POST", "/print/size"),
    ] {
        let answer = builder.send(method, &format!("/projects/{id}{rest}"), &json!({}));
        assert_eq!(answer.status, 409, "{rest}: {}", answer.text());
        let refused = body(&answer);
        assert_eq!(
            (&refused["code"], &refused["findings"][0]["rule"]),
            (&json!("project_invalid"), &json!("object-outside"))
        );
        assert_eq!(refused["findings"][0]["location"]["x"], 90.0);
    }
    assert_eq!(simulator.api().get("/status")["current"], "oval", "the old world continues");
}

#[test]
fn the_scene_of_a_project_has_its_own_files() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "world", "world": "town"}));
    let scene = builder.get(&format!("/projects/{id}/scene"));
    assert_eq!(scene["world"], "town");
    for part in ["world_glb", "car_glb"] {
        let address = scene[part].as_str().expect("an address");
        assert!(address.starts_with(&format!("/sim/api/builder/projects/{id}/scene/")), "{address}");
        let file = builder.0.0.get(address);
        assert_eq!((file.status, file.header("content-type")), (200, Some("model/gltf-binary")));
        assert!(file.body.starts_with(b"glTF"));
    }
    assert_eq!(builder.get(&format!("/projects/{id}/scene")), scene);
    let mut document = builder.document(&id);
    document["objects"] = json!([]);
    builder.save(&id, &document);
    let changed = builder.get(&format!("/projects/{id}/scene"));
    assert_ne!(changed["version"], scene["version"]);
    builder.refused(
        "GET",
        &format!("/projects/{id}/scene/0000000000000000.glb"),
        &json!({}),
        (404, "not_found"),
    );
}

#[test]
fn the_simulator_drives_in_a_project_and_takes_its_changes() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "empty", "name": "my_track"}));
    let mut document = builder.document(&id);
    document["display_name"] = json!("My track");
    builder.save(&id, &document);
    let path = format!("/projects/{id}/drive");
    assert_eq!(builder.done("POST", &path, json!({})), json!({"ok": true, "world": "my_track.world"}));
    let mut api = simulator.api();
    assert_eq!(api.get("/status")["current"], "my_track");
    let worlds = api.get("/worlds");
    let listed =
        worlds["worlds"].as_array().expect("a list").iter().find(|w| w["name"] == "my_track").cloned();
    assert_eq!(listed.expect("listed")["display"], "My track");
    // The list is searched by name, because it contains the sides of the fence too.
    let has_cone = |api: &mut crate::support::Api| {
        api.get("/objects")["objects"].as_array().expect("a list").iter().any(|o| o["name"] == "cone1")
    };
    assert!(!has_cone(&mut api));

    document["objects"] = json!([{"kind": "cone", "name": "cone1", "x": 4, "y": 3}]);
    builder.save(&id, &document);
    builder.done("POST", &path, json!({}));
    assert!(has_cone(&mut api), "the change is in the running world");

    // The world of a project that was made from a shipped world gets another name, so that both
    // worlds can be loaded.
    let oval = builder.id(json!({"from": "world", "world": "oval"}));
    let driven = builder.done("POST", &format!("/projects/{oval}/drive"), json!({}));
    assert_eq!(driven["world"], "oval_project.world");
    api.post("/switch", json!({"world": "oval.world"}));
    assert_eq!(api.get("/status")["current"], "oval");
    api.post("/switch", json!({"world": "oval_project"}));

    // After a restart, the simulator loads the world of the project again.
    let data = simulator.stop_and_keep();
    let simulator = setup_in(&data).start();
    assert_eq!(simulator.api().get("/status")["current"], "oval_project");
}

#[test]
fn a_drive_is_refused_during_an_evaluation_and_changes_nothing() {
    let simulator = setup().judge_script("def evaluate(sim):\n    pass\n").start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "empty", "name": "my_track"}));
    let mut api = simulator.api();
    api.post("/evaluation/start", json!({}));
    builder.refused("POST", &format!("/projects/{id}/drive"), &json!({}), (409, "evaluation_in_progress"));
    assert_eq!(api.get("/status")["current"], "oval");
    let worlds = api.get("/worlds")["worlds"].clone();
    assert!(worlds.as_array().expect("a list").iter().all(|w| w["name"] != "my_track"), "{worlds}");
    api.post("/evaluation/stop", json!({}));
}

#[test]
fn a_project_is_published_installed_and_renamed() {
    let simulator = start();
    let mut builder = builder(&simulator);
    assert_eq!(builder.get("/published"), json!({"worlds": []}));
    let id = builder.id(json!({"from": "world", "world": "town"}));
    let path = format!("/projects/{id}/publish");
    let published = builder.done("POST", &path, json!({"access": "public", "name": "Our town"}));
    let world_id = published["world_id"].as_str().expect("an id").to_owned();
    assert_eq!(published["revision"], 1);
    let link = published["link"].as_str().expect("a link");
    assert_eq!(link, format!("http://{}/cdn/worlds/{world_id}/meta.json", simulator.address));
    let meta = simulator.client().get(&format!("/cdn/worlds/{world_id}/meta.json"));
    assert_eq!((meta.status, &body(&meta)["name"]), (200, &json!("Our town")));
    let installed = simulator.api().post("/worlds/install", json!({"world_id": world_id}));
    assert_eq!((&installed["name"], &installed["verified"]), (&json!("Our town"), &json!(true)));

    let list = builder.get("/published");
    let entry = &list["worlds"][0];
    assert_eq!(
        (&entry["world_id"], &entry["access"], &entry["link"]),
        (&json!(world_id), &json!("public"), &json!(link))
    );
    assert!(
        entry["published"].as_str().is_some_and(|at| at.starts_with("20") && at.ends_with('Z')),
        "{entry}"
    );
    let change = format!("/published/{world_id}");
    let changed = builder.done("POST", &change, json!({"access": "unlisted", "name": "Town"}));
    assert_eq!((&changed["name"], &changed["access"]), (&json!("Town"), &json!("unlisted")));
    assert_eq!(builder.get("/published")["worlds"][0]["name"], "Town");

    builder.refused("POST", &change, &json!({}), (400, "invalid_request"));
    builder.refused("POST", &change, &json!({"access": "secret"}), (400, "invalid_request"));
    builder.refused("POST", "/published/x", &json!({"name": "x"}), (400, "invalid_request"));
    let nowhere = "0".repeat(32);
    builder.refused("POST", &format!("/published/{nowhere}"), &json!({"name": "x"}), (404, "no_such_world"));
    builder.refused("POST", &path, &json!({"name": "two\nlines"}), (400, "invalid_request"));
    assert_eq!(builder.get("/published")["worlds"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_project_is_not_published_to_the_cdn_of_others_or_with_a_broken_script() {
    let simulator = setup().cdn("http://127.0.0.1:9/cdn").start();
    let mut other = builder(&simulator);
    let id = other.id(json!({"from": "empty"}));
    let text =
        other.refused("POST", &format!("/projects/{id}/publish"), &json!({}), (409, "no_publish_target"));
    assert!(text.contains("chicane publish --to"), "{text}");

    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "empty"}));
    let script = b"def initialize(sim):\n    pass\n\n\ndef evaluate(sim):\n    return (\n";
    let stored = builder.raw("PUT", &format!("/projects/{id}/files/judge.py"), script);
    assert_eq!(stored.status, 200, "{}", stored.text());
    let mut document = builder.document(&id);
    document["evaluation"] = json!({"config": {}, "script": "judge.py"});
    builder.save(&id, &document);
    let refused = builder.send("POST", &format!("/projects/{id}/publish"), &json!({}));
    assert_eq!(
        (refused.status, &body(&refused)["code"]),
        (409, &json!("project_invalid")),
        "{}",
        refused.text()
    );
    assert_eq!(body(&refused)["findings"][0]["location"]["kind"], "evaluation");
    assert_eq!(builder.get("/published"), json!({"worlds": []}));
}

#[test]
fn a_script_is_checked_with_the_line_of_its_error() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let templates = builder.get("/templates");
    let lap_time = &templates["templates"][0];
    assert_eq!(lap_time["name"], "lap_time");
    assert!(lap_time["description"].as_str().is_some_and(|text| text.starts_with("Lap time")), "{lap_time}");
    let mut check =
        |script: &str| builder.done("POST", "/script/check", json!({"script": script, "config": {}}));
    assert_eq!(check(lap_time["script"].as_str().expect("a script")), json!({"ok": true, "errors": []}));
    let wrong = check("def evaluate(sim):\n    pass\n\n    x = = 3\n");
    assert_eq!((&wrong["ok"], &wrong["errors"][0]["line"]), (&json!(false), &json!(4)), "{wrong}");
    let without = check("def initialize(sim):\n    pass\n");
    assert_eq!((&without["ok"], &without["errors"][0]["line"]), (&json!(false), &Value::Null), "{without}");
    for bad in [
        json!({}),
        json!({"script": 3}),
        json!({"script": "x".repeat((256 << 10) + 1)}),
        json!({"script": "\u{0}"}),
    ] {
        builder.refused("POST", "/script/check", &bad, (400, "invalid_request"));
    }
}

#[test]
fn a_floor_is_printed_as_picture_and_as_sheets() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "world", "world": "oval"}));
    let path = format!("/projects/{id}/print");
    let size = builder.done("POST", &format!("{path}/size"), json!({"dpi": 10, "paper": "A3"}));
    assert_eq!((&size["width_px"], &size["height_px"]), (&json!(3150), &json!(2362)));
    assert!(size["sheets"].as_u64().is_some_and(|sheets| (300..600).contains(&sheets)), "{size}");
    let print = builder.0.0.get(&format!("/sim/api/builder{path}?dpi=10&format=jpg"));
    assert_eq!((print.status, print.header("content-type")), (200, Some("image/jpeg")));
    assert_eq!(print.header("content-disposition"), Some("attachment; filename=\"oval-10dpi.jpg\""));
    let shipped = builder.0.0.get("/sim/api/worlds/oval/print.jpg?dpi=10");
    assert!(print.body == shipped.body, "a project is printed as its world");
    let pdf = builder.0.0.get(&format!("/sim/api/builder{path}?dpi=10&format=pdf&paper=A3&area=1,1,1,1"));
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")));
    assert!(pdf.body.starts_with(b"%PDF-1.6") && pdf.body.ends_with(b"%%EOF\n"));
    for query in [
        "dpi=9",
        "dpi=x",
        "paper=A0",
        "format=png",
        "area=1,2",
        "area=90,90,1,1",
        "dpi=600&format=pdf&paper=A4",
    ] {
        let answer = builder.0.0.get(&format!("/sim/api/builder{path}?{query}"));
        assert_eq!(refusal(&answer).0, 400, "{query}");
    }
    builder.refused("POST", &format!("{path}/size"), &json!({"dpi": 0}), (400, "invalid_request"));
}

#[test]
fn two_editors_hear_of_each_other() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "empty"}));
    let address = format!("/sim/api/builder/projects/{id}/events");
    let data = |event: chicane_testkit::http::SseEvent| -> Value {
        serde_json::from_str(&event.data).expect("JSON")
    };
    let mut left = Events::open(simulator.address, &address, &[]);
    assert_eq!(left.head.header("content-type"), Some("text/event-stream"));
    assert_eq!(data(left.next_of("revision")), json!({"revision": 1, "editor": null}), "the first event");
    assert_eq!(data(left.next_of("editors")), json!({"count": 1}));
    let mut right = Events::open(simulator.address, &address, &[]);
    assert_eq!(data(right.next_of("revision"))["revision"], 1);
    assert_eq!(data(left.next_of("editors")), json!({"count": 2}));

    let document = builder.document(&id);
    let save = json!({"revision": 1, "document": document, "editor": "right"});
    builder.done("PUT", &format!("/projects/{id}"), save.clone());
    for stream in [&mut left, &mut right] {
        assert_eq!(data(stream.next_of("revision")), json!({"revision": 2, "editor": "right"}));
    }
    // The server sends no event for a refused save.
    assert_eq!(builder.send("PUT", &format!("/projects/{id}"), &save).status, 409);
    let stored = builder.raw("PUT", &format!("/projects/{id}/files/judge.py?editor=left"), b"pass\n");
    assert_eq!(stored.status, 200);
    assert_eq!(data(left.next_of("revision")), json!({"revision": 3, "editor": "left"}));
    drop(right);
    assert_eq!(data(left.next_of("editors")), json!({"count": 1}));
    builder.done("DELETE", &format!("/projects/{id}"), json!({}));
    left.next_of("deleted");
    assert_eq!(left.hear(Duration::from_secs(20)), EventWait::End);
    builder.refused("GET", &format!("/projects/{id}/events"), &json!({}), (404, "no_such_project"));
}

#[test]
fn the_streams_of_projects_end_when_the_simulator_stops() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "empty"}));
    let mut events = Events::open(simulator.address, &format!("/sim/api/builder/projects/{id}/events"), &[]);
    events.next_of("revision");
    assert!(simulator.stop() < crate::support::MAX_STOP_TIME);
    while let EventWait::Event(_) = events.hear(Duration::from_secs(20)) {}
}

#[test]
fn a_project_that_was_driven_again_had_no_size_in_the_list_of_worlds() {
    let simulator = start();
    let (mut builder, mut api) = (builder(&simulator), simulator.api());
    let id = builder.id(json!({"from": "empty", "name": "my_track"}));
    for drive in ["first", "second"] {
        builder.done("POST", &format!("/projects/{id}/drive"), json!({}));
        until(&format!("the size after the {drive} drive"), || {
            let worlds = api.get("/worlds");
            let worlds = worlds["worlds"].as_array().expect("a list");
            worlds.iter().find(|w| w["name"] == "my_track" && w["size"] != json!([0.0, 0.0])).cloned()
        });
    }
}
