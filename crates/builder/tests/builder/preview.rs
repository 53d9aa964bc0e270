//! Compares previews with built worlds, and tests the positions of findings.

use crate::support::{circle, read, ring, shipped_projects};
use chicane_builder::preview::{Preview, preview};
use chicane_builder::{Project, Severity, build};
use chicane_world::{Assets, MemoryBundle, Route, World};
use glam::DVec2;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The route that belongs to a preview. It begins at the start line, and a closed route repeats its
/// first point.
fn drawn(preview: &Preview) -> Vec<DVec2> {
    let road = preview.road.as_ref().expect("a road");
    let points = road.line.samples[road.line.start..].iter().map(|s| s.at);
    points.chain(road.line.closed.then(|| road.line.samples[0].at)).collect()
}

/// Whether two lines have the same points, within a nanometre.
fn same(a: &[DVec2], b: &[DVec2]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.distance(*b) < 1e-9)
}

/// The route of the built world; `None` if the project has errors.
fn built(project: &Project) -> Option<Route> {
    let bundle = build(project, &MemoryBundle::default()).ok()?;
    World::load(&Assets::of(&bundle)).expect("the built world loads").route
}

/// Applies one random edit of an editor to a document.
fn edit(document: &mut Value, (kind, index, x, y): (u8, usize, f64, f64)) {
    let nodes = document["track"]["nodes"].as_array_mut().expect("a list");
    let index = index % nodes.len();
    let place = |node: &Value, key: &str| node[key].as_f64().expect("a number");
    match kind {
        // A node is dragged.
        0 => {
            nodes[index]["x"] = json!(place(&nodes[index], "x") + 0.15 * x);
            nodes[index]["y"] = json!(place(&nodes[index], "y") + 0.15 * y);
        }
        // A node is inserted between two nodes.
        1 if nodes.len() < 60 => {
            let next = &nodes[(index + 1) % nodes.len()];
            let middle = |key: &str| 0.5 * (place(&nodes[index], key) + place(next, key));
            let node = json!({"x": middle("x"), "y": middle("y")});
            nodes.insert(index + 1, node);
        }
        2 if nodes.len() > 4 => drop(nodes.remove(index)),
        3 => nodes[index]["width"] = json!(0.5 + 0.2 * x.abs()),
        4 => document["track"]["start"] = json!(10.0 * y.abs()),
        5 => document["track"]["direction"] = json!(if x < 0.0 { "forward" } else { "backward" }),
        6 => document["track"]["closed"] = json!(y < 0.9),
        _ => document["track"]["width"] = json!(0.6 + 0.2 * x.abs()),
    }
}

#[test]
fn previews_equal_the_built_routes_during_200_random_edits() {
    let mut config = ProptestConfig::with_cases(4);
    config.failure_persistence = None;
    let edits = proptest::collection::vec((0u8..8, 0usize..60, -1.0..1.0, -1.0..1.0), 200);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let compared = std::cell::Cell::new(0);
    let outcome = runner.run(&edits, |edits| {
        let mut document = ring();
        document["field"]["size"] = json!([20, 20]);
        document["track"]["nodes"] = circle(10.0, 10.0, 4.0, 10);
        for change in edits {
            edit(&mut document, change);
            let project = read(&document);
            let preview = preview(&project, None);
            let Some(route) = built(&project) else {
                prop_assert!(preview.findings.iter().any(|f| f.severity == Severity::Error));
                continue;
            };
            compared.set(compared.get() + 1);
            let drawn = drawn(&preview);
            prop_assert!(same(&drawn, &route.centre), "the centre lines differ");
            let road = preview.road.as_ref().expect("a road");
            let borders = route.borders.expect("borders");
            for edge in [&road.left, &road.right] {
                let edge: Vec<DVec2> = edge[road.line.start..]
                    .iter()
                    .copied()
                    .chain(road.line.closed.then(|| edge[0]))
                    .collect();
                prop_assert!(
                    same(&edge, &borders.inner) || same(&edge, &borders.outer),
                    "an edge is no border"
                );
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(compared.get() > 20, "only {} edits gave a world", compared.get());
}

#[test]
fn nodes_are_at_their_distances_along_the_line() {
    let (projects, _) = shipped_projects();
    let mut all: Vec<Project> =
        projects.iter().map(|(_, bytes)| Project::read(bytes).expect("a project")).collect();
    for (closed, direction, start) in
        [(true, "backward", 3.0), (false, "forward", 1.0), (false, "backward", 2.0)]
    {
        let mut document = ring();
        document["track"]["closed"] = json!(closed);
        document["track"]["direction"] = json!(direction);
        document["track"]["start"] = json!(start);
        all.push(read(&document));
    }
    for project in &all {
        let preview = preview(project, None);
        let line = &preview.road.as_ref().expect("a road").line;
        assert_eq!(line.nodes.len(), project.track.nodes.len());
        for (node, along) in project.track.nodes.iter().zip(&line.nodes) {
            let nearest = |s: &chicane_builder::track_line::TrackSample| {
                let gap = (s.along - along).abs();
                if line.closed { gap.min(line.length - gap) } else { gap }
            };
            let sample = line.samples.iter().min_by(|a, b| nearest(a).total_cmp(&nearest(b)));
            let gap = sample.expect("a sample").at.distance(DVec2::new(node.x, node.y));
            assert!(gap < 0.03, "{}: a node is {gap} m from the line at {along} m", project.name);
        }
    }
}

#[test]
fn the_tightest_bend_overlaps_and_the_start_are_found() {
    let ring = preview(&read(&ring()), None);
    let road = ring.road.expect("a road");
    let (_, radius) = road.tightest.expect("a bend");
    assert!((radius - 2.5).abs() < 0.15, "{radius}");
    assert!((road.start - DVec2::new(6.5, 4.0)).length() < 1e-9);
    assert!((road.start_yaw - std::f64::consts::FRAC_PI_2).abs() < 0.01, "counter-clockwise");
    assert_eq!(road.overlaps, []);

    let straight = json!({
        "version": 1, "name": "straight", "field": { "size": [8, 8] },
        "track": { "closed": false, "nodes": [{ "x": 1, "y": 4 }, { "x": 7, "y": 4 }] },
    });
    assert_eq!(preview(&read(&straight), None).road.expect("a road").tightest, None);

    let eight = json!({
        "version": 1, "name": "eight", "field": { "size": [8, 8] },
        "track": { "width": 0.4, "nodes": [
            { "x": 2, "y": 2 }, { "x": 6, "y": 6 }, { "x": 6, "y": 2 }, { "x": 2, "y": 6 },
        ] },
    });
    let overlaps = preview(&read(&eight), None).road.expect("a road").overlaps;
    assert!(!overlaps.is_empty());
    assert!(overlaps.iter().all(|p| p.distance(DVec2::splat(4.0)) < 1.5), "{overlaps:?}");
}

#[test]
fn outlines_cover_the_objects() {
    let mut document = ring();
    document["objects"] = json!([
        { "kind": "box", "name": "a", "x": 4, "y": 4, "yaw": 0.5, "size": [0.4, 0.2, 0.3] },
        { "kind": "cylinder", "name": "b", "x": 3, "y": 4, "radius": 0.1, "height": 0.5 },
    ]);
    let objects = preview(&read(&document), None).objects;
    let area = |points: &[DVec2]| {
        let pairs = points.iter().zip(points.iter().cycle().skip(1));
        0.5 * pairs.map(|(a, b)| a.perp_dot(*b)).sum::<f64>()
    };
    assert!((area(&objects[0].footprint) - 0.08).abs() < 1e-9, "counter-clockwise");
    let disc = std::f64::consts::PI * 0.01;
    assert!((area(&objects[1].footprint) - disc).abs() < 0.03 * disc);
    assert_eq!([objects[0].height, objects[1].height], [0.3, 0.5]);
    assert_eq!((objects[0].kind, objects[1].name.as_str()), ("box", "b"));
}

#[test]
fn every_finding_about_a_place_has_a_position() {
    let mut document = ring();
    document["track"]["nodes"][0]["x"] = json!(9);
    document["objects"] = json!([{ "kind": "box", "name": "a b", "x": 20, "y": 4 }]);
    document["decals"] = json!([{ "picture": "no.png", "x": 7.9, "y": 4, "width": 1, "height": 1 }]);
    document["evaluation"] = json!({ "config": {} });
    let files = MemoryBundle::default();
    let found = preview(&read(&document), Some(&files)).findings;
    let position = |id: &str| found.iter().find(|f| f.rule.id() == id).unwrap_or_else(|| panic!("{id}")).at;
    assert_eq!(position("name-characters"), Some(DVec2::new(20.0, 4.0)));
    assert_eq!(position("decal-outside"), Some(DVec2::new(7.9, 4.0)));
    assert_eq!(position("picture-missing"), Some(DVec2::new(7.9, 4.0)));
    assert_eq!(position("evaluation-incomplete"), None);
    assert!(position("road-outside").is_some_and(|at| at.x > 7.5));
}
