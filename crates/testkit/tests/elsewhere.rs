//! Tests many generated worlds that are like those of other people: each world loads, has a free
//! start, and can be seen and driven.
#![allow(clippy::panic)]

use chicane_render::{Camera, CarMoment, Moment, Optics, Renderer, Stage};
use chicane_sim::{Drive, Sim};
use chicane_testkit::elsewhere::{self, AtOrigin, Floor};
use chicane_world::world::ObjectType;
use chicane_world::{Assets, Profile, World};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Number of generated worlds.
const WORLDS: u64 = 300;
/// Distance that the car drives, m.
const DRIVE_M: f64 = 1.0;
/// Distance that a car may settle while it stands, m.
const SETTLE_M: f64 = 0.02;

fn load(seed: u64) -> (World, elsewhere::Habits) {
    let (bundle, habits) = elsewhere::world(seed);
    let world = World::load(&Assets::of(&bundle)).unwrap_or_else(|e| panic!("world {seed} {habits:?}: {e}"));
    (world, habits)
}

/// Lets the car stand for a second, and then drives straight ahead.
fn drive(seed: u64, world: &Arc<World>, habits: &elsewhere::Habits) {
    let mut sim = Sim::new(Arc::clone(world), Arc::new(Profile::gen1()), 0);
    for _ in 0..200 {
        sim.step(Drive::default());
    }
    let start = sim.vehicle().pose;
    let settled = start.position.distance(world.spawn.position);
    assert!(settled < SETTLE_M, "world {seed} {habits:?}: the car moved by {settled} m at {:?}", world.spawn);
    let gone = |sim: &Sim| sim.vehicle().pose.position.truncate().distance(start.position.truncate());
    while gone(&sim) < DRIVE_M {
        sim.step(Drive { speed: 0.5, ..Drive::default() });
        let (done, z) = (gone(&sim), sim.vehicle().pose.position.z);
        assert!(sim.tick() < 200 * 8, "world {seed} {habits:?}: stuck after {done} m from {:?}", world.spawn);
        assert!((z - start.position.z).abs() < 0.1, "world {seed} {habits:?}: the car fell to {z} m");
    }
}

/// Draws what the car sees from its start. The picture must show more than the sky.
fn look(seed: u64, world: &World, habits: &elsewhere::Habits) {
    let profile = Arc::new(Profile::gen1());
    let moment = Moment {
        car: CarMoment { pose: world.spawn, ..CarMoment::default() },
        objects: world.objects.iter().map(|object| object.origin).collect(),
        lamps: Vec::new(),
    };
    let optics = Optics::on_board(&profile, 64, 48);
    let camera = Camera { pose: moment.car.camera(&profile), optics };
    let mut renderer = Renderer::new(Arc::new(Stage::new(world, profile)));
    let layers = renderer.layers(&camera, &moment);
    let surface = layers.labels.iter().filter(|label| **label != 0).count();
    let colours: BTreeSet<[u8; 4]> = layers.colour.pixels.iter().copied().collect();
    assert!(surface > 64, "world {seed} {habits:?}: the camera sees only {surface} pixels of surfaces");
    assert!(colours.len() > 2, "world {seed} {habits:?}: the picture has {} colours", colours.len());
}

#[test]
fn every_generated_world_loads_and_can_be_seen_and_driven() {
    let (mut floors, mut origins) = (BTreeSet::new(), BTreeSet::new());
    for seed in 1..=WORLDS {
        let (world, habits) = load(seed);
        floors.insert(format!("{:?}", habits.floor));
        origins.insert(format!("{:?}", habits.at_origin));
        let loose = world.objects.iter().filter(|o| o.object_type == ObjectType::Object && !o.is_static);
        assert_eq!(loose.count() as u64, habits.loose, "world {seed} {habits:?}");
        look(seed, &world, &habits);
        drive(seed, &Arc::new(world), &habits);
    }
    assert_eq!((floors.len(), origins.len()), (5, 5), "all habits occur: {floors:?} {origins:?}");
}

#[test]
fn a_start_at_the_origin_is_kept_and_another_one_is_reported() {
    for seed in 1..=40 {
        let (world, habits) = load(seed);
        let moved = world.warnings.iter().any(|w| w.message.contains("the car starts at"));
        let at_origin = world.spawn.position.truncate().length() < 1e-9;
        assert!(at_origin || moved, "world {seed} {habits:?}: {:?}", world.spawn);
        if matches!(habits.at_origin, AtOrigin::House | AtOrigin::Block | AtOrigin::Crate) {
            assert!(!at_origin && moved, "world {seed} {habits:?}: the car starts in a solid body");
        }
        if habits.at_origin == AtOrigin::Nothing && habits.floor == Floor::GroundPlane {
            assert!(at_origin && !moved, "world {seed} {habits:?}: {:?}", world.warnings);
        }
    }
}

#[test]
fn loading_the_same_world_twice_gives_the_same_start() {
    for seed in 1..=20 {
        let (first, second) = (load(seed).0, load(seed).0);
        assert_eq!(format!("{:?}", first.spawn), format!("{:?}", second.spawn), "world {seed}");
    }
}
