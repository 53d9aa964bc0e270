//! Tests the rules for projects. For every rule, a small project violates this rule and no other
//! rule.

use crate::support::{circle, example_files, example_projects, png, read, ring, shipped_projects};
use chicane_builder::{Project, Rule, Severity, check, check_files};
use chicane_world::MemoryBundle;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn rules(value: &Value, files: &MemoryBundle) -> Vec<&'static str> {
    let project = read(value);
    let mut found = check(&project);
    found.extend(check_files(&project, files));
    let rules: BTreeSet<_> = found.iter().map(|f| f.rule).collect();
    rules.into_iter().map(Rule::id).collect()
}

fn track(nodes: Value, more: Value) -> Value {
    let mut p = ring();
    p["track"] = more;
    p["track"]["nodes"] = nodes;
    p
}

fn xy(points: &[[f64; 2]]) -> Value {
    points.iter().map(|[x, y]| json!({ "x": x, "y": y })).collect()
}

fn objects(list: Value) -> Value {
    let mut p = ring();
    p["objects"] = list;
    p
}

fn a_box(name: &str, x: f64, y: f64) -> Value {
    json!({ "kind": "box", "name": name, "x": x, "y": y })
}

fn decal(picture: &str, x: f64) -> Value {
    let mut p = ring();
    p["decals"] = json!([{ "picture": picture, "x": x, "y": 4, "width": 1, "height": 1 }]);
    p
}

fn evaluation(script: Value) -> Value {
    let mut p = ring();
    p["evaluation"] = json!({ "config": { "description": "x" }, "script": script });
    p
}

#[test]
fn every_rule_has_a_project_that_violates_only_this_rule() {
    let mut files = MemoryBundle::default();
    files.insert("good.png", png(64, 64));
    files.insert("huge.png", png(20_000, 20_000));
    files.insert("words.png", "no picture at all, only words");
    files.insert("half.py", "def initialize(sim):\n    pass\n");
    files.insert("whole.py", "def initialize(sim):\n    pass\n\n\ndef evaluate(sim):\n    pass\n");
    let eight: Vec<[f64; 2]> = (0..24)
        .map(|i| {
            let t = std::f64::consts::TAU * f64::from(i) / 24.0;
            [4.0 + 3.0 * libm::sin(t), 4.0 + 1.4 * libm::sin(2.0 * t)]
        })
        .collect();
    // The track is an open ring. The distance between its ends is smaller than the width of the
    // road.
    let ends: Vec<[f64; 2]> = (0..=16)
        .map(|i| {
            let (s, c) = libm::sincos(0.1 + (std::f64::consts::TAU - 0.2) * f64::from(i) / 16.0);
            [4.0 + 2.0 * c, 4.0 + 2.0 * s]
        })
        .collect();
    let straight = |y: f64| xy(&[[1.0, y], [4.0, y], [7.0, y]]);
    let open = |width: f64, start: f64| json!({ "closed": false, "width": width, "start": start });
    let zigzag: Vec<[f64; 2]> =
        (0..140).map(|i| [if i % 4 < 2 { 2.0 } else { 98.0 }, 2.0 + 0.7 * f64::from(i / 2 * 2)]).collect();
    let mut long = track(xy(&zigzag), json!({ "closed": false, "width": 0.2 }));
    long["field"]["size"] = json!([100, 100]);
    let cases: Vec<(&str, Value)> = vec![
        ("", ring()),
        ("nodes-too-close", track(xy(&[[1.0, 4.0], [1.01, 4.0], [7.0, 4.0]]), open(0.6, 0.0))),
        ("start-outside", track(straight(4.0), open(0.6, 7.0))),
        ("crosses-itself", track(xy(&eight), json!({ "width": 0.5 }))),
        ("bend-too-tight", track(circle(4.0, 4.0, 0.4, 12), json!({ "width": 0.3 }))),
        ("border-folds", track(circle(4.0, 4.0, 0.6, 12), json!({ "width": 1.3 }))),
        ("road-overlaps", track(xy(&ends), open(0.6, 0.0))),
        ("road-outside", track(straight(0.2), open(0.6, 0.0))),
        ("name-characters", objects(json!([a_box("box 1", 4.0, 4.0)]))),
        ("name-taken", objects(json!([a_box("a", 4.0, 4.0), a_box("a", 5.0, 4.0)]))),
        ("name-reserved", objects(json!([a_box("wall_2", 4.0, 4.0)]))),
        ("name-reserved", objects(json!([a_box("racetrack", 4.0, 4.0)]))),
        ("object-outside", objects(json!([a_box("a", 0.1, 0.1)]))),
        ("objects-overlap", objects(json!([a_box("a", 4.0, 4.0), a_box("b", 4.2, 4.1)]))),
        ("object-on-road", objects(json!([a_box("a", 6.5, 4.0)]))),
        ("decal-outside", decal("good.png", 7.9)),
        ("picture-missing", decal("none.png", 4.0)),
        ("picture-unreadable", decal("words.png", 4.0)),
        ("picture-too-large", decal("huge.png", 4.0)),
        ("", decal("good.png", 4.0)),
        ("evaluation-incomplete", evaluation(Value::Null)),
        ("evaluation-incomplete", evaluation(json!("none.py"))),
        ("evaluation-incomplete", evaluation(json!("half.py"))),
        ("", evaluation(json!("whole.py"))),
        ("", evaluation(json!({ "template": "lap_time" }))),
        ("track-too-long", long),
    ];
    let mut broken = BTreeSet::new();
    for (rule, value) in &cases {
        let expected: Vec<&str> = Some(*rule).filter(|r| !r.is_empty()).into_iter().collect();
        let found = rules(value, &files);
        let shown = check(&read(value));
        assert_eq!(found, expected, "{shown:?}");
        broken.extend(expected);
    }
    let all: BTreeSet<&str> = Rule::ALL.iter().map(|r| r.id()).collect();
    assert_eq!(broken, all);
}

#[test]
fn findings_contain_severity_rule_location_and_message() {
    let found = check(&read(&objects(json!([a_box("a", 4.0, 4.0), a_box("b", 4.2, 4.1)]))));
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["error objects-overlap: objects[1] (b): \"a\" and \"b\" overlap. Move them apart."]
    );
    let found = check(&read(&objects(json!([a_box("a", 6.5, 4.0)]))));
    assert_eq!(found[0].severity, Severity::Warning);
    // The thickness of a fence reduces the area that is free for objects.
    let mut fenced = objects(json!([a_box("a", 0.16, 4.0)]));
    assert!(check(&read(&fenced)).is_empty());
    fenced["fence"] = json!({});
    assert_eq!(check(&read(&fenced))[0].rule, Rule::ObjectOutside);
}

#[test]
fn objects_that_touch_do_not_overlap() {
    let ball = |name: &str, x: f64| json!({ "kind": "sphere", "name": name, "x": x, "y": 4, "radius": 0.1 });
    let side_by_side = json!([a_box("a", 4.0, 4.0), a_box("b", 4.3, 4.0), ball("c", 4.56), ball("d", 4.77)]);
    assert!(check(&read(&objects(side_by_side))).is_empty());
    // With a yaw of 0, the two boxes overlap. With a yaw of −0.6, only their bounding rectangles
    // overlap.
    let turned = |yaw: f64| json!([a_box("a", 4.0, 4.0), { "kind": "box", "name": "b", "x": 4.29, "y": 4.19, "yaw": yaw }]);
    assert!(!check(&read(&objects(turned(0.0)))).is_empty());
    assert!(check(&read(&objects(turned(-0.6)))).is_empty());
}

#[test]
fn the_shipped_worlds_have_no_unintended_findings() {
    let (projects, pictures) = shipped_projects();
    for (name, bytes) in projects {
        let project = Project::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut found = check(&project);
        found.extend(check_files(&project, &pictures));
        // In the world `slalom`, the cones are on the road on purpose.
        let cones = project.objects.iter().filter(|o| o.name.starts_with("cone")).count();
        let meant = if name == "slalom.json" { cones } else { 0 };
        assert!(
            found.iter().all(|f| f.rule == Rule::ObjectOnRoad) && found.len() == meant,
            "{name}: {found:?}"
        );
    }
}

#[test]
fn the_examples_have_no_findings() {
    for (name, bytes) in example_projects() {
        let project = Project::read(&bytes).expect("a project");
        let mut found = check(&project);
        found.extend(check_files(&project, &example_files()));
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn each_of_five_hundred_objects_is_checked_against_all_others_while_one_is_dragged() {
    let place = |i: u32| (1.0 + f64::from(i % 25) * 0.7, 1.0 + f64::from(i / 25) * 0.7);
    let mut value = ring();
    value["field"]["size"] = json!([20, 20]);
    value["track"]["nodes"] = circle(10.0, 10.0, 8.0, 40);
    value["objects"] = (0..500).map(|i| a_box(&format!("box{i}"), place(i).0, place(i).1)).collect();
    let overlaps = |value: &Value| {
        let found = check(&read(value));
        assert!(found.iter().all(|f| [Rule::ObjectOnRoad, Rule::ObjectsOverlap].contains(&f.rule)));
        found.iter().filter(|f| f.rule == Rule::ObjectsOverlap).count()
    };
    assert_eq!(overlaps(&value), 0);
    for i in [1, 24, 260, 499] {
        let (x, y) = place(i);
        for (offset, count) in [(0.05, 1), (-0.35, 0)] {
            value["objects"][0]["x"] = json!(x + offset);
            value["objects"][0]["y"] = json!(y);
            assert_eq!(overlaps(&value), count, "box {i}, {offset} m");
        }
    }
}
