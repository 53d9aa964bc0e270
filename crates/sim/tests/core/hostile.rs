//! Tests that no sequence of commands can make the simulation unstable.

use crate::common::{drive, place, pose_of, run, teleport, ticks, yard};
use chicane_sim::{Command, How, Sim, Who};
use chicane_testkit::Yard;
use chicane_world::Pose;
use proptest::prelude::*;

fn crowd() -> Yard {
    Yard::new()
        .spawn(2.5, 2.5, 0.0)
        .fence(5.0, 5.0)
        .block("box1", [1.0, 1.0, 0.1], [0.2; 3], 0.5)
        .post("post1", [1.5, 1.0, 0.105], 0.047, 0.21, 0.3)
        .ball("ball1", [2.0, 1.0, 0.11], 0.11, 0.2)
        .block("brick", [3.0, 1.0, 0.05], [0.2, 0.1, 0.1], 5.0)
        .light("signal1", 4.0, 4.0, 0.0)
        .fixed_block("statue", Pose::from_xyz_yaw(4.0, 1.0, 0.2, 0.3), [0.2, 0.2, 0.4])
}

/// Asserts that every pose is finite and within `limit` metres, and that the car's speed is below
/// `fastest` m/s.
fn sane(sim: &Sim, limit: f64, fastest: f64) {
    let s = sim.snapshot();
    for pose in s.objects.iter().chain([&s.vehicle.pose]) {
        assert!(pose.is_finite(), "{pose:?}");
        assert!(pose.position.abs().max_element() < limit, "{pose:?} at tick {}", s.tick);
    }
    assert!(s.vehicle.carried || s.vehicle.velocity.length() < fastest, "{:?}", s.vehicle.velocity);
}

#[test]
fn a_car_placed_into_an_object_separates_slowly() {
    for victim in ["box1", "post1", "ball1", "brick", "signal1", "statue"] {
        for (dx, dy) in [(0.0, 0.0), (0.001, 0.0), (0.03, 0.02), (0.08, -0.05)] {
            let mut sim = yard(crowd());
            run(&mut sim, 1.0, drive(0.0, 0.0));
            let at = pose_of(&sim, victim).position;
            teleport(&mut sim, Some(at.x + dx), Some(at.y + dy), None);
            let mut fastest = 0.0f64;
            for _ in 0..ticks(3.0) {
                sim.step(drive(0.0, 0.0));
                sane(&sim, 5.1, 3.0);
                fastest = fastest.max(sim.vehicle().velocity.length());
            }
            assert!(fastest < 2.5, "{victim} + ({dx}, {dy}): thrown at {fastest} m/s");
        }
    }
}

#[test]
fn an_object_placed_on_the_moving_car_keeps_the_simulation_stable() {
    for name in ["box1", "ball1", "brick", "statue", "signal1"] {
        let mut sim = yard(crowd());
        run(&mut sim, 0.7, drive(1.0, 0.1));
        let at = sim.vehicle().pose.position;
        sim.apply(place(name, at.x + 0.02, at.y, How::AtOnce)).expect("movable");
        for _ in 0..ticks(4.0) {
            sim.step(drive(1.0, 0.1));
            sane(&sim, 6.0, 6.0);
        }
    }
}

#[test]
fn a_mesh_without_triangles_has_no_effect() {
    let mut sim = yard(Yard::new().spawn(-0.5, 0.0, 0.0).scenery_mesh(Vec::new(), Vec::new()));
    run(&mut sim, 2.0, drive(1.0, 0.0));
    assert!(sim.vehicle().pose.position.x > 1.2, "{:?}", sim.vehicle().pose);
}

#[test]
fn an_object_placed_into_the_car_separates_slowly() {
    for (name, mass) in [("ball1", 0.2), ("post1", 0.3), ("box1", 0.5)] {
        for i in 0..25 {
            let mut sim = yard(crowd());
            run(&mut sim, 0.5, drive(0.0, 0.0));
            let at = sim.vehicle().pose.position;
            let (dx, dy) = (f64::from(i % 5) * 0.05 - 0.1, f64::from(i / 5) * 0.03 - 0.06);
            sim.apply(place(name, at.x + dx, at.y + dy, How::AtOnce)).expect("movable");
            let mut last = pose_of(&sim, name).position;
            let mut fastest = 0.0f64;
            for _ in 0..ticks(2.0) {
                sim.step(drive(0.0, 0.0));
                let now = pose_of(&sim, name).position;
                fastest = fastest.max((now - last).length() / 0.005);
                last = now;
            }
            assert!(fastest < 2.0, "{name} of {mass} kg at ({dx}, {dy}) leaves at {fastest} m/s");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Applies random pose commands: at once, over a duration and along a path, at random ticks and
    /// positions.
    #[test]
    fn any_commands_keep_the_simulation_stable(
        script in prop::collection::vec((0usize..8, -1.0..6.0f64, -1.0..6.0f64, -9.0..9.0f64, 1usize..60), 1..40),
    ) {
        let names = ["box1", "post1", "ball1", "brick", "signal1", "statue"];
        let mut sim = yard(crowd());
        for (which, x, y, yaw, steps) in script {
            let who = names.get(which).map_or(Who::Vehicle, |n| Who::Object((*n).to_owned()));
            let how = match steps % 4 {
                0 => How::Over { duration_s: 0.3 },
                1 => How::Along { path: vec![[y, x], [x, y]], speed: 3.0, repeat: steps % 8 == 1 },
                _ => How::AtOnce,
            };
            let command = Command::Place { who, x: Some(x), y: Some(y), z: None, yaw: Some(yaw), how };
            prop_assert!(sim.apply(command).is_ok());
            for _ in 0..steps {
                sim.step(drive(yaw, x * 0.1));
            }
            // The engine limits the speed of a body's centre of mass to 20 m/s. Other points of the
            // body can be faster.
            sane(&sim, 200.0, 25.0);
        }
    }
}
