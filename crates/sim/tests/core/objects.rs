//! Tests of objects: they rest, fall, stack, roll and can be pushed. Walls stop the car.

use crate::common::{drive, index, pose_of, run, ticks, touches, yard};
use chicane_testkit::Yard;
use chicane_world::Pose;
use chicane_world::world::{ObjectKind, Shape};
use glam::DVec3;
use std::f64::consts::{FRAC_PI_2, PI};

/// One object of each kind, a static box, and a wall.
fn one_of_each() -> Yard {
    let cone = Shape::Box(DVec3::new(0.0675, 0.0675, 0.115));
    Yard::new()
        .block("box1", [2.0, 0.0, 0.1], [0.2, 0.3, 0.2], 0.5)
        .post("cylinder1", [2.0, 1.0, 0.105], 0.047, 0.21, 0.3)
        .ball("sphere1", [2.0, 2.0, 0.11], 0.11, 0.2)
        .object("cone1", ObjectKind::Cone, Pose::from_xyz_yaw(2.0, 3.0, 0.115, 0.4), cone, Some(0.2))
        .light("signal1", 2.0, 4.0, 1.0)
        .fixed_block("statue", Pose::from_xyz_yaw(2.0, 5.0, 0.2, 0.3), [0.2, 0.2, 0.4])
        .wall("wall_0", [4.0, 0.0], FRAC_PI_2, 8.0, 0.03, 0.25)
}

#[test]
fn objects_stay_at_rest() {
    let mut sim = yard(one_of_each());
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let before = sim.snapshot().objects;
    run(&mut sim, 60.0, drive(0.0, 0.0));
    for (object, (a, b)) in sim.world().objects.iter().zip(before.iter().zip(&sim.snapshot().objects)) {
        let drift = (a.position - b.position).length();
        assert!(drift < 1e-4, "{} drifts {drift} m", object.name);
        assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-8, "{} turns", object.name);
        let fall = (object.origin.position - b.position).length();
        assert!(fall < 1e-3, "{} settles {fall} m from its origin", object.name);
    }
    assert_eq!(sim.awake(), 1, "all but the car sleep");
}

#[test]
fn an_object_in_the_air_falls() {
    let mut sim = yard(Yard::new().block("box1", [1.0, 1.0, 1.0], [0.2; 3], 0.5).ball(
        "ball1",
        [1.0, 2.0, 1.0],
        0.11,
        0.2,
    ));
    // Free fall over 0.9 m takes 0.428 s, so the box is still falling after 0.2 s.
    run(&mut sim, 0.2, drive(0.0, 0.0));
    let fallen = 1.0 - pose_of(&sim, "box1").position.z;
    assert!((fallen - 0.5 * 9.81 * 0.04).abs() < 0.01, "{fallen}");
    run(&mut sim, 3.0, drive(0.0, 0.0));
    assert!((pose_of(&sim, "box1").position.z - 0.1).abs() < 1e-3);
    assert!((pose_of(&sim, "ball1").position.z - 0.11).abs() < 1e-3);
}

#[test]
fn boxes_stack() {
    let mut tower = Yard::new();
    for i in 0..5 {
        tower = tower.block(&format!("box{i}"), [1.0, 0.0, 0.1 + 0.2 * f64::from(i)], [0.2; 3], 0.5);
    }
    let mut sim = yard(tower);
    run(&mut sim, 20.0, drive(0.0, 0.0));
    for i in 0..5 {
        let p = pose_of(&sim, &format!("box{i}")).position;
        assert!((p.z - (0.1 + 0.2 * f64::from(i))).abs() < 3e-3 && (p.x - 1.0).abs() < 3e-3, "box{i}: {p:?}");
    }
}

#[test]
fn an_object_that_loses_its_support_falls() {
    let mut sim =
        yard(Yard::new().fixed_block("table", Pose::from_xyz_yaw(1.0, 0.0, 0.2, 0.0), [0.4; 3]).block(
            "cup",
            [1.0, 0.0, 0.5],
            [0.2; 3],
            0.5,
        ));
    run(&mut sim, 3.0, drive(0.0, 0.0));
    assert_eq!(sim.awake(), 1, "the cup sleeps on the table");
    sim.apply(crate::common::place("table", 3.0, 0.0, chicane_sim::How::AtOnce)).expect("movable");
    run(&mut sim, 2.0, drive(0.0, 0.0));
    assert!((pose_of(&sim, "cup").position.z - 0.1).abs() < 1e-3, "{:?}", pose_of(&sim, "cup"));
}

#[test]
fn a_ball_rolls_and_comes_to_rest() {
    let mut sim = yard(Yard::new().ball("ball1", [0.5, 0.0, 0.11], 0.11, 0.2));
    run(&mut sim, 1.0, drive(1.0, 0.0));
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let rolling = pose_of(&sim, "ball1").position.x;
    assert!(rolling > 0.9, "{rolling}");
    run(&mut sim, 30.0, drive(0.0, 0.0));
    let rest = pose_of(&sim, "ball1").position.x;
    assert!(rest > rolling, "rolls on");
    assert_eq!(sim.awake(), 1, "and rests");
}

#[test]
fn a_box_hit_at_two_metres_a_second_is_pushed() {
    let mut sim = yard(Yard::new().block("box1", [1.5, 0.0, 0.1], [0.2; 3], 0.5));
    let mut met = false;
    for _ in 0..ticks(1.5) {
        sim.step(drive(2.0, 0.0));
        met |= touches(&sim, "box1");
    }
    let at = pose_of(&sim, "box1").position;
    assert!(met && at.x > 2.0, "{at:?}");
    assert!(at.is_finite() && sim.vehicle().pose.position.x < at.x);
    assert!(sim.snapshot().last_contact[index(&sim, "box1")].is_some());
}

#[test]
fn a_static_object_does_not_move() {
    let statue = Pose::from_xyz_yaw(1.0, 0.02, 0.2, 0.0);
    let mut sim = yard(Yard::new().fixed_block("statue", statue, [0.2, 0.2, 0.4]));
    run(&mut sim, 2.0, drive(3.0, 0.0));
    assert_eq!(pose_of(&sim, "statue"), statue);
    assert!(sim.vehicle().pose.position.x < 0.9 - 0.1, "{:?}", sim.vehicle().pose);
    assert!(touches(&sim, "statue"));
}

#[test]
fn walls_stop_the_car_at_maximum_speed_and_any_angle() {
    for degrees in (-80..=80).step_by(10) {
        for reverse in [false, true] {
            let angle = f64::from(degrees) * PI / 180.0;
            let mut sim = yard(Yard::new().wall("wall_0", [2.5, 0.0], FRAC_PI_2, 60.0, 0.03, 0.25));
            let yaw = if reverse { angle + PI } else { angle };
            crate::common::teleport(&mut sim, Some(0.0), Some(0.0), Some(yaw));
            let speed = if reverse { -3.0 } else { 3.0 };
            let mut hit = false;
            for _ in 0..ticks(8.0) {
                sim.step(drive(speed, 0.0));
                hit |= touches(&sim, "wall_0");
                let v = sim.vehicle();
                // No corner of the car's body may pass the centre plane of the wall.
                let corners = [(0.135, 0.045), (0.135, -0.045), (-0.135, 0.045), (-0.135, -0.045)];
                let deepest = corners
                    .iter()
                    .map(|&(x, y)| v.pose.point(DVec3::new(x, y, 0.08)).x)
                    .fold(f64::MIN, f64::max);
                assert!(deepest < 2.5, "{degrees}° reverse {reverse}: {deepest} at tick {}", sim.tick());
                assert!(v.velocity.length() < 4.0, "{degrees}°: thrown off at {}", v.velocity.length());
            }
            assert!(hit, "{degrees}°: the wall was met");
        }
    }
}

#[test]
fn nothing_tunnels_through_the_fence() {
    let mut sim =
        yard(Yard::new().spawn(2.5, 2.5, 0.0).fence(5.0, 5.0).ball("ball1", [3.2, 2.5, 0.11], 0.11, 0.05));
    for i in 0..ticks(60.0) {
        // The car drives at maximum speed with changing steering for a minute.
        let steering = 0.35 * libm::sin(i as f64 * 0.013) + 0.1 * libm::sin(i as f64 * 0.11);
        let speed = if (i / 300) % 4 == 3 { -3.0 } else { 3.0 };
        sim.step(drive(speed, steering));
        for p in [sim.vehicle().pose.position, pose_of(&sim, "ball1").position] {
            assert!(p.x > 0.0 && p.x < 5.0 && p.y > 0.0 && p.y < 5.0 && p.z < 1.0, "{p:?} at tick {i}");
        }
    }
}

#[test]
fn even_the_shortest_contact_is_recorded() {
    for restitution in [0.0, 0.6, 1.0] {
        for phase in 0..20 {
            let gap = 0.3 + 0.0007 * f64::from(phase);
            let yard = Yard::new().ball("ball1", [0.135 + 0.11 + gap, 0.0, 0.11], 0.11, 0.05);
            let mut world = (*yard.build()).clone();
            world.objects[0].solids[0].restitution = restitution;
            let mut sim = crate::common::sim(std::sync::Arc::new(world));
            let from = pose_of(&sim, "ball1").position;
            for _ in 0..ticks(1.0) {
                sim.step(drive(3.0, 0.0));
                if (pose_of(&sim, "ball1").position - from).length() > 0.02 {
                    break;
                }
            }
            let contact = sim.snapshot().last_contact[0];
            assert!(contact.is_some(), "restitution {restitution}, phase {phase}: pushed but no contact");
        }
    }
}

#[test]
fn a_near_wall_is_not_a_contact() {
    let side = 0.0975 + 0.001;
    let mut sim = yard(Yard::new().wall("wall_0", [0.0, side + 0.015], 0.0, 30.0, 0.03, 0.25));
    for _ in 0..ticks(2.0) {
        sim.step(drive(1.0, 0.0));
        assert!(!touches(&sim, "wall_0"), "a millimetre apart at tick {}", sim.tick());
    }
}

#[test]
fn a_car_parked_on_a_loose_plate_does_not_creep() {
    let mut sim = yard(Yard::new().block("plate", [2.0, 0.0, 0.01], [0.5, 0.5, 0.02], 2.0));
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let on = chicane_sim::Command::Place {
        who: chicane_sim::Who::Object("plate".into()),
        x: Some(0.0),
        y: None,
        z: None,
        yaw: None,
        how: chicane_sim::How::AtOnce,
    };
    // The plate is placed under the car, below the wheel mounts, so that the car then stands on it.
    sim.apply(on).expect("movable");
    run(&mut sim, 3.0, drive(0.0, 0.0));
    let parked = sim.vehicle().pose.position;
    assert!(parked.z > 0.015, "stands on it: {parked:?}");
    run(&mut sim, 60.0, drive(0.0, 0.0));
    let crept = (sim.vehicle().pose.position - parked).length();
    assert!(crept < 5e-4, "creeps {crept} m");
}
