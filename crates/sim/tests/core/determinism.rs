//! Tests that equal inputs give equal bytes: in two runs, after save and restore, and compared with
//! a golden hash.

use crate::common::{drive, place, teleport, yard};
use chicane_sim::{Command, Drive, How, RestoreError, Sim};
use chicane_testkit::Yard;
use chicane_world::{Pose, Profile};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// A yard for a run with driving, crashes, lights and motions. It also has a stack of two boxes and
/// a ramp.
fn busy() -> Sim {
    let ramp = Pose::from_xyz_rpy([4.0, 1.0, 0.05], [0.0, -0.25, 0.0]);
    let world = Yard::new().spawn(2.0, 2.0, 0.3).fence(6.0, 5.0);
    let world = world.clutter(12).fixed_block("ramp", ramp, [0.6, 0.4, 0.04]).light("signal1", 5.0, 3.0, 2.0);
    let world =
        world.block("lower", [5.0, 1.0, 0.1], [0.2; 3], 0.5).block("upper", [5.0, 1.0, 0.3], [0.2; 3], 0.5);
    Sim::new(world.build(), Arc::new(Profile::gen1()), 42)
}

/// A fixed script. It applies the commands of a tick and returns the drive command of the tick.
fn act(sim: &mut Sim, tick: u64) -> Drive {
    match tick % 2_000 {
        300 => drop(sim.apply(Command::SetLight { name: "signal1".into(), red: tick % 4_000 < 2_000 })),
        500 => drop(sim.apply(place("thing3", 1.0 + (tick % 7) as f64 * 0.4, 2.0, How::AtOnce))),
        700 => drop(sim.apply(place("lower", 3.0, 4.0, How::Over { duration_s: 1.5 }))),
        900 => drop(teleport(sim, Some(1.0 + (tick % 11) as f64 * 0.3), Some(1.0), Some(tick as f64))),
        1_900 => drop(sim.apply(Command::Reset)),
        _ => {}
    }
    let t = tick as f64 * 0.005;
    drive(2.5 * libm::sin(0.31 * t), 0.34 * libm::sin(0.9 * t))
}

fn play(sim: &mut Sim, ticks: u64, mut each: impl FnMut(&Sim)) {
    for _ in 0..ticks {
        let command = act(sim, sim.tick());
        sim.step(command);
        each(sim);
    }
}

/// Asserts that two simulations are equal. The message names the first part that differs.
fn same(a: &Sim, b: &Sim, when: &str) {
    for (a, b) in a.digests().iter().zip(b.digests()) {
        assert_eq!(a.hash, b.hash, "{when}: `{}` differs", a.part);
    }
    assert!(a.save() == b.save(), "{when}: the saves differ though every part is the same");
}

#[test]
fn a_world_with_a_mesh_is_the_same_after_a_restore() {
    let corners = [[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [1.0, -1.0, 1.0]];
    let wall = || {
        let corners = corners.map(glam::DVec3::from_array).to_vec();
        yard(Yard::new().scenery_mesh(corners, vec![[0, 1, 2], [0, 2, 3]]))
    };
    let (mut a, mut b) = (wall(), wall());
    let start = a.digests();
    // The car hits the wall.
    for _ in 0..400 {
        a.step(drive(1.5, 0.0));
    }
    assert!(a.vehicle().pose.position.x < 1.0, "the mesh is solid");
    assert!(start.iter().zip(a.digests()).any(|(s, now)| s.part == "colliders" && s.hash != now.hash));
    b.restore(&a.save()).expect("a save of the same world");
    same(&a, &b, "after a restore");
    for sim in [&mut a, &mut b] {
        for _ in 0..400 {
            sim.step(drive(-1.0, 0.2));
        }
    }
    same(&a, &b, "after more ticks");
}

#[test]
fn two_runs_are_equal_after_100_000_ticks() {
    let (mut a, mut b) = (busy(), busy());
    for round in 1..=10 {
        play(&mut a, 10_000, |_| {});
        play(&mut b, 10_000, |_| {});
        same(&a, &b, &format!("after {} ticks", round * 10_000));
    }
    assert_eq!(a.tick(), 100_000);
}

#[test]
fn a_restored_simulation_continues_like_the_original() {
    let mut a = busy();
    for round in 0..40 {
        // The rounds have different lengths, so that the simulation is saved in many different
        // situations.
        play(&mut a, 137 + 61 * round, |_| {});
        let saved = a.save();
        let mut b = busy();
        b.restore(&saved).expect("same world");
        same(&a, &b, &format!("restored in round {round}"));
        assert_eq!(a.snapshot(), b.snapshot());
        play(&mut b, 500, |_| {});
        let mut c = busy();
        c.restore(&saved).expect("same world");
        play(&mut c, 500, |_| {});
        same(&b, &c, &format!("two restored simulations, round {round}"));
        let mut d = busy();
        d.restore(&saved).expect("same world");
        std::mem::swap(&mut a, &mut d);
        // After the swap, `d` is the simulation that was saved, and `b` was restored from the save.
        // They must be equal after the same 500 ticks.
        play(&mut d, 500, |_| {});
        same(&d, &b, &format!("the original and a restored simulation, round {round}"));
    }
}

#[test]
fn digests_name_the_part_that_differs() {
    let (mut a, mut b) = (busy(), busy());
    play(&mut a, 100, |_| {});
    play(&mut b, 100, |_| {});
    b.apply(Command::SetLight { name: "signal1".into(), red: true }).expect("the light is green");
    let differ = |a: &Sim, b: &Sim| -> Vec<&str> {
        a.digests().iter().zip(b.digests()).filter(|(a, b)| a.hash != b.hash).map(|(a, _)| a.part).collect()
    };
    assert_eq!(differ(&a, &b), ["lamps"]);
    for _ in 0..20 {
        a.step(drive(1.0, 0.0));
        b.step(drive(1.0, 0.01));
    }
    assert!(differ(&a, &b).contains(&"car"), "{:?}", differ(&a, &b));
}

/// Hash of all visible data of 20,000 ticks.
///
/// Update the hash only after an intended change of physics, noise or sensors, and give the reason
/// in the commit message. The hash must not depend on machine, compiler or build options.
///
/// Reasons for the updates so far: the first version of the core; the car's inertia is about its
/// centre of mass, and contacts are detected by impulse; gyro samples are the mean since the last
/// sample; the controller limits the yaw rate.
const GOLDEN: u64 = 0xc97d_b2aa_988c_34c3;

#[test]
fn golden_hash() {
    let mut hash = Xxh3::new();
    let mut number = |v: f64| hash.update(&v.to_bits().to_le_bytes());
    let mut sim = busy();
    play(&mut sim, 20_000, |sim| {
        let s = sim.snapshot();
        for pose in s.objects.iter().chain([&s.vehicle.pose]) {
            pose.position.to_array().iter().chain(&pose.rotation.to_array()).for_each(|&v| number(v));
        }
        let readings = sim.readings();
        readings.wheels.spin.iter().for_each(|&v| number(v));
        if let Some(scan) = readings.lidar {
            scan.ranges.iter().for_each(|&v| number(f64::from(v)));
        }
        if let Some(imu) = readings.imu {
            imu.acceleration.to_array().iter().for_each(|&v| number(v));
            imu.angular_velocity.to_array().iter().for_each(|&v| number(v));
        }
        s.contacts.iter().for_each(|&i| number(i as f64));
    });
    let got = hash.digest();
    assert_eq!(got, GOLDEN, "now {got:#018x}");
}

#[test]
fn restoring_foreign_or_damaged_bytes_fails_and_changes_nothing() {
    let mut sim = yard(Yard::new().clutter(3));
    sim.step(drive(1.0, 0.0));
    let good = sim.save();
    assert_eq!(sim.restore(b""), Err(RestoreError::NotASave));
    assert_eq!(sim.restore(&vec![7; 4000]), Err(RestoreError::NotASave));
    for cut in [24, 100, good.len() - 1] {
        assert_eq!(sim.restore(&good[..cut]), Err(RestoreError::Damaged), "cut at {cut}");
    }
    for at in (24..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert_eq!(sim.restore(&bad), Err(RestoreError::Damaged), "bit at {at}");
    }
    let other = yard(Yard::new().clutter(4)).save();
    assert_eq!(sim.restore(&other), Err(RestoreError::OtherWorld));
    for change in [0, 1] {
        let mut world = (*Yard::new().clutter(3).build()).clone();
        if change == 0 {
            world.gravity.z = -1.6;
        } else {
            world.ground.z = -3.0;
        }
        let other = crate::common::sim(Arc::new(world)).save();
        assert_eq!(sim.restore(&other), Err(RestoreError::OtherWorld), "gravity and ground count");
    }
    assert!(sim.save() == good);
    sim.restore(&good).expect("its own save");
}
