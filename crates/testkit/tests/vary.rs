//! Tests what a seed changes in the shipped worlds: the bounds are respected, the same seed gives
//! the same changes, seed 0 gives none, and additional objects stand where they are allowed to.

use chicane_sim::{Drive, Overlay, Sim};
use chicane_testkit::{Pilot, SHIPPED, shipped_world};
use chicane_vary::{Range, Surface, Vary};
use chicane_world::scene::{BuiltInTexture, Owner, TextureSource};
use chicane_world::world::{Object, ObjectType};
use chicane_world::{Profile, World};
use glam::{DVec2, DVec3};
use std::collections::BTreeSet;
use std::sync::Arc;

const SEEDS: u64 = 1_000;

/// A document that changes everything, within wide bounds.
const EVERYTHING: &str = r#"{
    "start": {"along": [-1, 2], "across": [-0.3, 0.3], "yaw": [-0.4, 0.4]},
    "objects": {"jitter": 0.3, "turn": 1, "scatter": [3, 12]},
    "lights": {"phase": [0, 5]},
    "brightness": [0.6, 1.4], "friction": [0.7, 1.2], "mass": [0.8, 1.5],
    "noise": {"lidar": [0.5, 3], "imu": [0.5, 4], "camera": [0, 2]},
    "latency": [0, 0.1], "surface": ["dry", "damp", "dusty", "wet"]
}"#;

fn everything() -> Vary {
    Vary::parse_json(EVERYTHING).expect("valid")
}

/// What the evaluation of a shipped world varies.
fn own(world: &World) -> Vary {
    world.evaluation.as_ref().expect("an evaluation").vary.clone()
}

/// Corners of an object's bounding box on the ground.
fn corners(object: &Object) -> [DVec2; 4] {
    let half = 0.5 * object.size;
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
        .map(|[x, y]| object.origin.point(object.centre + DVec3::new(x * half.x, y * half.y, 0.0)).truncate())
}

/// Whether two rectangles overlap. By the separating axis theorem, they overlap exactly if their
/// projections on the perpendicular of every side overlap.
fn overlap(a: &[DVec2; 4], b: &[DVec2; 4]) -> bool {
    let span = |points: &[DVec2; 4], axis: DVec2| {
        let along = points.map(|p| p.dot(axis));
        (along.into_iter().fold(f64::INFINITY, f64::min), along.into_iter().fold(f64::NEG_INFINITY, f64::max))
    };
    let sides = |p: &[DVec2; 4]| [(p[1] - p[0]).perp(), (p[2] - p[1]).perp()];
    sides(a).into_iter().chain(sides(b)).all(|axis| {
        let ((low_a, high_a), (low_b, high_b)) = (span(a, axis), span(b, axis));
        low_a < high_b && low_b < high_a
    })
}

/// Asserts that additional objects stand beside the road and inside the bounds. Neither additional
/// nor moved objects may overlap another object or the car at the start.
fn check_places(published: &World, overlay: &Overlay, world: &World, seed: u64) {
    let route = published.route.as_ref().expect("a route");
    let bounds = published.ground.bounds.expect("bounds");
    let added = &world.objects[published.objects.len()..];
    assert_eq!(added.len(), overlay.scattered.len());
    let names: BTreeSet<&str> = world.objects.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names.len(), world.objects.len(), "names are unique");
    for object in added {
        let at = format!("{} seed {seed}: {} at {}", world.name, object.name, object.origin.position);
        for corner in corners(object) {
            let on = route.project(corner);
            let half = route.half_width_at(on.distance_along).expect("borders");
            assert!(on.offset.abs() > half, "{at} is on the road");
            assert!(corner.cmpgt(bounds.min).all() && corner.cmplt(bounds.max).all(), "{at} is outside");
        }
        assert!(object.movable && !object.is_static && object.object_type == ObjectType::Object);
        assert!(object.origin.position.z == world.ground.z, "{at} does not stand on the ground");
    }
    let car = Object { size: DVec3::new(0.3, 0.2, 0.2), ..world.objects[0].clone() };
    let car = Object { origin: world.spawn, centre: DVec3::ZERO, ..car };
    let changed = |object: &Object| {
        overlay.moved.iter().any(|m| m.name == object.name)
            || !published.objects.iter().any(|o| o.name == object.name)
    };
    for (i, object) in world.objects.iter().enumerate().filter(|(_, object)| changed(object)) {
        let area = corners(object);
        assert!(
            !overlap(&area, &corners(&car)),
            "{} seed {seed}: {} is at the start",
            world.name,
            object.name
        );
        for (_, other) in world.objects.iter().enumerate().filter(|(j, _)| *j != i) {
            let apart = !overlap(&area, &corners(other));
            assert!(apart, "{} seed {seed}: {} and {} overlap", world.name, object.name, other.name);
        }
    }
}

#[test]
fn seed_0_and_an_empty_document_change_nothing() {
    for name in SHIPPED {
        let world = shipped_world(name);
        for vary in [own(&world), everything()] {
            assert!(Overlay::draw(&world, &vary, 0).is_none(), "{name}");
        }
        assert!(Overlay::draw(&world, &Vary::default(), 1).is_none(), "{name}");
        let none = Overlay::default();
        assert!(none.world(&world) == world && none.profile(&Profile::gen1()) == Profile::gen1());
    }
}

#[test]
fn the_same_seed_gives_the_same_changes_and_every_seed_others() {
    for name in SHIPPED {
        let world = shipped_world(name);
        for vary in [own(&world), everything()] {
            assert!(!vary.is_empty(), "{name} varies nothing");
            let drawn: BTreeSet<Vec<u8>> = (1..=300)
                .map(|seed| {
                    let overlay = Overlay::draw(&world, &vary, seed);
                    assert_eq!(overlay, Overlay::draw(&world, &vary, seed));
                    overlay.bytes()
                })
                .collect();
            assert_eq!(drawn.len(), 300, "{name}: two seeds give the same changes");
        }
    }
}

#[test]
fn additional_and_moved_objects_stand_where_they_may_for_1000_seeds() {
    for name in SHIPPED {
        let published = shipped_world(name);
        for vary in [own(&published), everything()] {
            let mut fewest = usize::MAX;
            for seed in 1..=SEEDS {
                let overlay = Overlay::draw(&published, &vary, seed);
                let world = overlay.world(&published);
                check_places(&published, &overlay, &world, seed);
                fewest = fewest.min(overlay.scattered.len());
            }
            let least = vary.objects.scatter.map_or(0, |count| count.least as usize);
            assert!(fewest >= least, "{name}: a seed has only {fewest} objects instead of {least}");
        }
    }
}

#[test]
fn every_number_is_within_its_bounds() {
    let vary = everything();
    let within = |value: Option<f64>, range: Option<Range>, what: &str| {
        let (value, Range { least, most }) = (value.expect(what), range.expect(what));
        assert!((least..=most).contains(&value), "{what}: {value}");
        (value - least) / (most - least)
    };
    for name in SHIPPED {
        let world = shipped_world(name);
        let mut means = [0.0; 5];
        for seed in 1..=SEEDS {
            let overlay = Overlay::draw(&world, &vary, seed);
            let units = [
                within(overlay.brightness, vary.brightness, "brightness"),
                within(overlay.mass, vary.mass, "mass"),
                within(overlay.lidar_noise, vary.noise.lidar, "lidar"),
                within(overlay.imu_noise, vary.noise.imu, "imu"),
                within(overlay.camera_noise, vary.noise.camera, "camera"),
            ];
            means.iter_mut().zip(units).for_each(|(mean, unit)| *mean += unit / SEEDS as f64);
            check_bounds(&world, &vary, &overlay);
        }
        assert!(means.iter().all(|mean| (0.45..0.55).contains(mean)), "{name}: {means:?}");
    }
}

fn check_bounds(world: &World, vary: &Vary, overlay: &Overlay) {
    let grips = Surface::ALL.map(Surface::grip);
    let friction = overlay.friction.expect("friction");
    assert!(friction >= 0.7 * grips.into_iter().fold(1.0, f64::min) && friction <= 1.2, "{friction}");
    assert!(overlay.latency_ticks <= 20 && overlay.scattered.len() <= 12);
    assert!(overlay.red_lights.iter().all(|light| (1..=1000).contains(&light.ticks)));
    if let Some(start) = overlay.start {
        assert!((-1.0..=2.0).contains(&start.along) && start.across.abs() <= 0.3 && start.yaw.abs() <= 0.4);
        let route = world.route.as_ref().expect("a route");
        let at = overlay.world(world).spawn.position.truncate();
        let on = route.project(at);
        let half = route.half_width_at(on.distance_along).expect("borders");
        assert!(on.offset.abs() <= half, "the car starts beside the road of {}: {on:?}", world.name);
    }
    for moved in &overlay.moved {
        let object = &world.objects[world.object(&moved.name).expect("an object")];
        let distance = object.origin.position.truncate().distance(DVec2::from_array(moved.to));
        assert!(distance <= vary.objects.jitter + 1e-6 && moved.turn.abs() <= vary.objects.turn + 1e-6);
        assert!(!object.is_static, "{} can't be pushed", object.name);
    }
}

#[test]
fn a_start_and_moved_objects_are_found_for_most_seeds() {
    for name in SHIPPED {
        let world = shipped_world(name);
        let overlays: Vec<Overlay> =
            (1..=200).map(|seed| Overlay::draw(&world, &own(&world), seed)).collect();
        let starts = overlays.iter().filter(|overlay| overlay.start.is_some()).count();
        assert!(starts > 190, "{name}: {starts} of 200");
        let pushable = world.objects.iter().filter(|o| o.object_type == ObjectType::Object && !o.is_static);
        let (pushable, moved) = (pushable.count(), overlays.iter().map(|o| o.moved.len()).sum::<usize>());
        assert!(moved * 10 > pushable * 200 * 8, "{name}: {moved} of {}", pushable * 200);
    }
}

#[test]
fn additional_objects_have_a_look_and_the_road_a_colour() {
    let published = shipped_world("oval");
    let overlay = (1..100)
        .map(|seed| Overlay::draw(&published, &everything(), seed))
        .find(|overlay| overlay.friction < Some(0.7) && overlay.scattered.len() > 8)
        .expect("a slippery road with many objects");
    let world = overlay.world(&published);
    for i in published.objects.len()..world.objects.len() {
        assert!(world.scene.instances.iter().any(|instance| instance.owner == Owner::Object(i)), "{i}");
    }
    let road = |world: &World| {
        let is_road =
            |i: usize| matches!(world.scene.textures[i].source, TextureSource::BuiltIn(BuiltInTexture::Road));
        let material = world.scene.materials.iter().find(|m| m.texture.is_some_and(is_road));
        material.expect("a road").colour
    };
    assert!(road(&world)[2] < road(&published)[2], "{:?}", road(&world));
    let materials = world.scene.materials.len();
    assert!(world.scene.instances.iter().all(|i| i.material.is_none_or(|m| m < materials)));
}

/// Drives a lap with a pilot that knows the route.
fn lap(name: &str, seed: u64) {
    let published = shipped_world(name);
    let overlay = Overlay::draw(&published, &own(&published), seed);
    let (world, profile) = (Arc::new(overlay.world(&published)), Profile::gen1());
    let route = world.route.clone().expect("a route");
    let mut pilot = Pilot::new(&route, &profile, 1.0);
    let mut sim = Sim::varied(Arc::clone(&world), Arc::new(overlay.profile(&profile)), seed, &overlay);
    while pilot.laps() < 1.0 {
        let steering = pilot.steer(&sim.vehicle().pose);
        sim.step(Drive { speed: 1.0, steering, ..Drive::default() });
        assert!(sim.tick() < 200 * 120, "{name} seed {seed}: no lap in two minutes");
    }
    let touched = sim.snapshot().last_contact.iter().position(Option::is_some);
    assert_eq!(touched.map(|i| &world.objects[i].name), None, "{name} seed {seed}: the car hit an object");
}

#[test]
fn a_car_can_drive_a_lap_with_any_seed() {
    for name in SHIPPED {
        (1..=6).for_each(|seed| lap(name, seed));
    }
}
