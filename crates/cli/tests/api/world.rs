//! `GET /world`, `/route` and `/bounds`.

use crate::support::{number, open_route, plain, pretty, setup, shortened, start_paused};
use serde_json::{Value, json};

fn short(route: &Value) -> Value {
    let mut route = route.clone();
    for line in ["waypoints", "inner", "outer"] {
        if let Some(points) = route.get_mut(line) {
            *points = shortened(points);
        }
    }
    route
}

#[test]
fn the_definition_of_a_world() {
    let (_simulator, mut api) = start_paused();
    let mut world = api.get("/world");
    world["track"]["route"] = short(&world["track"]["route"]);
    insta::assert_snapshot!(pretty(&world));
}

#[test]
fn the_catalogue_is_in_the_order_of_the_file() {
    let (_simulator, mut api) = start_paused();
    let text = api.0.get("/sim/api/world").text();
    let names = ["wall_0", "wall_1", "wall_2", "wall_3", "signal1", "box1"];
    let places: Vec<_> = names.iter().map(|n| text.find(&format!("\"{n}\":")).expect("listed")).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_route_is_a_loop_with_borders_row_by_row() {
    let (_simulator, mut api) = start_paused();
    let route = api.get("/route");
    insta::assert_snapshot!(pretty(&short(&route)));
    let lines = ["waypoints", "inner", "outer"].map(|l| route[l].as_array().expect("a line").clone());
    for line in &lines {
        assert_eq!(line.len(), lines[0].len());
        assert_eq!(line.first(), line.last());
    }
    for (i, centre) in lines[0].iter().enumerate() {
        let apart = |other: &Value| {
            let d = [0, 1].map(|k| number(&other[k]) - number(&centre[k]));
            (d[0] * d[0] + d[1] * d[1]).sqrt()
        };
        assert!((apart(&lines[1][i]) - 0.35).abs() < 0.02, "row {i}");
        assert!((apart(&lines[2][i]) - 0.35).abs() < 0.02, "row {i}");
    }
    let world = api.get("/world");
    for line in ["waypoints", "inner", "outer"] {
        assert_eq!(world["track"]["route"][line], route[line]);
    }
}

#[test]
fn the_bounds_of_the_ground() {
    let (_simulator, mut api) = start_paused();
    let bounds = api.get("/bounds");
    assert_eq!(bounds, json!({"minX": 0.0, "maxX": 8.0, "minY": 0.0, "maxY": 6.0}));
    assert_eq!(api.get("/world")["track"]["bounds"], bounds);
}

#[test]
fn a_world_without_road_and_ground_has_no_route_and_no_bounds() {
    let (_simulator, mut api) = setup().with_world("plain", plain("plain")).world("plain").start_paused();
    assert_eq!(api.get_refused("/route"), (404, "route not available".to_owned()));
    assert_eq!(api.get_refused("/bounds"), (404, "bounds not available".to_owned()));
    insta::assert_snapshot!(pretty(&api.get("/world")));
    // Without a route, the car starts at the origin.
    let pose = api.get("/pose");
    assert_eq!((number(&pose["x"]), number(&pose["y"]), number(&pose["yaw"])), (0.0, 0.0, 0.0));
}

#[test]
fn a_road_that_is_not_a_loop_is_closed_in_the_response() {
    let (_simulator, mut api) = setup().with_world("open", open_route("open")).world("open").start_paused();
    let route = api.get("/route");
    let points = route["waypoints"].as_array().expect("a line");
    assert_eq!(points.first(), points.last());
    assert_eq!(points.len(), 21);
    assert!(route.get("inner").is_none() && route.get("outer").is_none(), "{route}");
    assert_eq!(route["world"], "open");
}
