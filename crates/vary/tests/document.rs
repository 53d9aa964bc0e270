//! Tests of the document: what is accepted, what is refused and how, and what is written.

use chicane_vary::{Count, FIELDS, Range, Surface, Vary};
use serde_json::{Value, json};

fn complete() -> Value {
    json!({
        "start": {"along": [-0.5, 0], "across": [-0.05, 0.05], "yaw": [-0.1, 0.1]},
        "objects": {"jitter": 0.1, "turn": 0.5, "scatter": [2, 5]},
        "lights": {"phase": [0, 4]},
        "brightness": [0.7, 1.3],
        "friction": [0.8, 1.1],
        "mass": [0.9, 1.2],
        "noise": {"lidar": [1, 2], "imu": [1, 3], "camera": [0.5, 2]},
        "latency": [0, 0.05],
        "surface": ["dry", "wet"],
    })
}

#[test]
fn a_complete_document_is_read_and_written_unchanged() {
    let vary = Vary::parse(&complete()).expect("valid");
    assert_eq!(vary.start.along, Some(Range { least: -0.5, most: 0.0 }));
    assert_eq!(vary.objects.scatter, Some(Count { least: 2, most: 5 }));
    assert_eq!(vary.surface, [Surface::Dry, Surface::Wet]);
    assert_eq!(vary.to_json(), complete());
    assert_eq!(Vary::parse(&vary.to_json()), Ok(vary));
}

#[test]
fn an_empty_document_changes_nothing() {
    for text in ["{}", r#"{"start": {}, "noise": null, "objects": {"jitter": 0}}"#] {
        let vary = Vary::parse_json(text).expect("valid");
        assert!(vary.is_empty() && vary.lines().is_empty(), "{text}");
        assert_eq!(vary.to_json(), json!({}));
    }
    assert!(!Vary::parse(&complete()).expect("valid").is_empty());
}

#[test]
fn every_field_is_described_in_one_line() {
    let lines = Vary::parse(&complete()).expect("valid").lines();
    assert_eq!(
        lines,
        [
            "start along the road: -0.5 to 0 m",
            "start across the road: -0.05 to 0.05 m",
            "heading at the start: -0.1 to 0.1 rad",
            "objects: moved by up to 0.1 m, turned by up to 0.5 rad",
            "objects beside the road: 2 to 5 more",
            "lights: red at the start for 0 to 4 s",
            "brightness: 0.7 to 1.3",
            "grip of the tyres: 0.8 to 1.1 times",
            "mass of the car: 0.9 to 1.2 times",
            "noise of the lidar: 1 to 2 times",
            "noise of the IMU: 1 to 3 times",
            "noise of the camera: 0.5 to 2 times",
            "delay of commands: 0 to 0.05 s",
            "surface of the road: dry or wet",
        ]
    );
}

#[test]
fn a_wrong_value_is_refused_with_what_would_be_right() {
    let pair = "must be [least, most] with numbers from";
    let names = "must be a list of 1 to 4 different names of dry, damp, dusty, wet";
    for (text, error) in [
        ("3", "vary must be an object with start, objects, lights, brightness, friction, mass, noise, latency, surface".to_owned()),
        (r#"{"frictoin": [1, 1]}"#, "vary.frictoin is not a known field; the known fields are start, objects, lights, brightness, friction, mass, noise, latency, surface".to_owned()),
        (r#"{"start": {"x": [0, 1]}}"#, "vary.start.x is not a known field; the known fields are along, across, yaw".to_owned()),
        (r#"{"start": [0, 1]}"#, "vary.start must be an object with along, across, yaw".to_owned()),
        (r#"{"start": {"along": 1}}"#, format!("vary.start.along {pair} -10 to 10")),
        (r#"{"start": {"along": [0, 11]}}"#, format!("vary.start.along {pair} -10 to 10")),
        (r#"{"start": {"yaw": [0, 1, 2]}}"#, format!("vary.start.yaw {pair} -3.15 to 3.15")),
        (r#"{"friction": [1, 0.5]}"#, "vary.friction must have its smaller number first: [0.5, 1]".to_owned()),
        (r#"{"friction": ["1", 2]}"#, format!("vary.friction {pair} 0.2 to 2")),
        (r#"{"objects": {"jitter": -0.1}}"#, "vary.objects.jitter must be a number from 0 to 1".to_owned()),
        (r#"{"objects": {"scatter": [1, 2.5]}}"#, "vary.objects.scatter must be [least, most] with whole numbers from 0 to 50".to_owned()),
        (r#"{"objects": {"scatter": [1, 51]}}"#, "vary.objects.scatter must be [least, most] with whole numbers from 0 to 50".to_owned()),
        (r#"{"objects": {"scatter": [3, 1]}}"#, "vary.objects.scatter must have its smaller number first: [1, 3]".to_owned()),
        (r#"{"surface": []}"#, format!("vary.surface {names}")),
        (r#"{"surface": ["dry", "dry"]}"#, format!("vary.surface {names}")),
        (r#"{"surface": ["ice"]}"#, format!("vary.surface {names}")),
        (r#"{"surface": "wet"}"#, format!("vary.surface {names}")),
        (r#"{"latency": [0, 0.6]}"#, format!("vary.latency {pair} 0 to 0.5")),
    ] {
        assert_eq!(Vary::parse_json(text).expect_err(text).to_string(), error);
    }
    let long = format!("{{\"{}\": 1}}", "x".repeat(1000));
    assert!(Vary::parse_json(&long).expect_err("refused").to_string().len() < 250);
}

#[test]
fn the_list_of_fields_is_complete() {
    let document = complete();
    let names = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    for (group, fields) in FIELDS {
        let at = group.strip_prefix("vary_").map_or(&document, |key| &document[key]);
        let mut sorted: Vec<String> = fields.iter().map(|name| (*name).to_owned()).collect();
        sorted.sort();
        assert_eq!(names(at), sorted, "{group}");
    }
}
