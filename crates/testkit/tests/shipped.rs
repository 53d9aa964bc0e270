//! Tests that the shipped worlds have the properties that the documentation promises.

use chicane_sim::{Drive, Sim};
use chicane_store::Library;
use chicane_testkit::{Pilot, SHIPPED, shipped_bundle, shipped_world};
use chicane_world::world::{Object, ObjectKind, ObjectType};
use chicane_world::{Assets, Profile, World};
use glam::{DVec2, DVec3};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Radius of the circle around the bounding box of an object, seen from above, m.
fn reach(object: &Object) -> f64 {
    0.5 * DVec2::new(object.size.x, object.size.y).length()
}

/// All objects except walls.
fn things(world: &World) -> impl Iterator<Item = &Object> {
    world.objects.iter().filter(|o| o.object_type != ObjectType::Wall)
}

#[test]
fn the_library_contains_exactly_the_shipped_worlds_and_they_are_official() {
    let entries = Library::built_in().entries();
    assert_eq!(entries.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), SHIPPED);
    assert!(entries.iter().all(|e| e.official && !e.deletable && e.world_id.is_none()));
}

#[test]
fn each_world_loads_without_warnings_and_is_complete() {
    for name in SHIPPED {
        let world = shipped_world(name);
        assert_eq!(world.warnings, [], "{name}");
        assert_eq!(world.name, name);
        let bounds = world.ground.bounds.expect("bounds");
        assert_eq!(bounds.min, DVec2::ZERO, "{name} begins at (0, 0)");
        let walls: Vec<&str> =
            world.objects.iter().filter(|o| o.kind == ObjectKind::Wall).map(|o| o.name.as_str()).collect();
        assert_eq!(walls, ["wall_0", "wall_1", "wall_2", "wall_3"], "{name} is fenced");
        let route = world.route.as_ref().expect("a route");
        assert!(route.is_closed() && route.borders.is_some(), "{name}");
        let evaluation = world.evaluation.as_ref().expect("an evaluation");
        assert_eq!((evaluation.version, evaluation.robot.as_str()), (1, "gen1"), "{name}");
        assert!(evaluation.script.contains("def evaluate(sim)"), "{name}");
        for (_, light) in world.lights() {
            let panel = light.panel.expect("a screen");
            let [width, height] = panel.size;
            assert!(width >= 0.18 - 1e-9 && (height - width * 16.0 / 9.0).abs() < 1e-9, "{panel:?}");
            assert!((panel.lamp_radius - 0.5 * 0.41 * height).abs() < 1e-9, "{panel:?}");
        }
        for object in things(&world) {
            assert!(object.origin.position.z == 0.0 && object.size.min_element() > 0.05, "{}", object.name);
        }
    }
}

#[test]
fn all_kinds_of_objects_occur() {
    let all: BTreeSet<ObjectKind> =
        SHIPPED.iter().flat_map(|n| shipped_world(n).objects).map(|o| o.kind).collect();
    assert_eq!(all.len(), 6, "{all:?}");
    let technical: BTreeSet<ObjectKind> = shipped_world("technical").objects.iter().map(|o| o.kind).collect();
    assert_eq!(technical, all, "the technical track has all kinds");
}

#[test]
fn the_oval_has_a_free_centre_and_a_free_straight_ahead_of_the_car() {
    let world = shipped_world("oval");
    let kinds = |k: ObjectKind| world.objects.iter().filter(|o| o.kind == k).collect::<Vec<_>>();
    assert_eq!(kinds(ObjectKind::Light).len(), 1);
    let boxes = kinds(ObjectKind::Box);
    assert!(boxes.len() == 1 && boxes[0].movable && !boxes[0].is_static);

    let route = world.route.as_ref().expect("a route");
    let area: f64 = route.centre.windows(2).map(|w| w[0].perp_dot(w[1])).sum();
    assert!(area > 0.0, "counter-clockwise");

    let bounds = world.ground.bounds.expect("bounds");
    let centre = 0.5 * (bounds.min + bounds.max);
    for object in &world.objects {
        let near = object.origin.inverse().point(centre.extend(0.1)) - object.centre;
        let gap = (near.abs() - 0.5 * object.size).max(DVec3::ZERO).truncate().length();
        assert!(gap > 1.5, "{} is within 1.5 m of the centre: {gap} m", object.name);
    }

    let spawn = world.spawn;
    for step in 0..=30 {
        let ahead = spawn.point(DVec3::new(0.05 * f64::from(step), 0.0, 0.0)).truncate();
        assert!(route.project(ahead).offset.abs() < 0.002, "straight ahead of the spawn pose");
        for object in things(&world) {
            let gap = ahead.distance(object.origin.position.truncate()) - reach(object);
            assert!(gap > 0.25, "{} is in the way of the car", object.name);
        }
    }
}

/// Drives a lap. Returns the largest distance of the car from the centre line, m.
fn lap(world: &Arc<World>, speed: f64) -> f64 {
    let (route, profile) = (world.route.clone().expect("a route"), Profile::gen1());
    let mut pilot = Pilot::new(&route, &profile, speed);
    let mut sim = Sim::new(Arc::clone(world), Arc::new(profile), 0);
    let mut worst = 0.0f64;
    while pilot.laps() < 1.0 {
        let car = sim.vehicle().pose;
        worst = worst.max(route.project(car.position.truncate()).offset.abs());
        sim.step(Drive { speed, steering: pilot.steer(&car), ..Drive::default() });
        assert!(sim.tick() < 200 * 120, "{}: no lap in two minutes", world.name);
    }
    assert!(sim.snapshot().last_contact.iter().all(Option::is_none), "{}: the car hit an object", world.name);
    worst
}

#[test]
fn a_car_can_drive_a_lap_on_the_road_of_each_world() {
    for name in SHIPPED {
        let world = Arc::new(shipped_world(name));
        let worst = lap(&world, 1.0);
        assert!(worst < 0.2, "{name}: {worst} m off the centre line");
    }
}

#[test]
fn a_world_without_its_mesh_loads_with_a_warning() {
    let mut bundle = shipped_bundle("oval");
    bundle.files.remove("meshes/oval/oval.dae");
    let world = World::load(&Assets::of(&bundle)).expect("it can be driven");
    assert!(world.warnings.iter().any(|w| w.message.contains("oval.dae")), "{:?}", world.warnings);
    assert_eq!(world.ground.bounds, None);
}
