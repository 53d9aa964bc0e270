//! The OpenAPI document of the robot's API, its page, and the format of its errors.

use crate::support::{detail, json, pretty, refusal, start, start_paused};
use serde_json::Value;

#[test]
fn the_openapi_document_of_the_robot() {
    let simulator = start();
    let answer = simulator.client().get("/openapi.json");
    assert_eq!(answer.status, 200);
    let document = json(&answer);
    insta::assert_snapshot!(pretty(&document));
    for schema in ["SpeedRequest", "SteeringRequest", "Detail", "Waiting", "ErrorBody"] {
        assert!(document["components"]["schemas"][schema].is_object(), "{schema}");
    }
    let about = document["info"]["description"].as_str().expect("a text");
    assert!(about.contains("/speed/stream") && about.contains("/steering/stream"), "{about}");
}

/// Collects all `$ref` values of a document.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|v| references(v, found));
        }
        Value::Array(list) => list.iter().for_each(|v| references(v, found)),
        _ => {}
    }
}

#[test]
fn the_document_has_every_path_and_no_dangling_reference() {
    let simulator = start();
    let document = json(&simulator.client().get("/openapi.json"));
    for (path, methods) in [
        ("/speed", "get post"),
        ("/steering", "get post"),
        ("/camera/pan", "get post"),
        ("/camera/tilt", "get post"),
        ("/drive", "post"),
        ("/odom", "get"),
        ("/imu", "get"),
        ("/battery", "get"),
        ("/lidar", "get"),
        ("/camera", "get"),
        ("/states", "get"),
        ("/info", "get"),
        ("/health", "get"),
    ] {
        for method in methods.split(' ') {
            assert!(document["paths"][path][method]["responses"]["200"].is_object(), "{method} {path}");
        }
    }
    let mut found = Vec::new();
    references(&document, &mut found);
    for reference in found {
        let name = reference.strip_prefix("#/components/schemas/").unwrap_or_else(|| panic!("{reference}"));
        assert!(document["components"]["schemas"][name].is_object(), "{reference}");
    }
}

#[test]
fn the_page_loads_its_files_from_the_robots_paths() {
    let simulator = start();
    let mut client = simulator.client();
    let page = client.get("/docs");
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").is_some());
    let html = page.text();
    assert!(!html.contains("/sim/") && !html.contains("{base}"), "{html}");
    for file in ["swagger-ui.css", "swagger-ui-bundle.js", "start.js"] {
        assert!(html.contains(&format!("\"/docs/{file}\"")), "{html}");
        assert_eq!(client.get(&format!("/docs/{file}")).status, 200, "{file}");
    }
    assert!(client.get("/docs/start.js").text().contains("\"/openapi.json\""));
    assert_eq!(detail(&client.get("/docs/nothing.js")).0, 404);
    let simulators = client.get("/sim/api/docs/start.js").text();
    assert!(simulators.contains("\"/sim/api/openapi.json\""), "{simulators}");
}

#[test]
fn robot_errors_have_one_format_whichever_layer_they_come_from() {
    let (simulator, _) = start_paused();
    let mut client = simulator.client();
    for (path, allowed) in [
        ("/speed", "GET"),
        ("/steering", "POST"),
        ("/drive", "POST"),
        ("/odom", "GET"),
        ("/lidar", "GET"),
        ("/camera", "GET"),
        ("/camera/pan", "POST"),
        ("/states", "GET"),
        ("/info", "GET"),
        ("/speed/stream", "GET"),
        ("/openapi.json", "GET"),
    ] {
        let answer = client.request("DELETE", path, &[], b"");
        assert_eq!(detail(&answer).0, 405, "{path}");
        assert!(answer.header("allow").is_some_and(|a| a.contains(allowed)), "{path}");
        assert_eq!(answer.header("x-sim-time"), Some("0.000"), "{path}");
        let foreign = client.request("GET", path, &[("origin", "http://evil.example")], b"");
        assert_eq!(refusal(&foreign).0, 403, "{path}");
    }
    let strange = simulator.client().with_host("evil.example").get("/speed");
    assert_eq!(refusal(&strange).0, 403);
    for path in ["/camera/zoom", "/speed//", "/odom/x", "/odom/x/"] {
        let answer = client.get(path);
        let (status, text) = detail(&answer);
        assert!(status == 404 && text.contains(" /docs"), "{path}: {status} {text}");
        assert_eq!(answer.header("x-sim-time"), Some("0.000"), "{path}");
    }
    // Paths outside the robot's API use the error format of the simulator's API.
    for path in ["/nothing", "/speedy", "/sim/api/nothing"] {
        assert_eq!(refusal(&client.get(path)).0, 404, "{path}");
    }
}

#[test]
fn a_slash_at_the_end_of_a_robot_path_is_redirected() {
    let (simulator, _) = start_paused();
    let mut client = simulator.client();
    for (method, path, target) in [
        ("GET", "/speed/", "/speed"),
        ("GET", "/lidar/?step=2", "/lidar?step=2"),
        ("POST", "/camera/pan/", "/camera/pan"),
        ("POST", "/audio/play/", "/audio/play"),
    ] {
        let answer = client.request(method, path, &[], b"");
        assert_eq!((answer.status, answer.header("location")), (307, Some(target)), "{method} {path}");
        assert_eq!(answer.header("x-sim-time"), Some("0.000"), "{path}");
    }
    assert_eq!(refusal(&client.get("/sim/api/pose/")).0, 404, "only the robot's paths are redirected");
}
