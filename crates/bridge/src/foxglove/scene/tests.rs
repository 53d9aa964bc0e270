//! Tests that the messages match their schema, show every object once, and show the car at its
//! pose.

use super::*;
use crate::foxglove::scene_schema;
use chicane_sim::Sim;
use chicane_testkit::shipped_world;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

fn town() -> (Arc<World>, Snapshot, Arc<Profile>) {
    let (world, profile) = (Arc::new(shipped_world("town")), Arc::new(Profile::gen1()));
    let snapshot = Sim::new(Arc::clone(&world), Arc::clone(&profile), 0).snapshot();
    (world, snapshot, profile)
}

/// Compares the fields of a value with a schema, recursively.
fn assert_matches(value: &Value, schema: &Value, place: &str) {
    match value {
        Value::Object(fields) => {
            let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{place}: {schema}"));
            let names = |map: &Map<String, Value>| map.keys().cloned().collect::<BTreeSet<_>>();
            assert_eq!(names(fields), names(properties), "{place}");
            fields.iter().for_each(|(name, field)| {
                assert_matches(field, &properties[name], &format!("{place}.{name}"));
            });
        }
        Value::Array(items) => {
            items.iter().for_each(|item| assert_matches(item, &schema["items"], place));
            assert_eq!(schema["type"], "array", "{place}");
        }
        Value::String(_) => assert_eq!(schema["type"], "string", "{place}"),
        Value::Bool(_) => assert_eq!(schema["type"], "boolean", "{place}"),
        _ => assert!(["number", "integer"].map(Value::from).contains(&schema["type"]), "{place}"),
    }
}

#[test]
fn messages_match_their_schema() {
    let (world, snapshot, profile) = town();
    for update in [fixed(&world, 1.5), moving(&world, &snapshot, &profile)] {
        assert!(!update.entities.is_empty());
        let json = serde_json::to_value(&update).expect("JSON");
        assert_matches(&json, &scene_schema::schema(), "update");
    }
}

#[test]
fn every_object_is_shown_once() {
    let (world, snapshot, profile) = town();
    let updates = [fixed(&world, 0.0), moving(&world, &snapshot, &profile)];
    let ids: Vec<&str> = updates.iter().flat_map(|u| &u.entities).map(|e| e.id.as_str()).collect();
    for object in &world.objects {
        let id = format!("object/{}", object.name);
        assert_eq!(ids.iter().filter(|own| **own == id).count(), 1, "{id}");
    }
    assert!(ids.contains(&"car") && ids.contains(&"road"));
    assert_eq!(updates[0].entities.iter().find(|e| e.id == "road").map(|e| e.lines.len()), Some(3));
}

#[test]
fn the_car_is_at_its_pose() {
    let (_, snapshot, profile) = town();
    let car = car(&snapshot.vehicle, &profile, Time::default());
    assert_eq!((car.cubes.len(), car.cylinders.len()), (1, 4));
    let middle = vehicle_point(&car);
    let at = snapshot.vehicle.pose.position;
    assert!((middle.x - at.x).abs() < 1e-9 && (middle.y - at.y).abs() < 1e-9, "{middle:?} {at}");
}

/// The point midway between the wheels.
fn vehicle_point(car: &Entity) -> Vector {
    let sum = |of: fn(&Vector) -> f64| car.cylinders.iter().map(|c| of(&c.pose.position)).sum::<f64>() / 4.0;
    Vector { x: sum(|v| v.x), y: sum(|v| v.y), z: sum(|v| v.z) }
}

#[test]
fn every_shape_is_shown() {
    let mut entity = Entity::new("shapes", timestamp(2.25));
    let half = DVec3::new(0.1, 0.2, 0.3);
    let [radius, half_length] = [0.5, 1.0];
    for shape in [
        Shape::Box(half),
        Shape::Sphere { radius },
        Shape::Cylinder { radius, half_length },
        Shape::Cone { radius, half_length },
        Shape::Capsule { radius, half_length },
    ] {
        let solid = Solid { pose: Pose::IDENTITY, shape, friction: 0.5, restitution: 0.0 };
        entity.solid(&Pose::from_xyz_yaw(1.0, 0.0, 0.0, 0.0), &solid, GREY);
    }
    assert_eq!(entity.cubes[0].size, Vector { x: 0.2, y: 0.4, z: 0.6 });
    assert_eq!((entity.spheres.len(), entity.cylinders.len()), (3, 3));
    assert_eq!(entity.cylinders[1].top_scale, 0.0, "a cone has a tip");
    assert_eq!(entity.spheres[1].pose.position, Vector { x: 1.0, y: 0.0, z: 1.0 });
    assert_eq!((entity.timestamp.sec, entity.timestamp.nsec), (2, 250_000_000));
}
