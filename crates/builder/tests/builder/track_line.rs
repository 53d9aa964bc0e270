//! Tests of the centre line and of the route.

use crate::support::{circle, read, ring};
use chicane_builder::TrackLine;
use glam::DVec2;
use serde_json::{Value, json};
use std::f64::consts::TAU;

fn line(value: &Value) -> TrackLine {
    TrackLine::of(&read(value).track)
}

#[test]
fn a_ring_is_round_and_evenly_sampled() {
    let line = line(&ring());
    assert!((line.length - TAU * 2.5).abs() < 0.02, "{}", line.length);
    for (a, b) in line.steps() {
        assert!((a.at.distance(b.at) - 0.05).abs() < 5e-4);
        assert!((a.at.distance(DVec2::splat(4.0)) - 2.5).abs() < 0.01);
        assert!((a.curvature - 0.4).abs() < 0.02, "{}", a.curvature);
        assert!((a.left.length() - 1.0).abs() < 1e-9 && a.left.dot(b.at - a.at).abs() < 1e-3);
    }
    let route = line.route();
    assert!(route.is_closed() && route.centre.len() == line.samples.len() + 1);
    let borders = route.borders.expect("borders");
    for (i, o) in borders.inner.iter().zip(&borders.outer) {
        assert!((i.distance(DVec2::splat(4.0)) - 2.2).abs() < 0.01);
        assert!((o.distance(DVec2::splat(4.0)) - 2.8).abs() < 0.01);
    }
}

#[test]
fn the_route_begins_at_the_start_line_in_the_direction_of_travel() {
    let mut value = ring();
    assert!(line(&value).route().centre[0].distance(DVec2::new(6.5, 4.0)) < 1e-9);
    value["track"]["start"] = json!(TAU * 2.5 / 4.0);
    let route = line(&value).route();
    assert!(route.centre[0].distance(DVec2::new(4.0, 6.5)) < 0.02, "{}", route.centre[0]);
    assert!(route.centre[1].x < route.centre[0].x);
    value["track"]["direction"] = json!("backward");
    let route = line(&value).route();
    assert!(route.centre[0].distance(DVec2::new(4.0, 1.5)) < 0.02, "{}", route.centre[0]);
    assert!(route.centre[1].x < route.centre[0].x);
    // The inner border does not depend on the direction of travel.
    let inner = route.borders.expect("borders").inner[0];
    assert!((inner.distance(DVec2::splat(4.0)) - 2.2).abs() < 0.01);
}

#[test]
fn the_line_goes_through_every_node_with_its_width() {
    let mut value = ring();
    for (i, width) in [(2, 0.4), (7, 1.1)] {
        value["track"]["nodes"][i]["width"] = json!(width);
    }
    let (project, line) = (read(&value), line(&value));
    for (i, node) in project.track.nodes.iter().enumerate() {
        let at = DVec2::new(node.x, node.y);
        let near = line.samples.iter().min_by(|a, b| a.at.distance(at).total_cmp(&b.at.distance(at)));
        let near = near.expect("samples");
        assert!(near.at.distance(at) < 0.026, "{i}");
        assert_eq!(near.node, i);
        assert!((near.width - node.width.unwrap_or(0.6)).abs() < 0.01, "{i}: {}", near.width);
    }
    assert!(line.samples.iter().all(|s| (0.4..=1.1).contains(&s.width)));
}

#[test]
fn an_open_line_begins_and_ends_at_its_nodes() {
    let mut value = ring();
    value["track"] = json!({
        "closed": false, "start": 0.33,
        "nodes": [{ "x": 1, "y": 1 }, { "x": 3, "y": 1 }, { "x": 5, "y": 1 }],
    });
    let forward = line(&value);
    assert!((forward.length - 4.0).abs() < 1e-9);
    assert_eq!(forward.samples.first().expect("one").at, DVec2::new(1.0, 1.0));
    assert!(forward.samples.last().expect("one").at.distance(DVec2::new(5.0, 1.0)) < 1e-9);
    let route = forward.route();
    assert!(!route.is_closed() && route.centre[0].distance(DVec2::new(1.33, 1.0)) < 1e-9);
    value["track"]["direction"] = json!("backward");
    assert!(line(&value).route().centre[0].distance(DVec2::new(4.67, 1.0)) < 1e-9);
}

#[test]
fn degenerate_nodes_give_finite_lines() {
    let same = json!([{ "x": 1, "y": 1 }, { "x": 1, "y": 1 }, { "x": 1, "y": 1 }]);
    let back = json!([{ "x": 1, "y": 1 }, { "x": 2, "y": 1 }, { "x": 1, "y": 1 }, { "x": 2, "y": 1 }]);
    let far: Value =
        (0..500).map(|i| json!({ "x": if i % 2 == 0 { -200 } else { 200 }, "y": i % 3 })).collect();
    for nodes in [same, back, far, circle(1.0, 1.0, 1e-7, 8)] {
        for closed in [true, false] {
            let mut value = ring();
            value["track"]["nodes"] = nodes.clone();
            value["track"]["closed"] = json!(closed);
            let line = line(&value);
            assert!(line.samples.len() <= 20_100);
            assert!(
                line.samples
                    .iter()
                    .all(|s| s.at.is_finite() && s.left.is_finite() && s.curvature.is_finite())
            );
            let _ = chicane_builder::check(&read(&value));
        }
    }
}
