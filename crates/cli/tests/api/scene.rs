//! glTF files of the world and the car, and the viewer's own files.

use crate::support::{refusal, start, start_paused};
use chicane_testkit::http::HttpResponse;
use serde_json::{Value, json};
use std::io::Read;

/// The JSON chunk of a binary glTF file.
fn gltf(glb: &[u8]) -> Value {
    assert_eq!(&glb[..4], b"glTF");
    let length = u32::from_le_bytes(glb[12..16].try_into().expect("four bytes")) as usize;
    serde_json::from_slice(&glb[20..20 + length]).expect("JSON")
}

fn names(gltf: &Value) -> Vec<&str> {
    let nodes = gltf["nodes"].as_array().expect("nodes");
    nodes.iter().filter_map(|node| node["extras"]["object"].as_str()).collect()
}

fn is_kept(answer: &HttpResponse) -> bool {
    answer.header("cache-control").is_some_and(|v| v.contains("immutable") && v.contains("private"))
}

#[test]
fn the_scene_has_the_addresses_of_world_and_car() {
    let (simulator, mut api) = start_paused();
    let scene = api.get("/scene");
    assert_eq!(scene["world"], "oval");
    let mut client = simulator.client();
    let world = client.get(scene["world_glb"].as_str().expect("an address"));
    assert_eq!(world.status, 200);
    assert_eq!(world.header("content-type"), Some("model/gltf-binary"));
    assert!(is_kept(&world));
    let file = gltf(&world.body);
    let objects = api.get("/objects");
    for object in objects["objects"].as_array().expect("objects") {
        assert!(names(&file).contains(&object["name"].as_str().expect("a name")), "{}", object["name"]);
    }
    let extras = &file["scenes"][0]["extras"];
    assert!(extras["lamps"]["yellow"]["lit"].is_array() && extras["sky"]["zenith"].is_array());
    let car = gltf(&client.get(scene["car_glb"].as_str().expect("an address")).body);
    let joints = car["nodes"].as_array().expect("nodes").iter();
    let joints: Vec<&str> = joints.filter_map(|node| node["extras"]["joint"].as_str()).collect();
    assert_eq!(joints.iter().filter(|joint| **joint == "wheel").count(), 4);
    assert!(joints.contains(&"pan") && joints.contains(&"tilt"));
}

#[test]
fn the_addresses_change_with_the_world_only() {
    let (simulator, mut api) = start_paused();
    let first = api.get("/scene");
    api.post("/respawn", json!({}));
    assert_eq!(api.get("/scene"), first, "a respawn loads the same world");
    api.post("/switch", json!({ "world": "technical.world" }));
    let second = api.get("/scene");
    assert_ne!(second["world_glb"], first["world_glb"]);
    assert_eq!(second["car_glb"], first["car_glb"]);
    let gone = simulator.client().get(first["world_glb"].as_str().expect("an address"));
    let (status, text) = refusal(&gone);
    assert_eq!(status, 404);
    assert!(text.contains("/sim/api/scene"), "{text}");
}

#[test]
fn files_are_compressed_for_clients_that_accept_gzip() {
    let simulator = start();
    let mut client = simulator.client();
    let scene = crate::support::json(&client.get("/sim/api/scene"));
    let page = client.get("/sim").text();
    let script = page.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a script");
    for path in [scene["world_glb"].as_str().expect("an address"), script] {
        let plain = client.get(path);
        assert_eq!(plain.header("content-encoding"), None);
        let packed = client.request("GET", path, &[("accept-encoding", "gzip, br")], b"");
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert!(packed.body.len() < plain.body.len() && is_kept(&packed));
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).expect("gzip");
        assert!(unpacked == plain.body, "{path}");
    }
    assert_eq!(client.get("/sim").header("cache-control"), Some("no-cache"));
}

#[test]
fn unknown_scene_files_are_refused() {
    let simulator = start();
    for wrong in ["/sim/scene/0000000000000000.glb", "/sim/scene/x", "/sim/scene/%2e.glb"] {
        assert_eq!(refusal(&simulator.client().get(wrong)).0, 404, "{wrong}");
    }
}
