//! Tests that compare lidar and IMU with geometry and theory.

use crate::common::{G, drive, run, sim, teleport, yard};
use chicane_sim::Sim;
use chicane_testkit::Yard;
use chicane_world::Profile;
use glam::DVec3;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Distance from a point inside the rectangle (0, 0)–(w, d) to its border, along an angle.
fn room(w: f64, d: f64, x: f64, y: f64, angle: f64) -> f64 {
    let (c, s) = (libm::cos(angle), libm::sin(angle));
    let along = |at: f64, size: f64, way: f64| if way > 0.0 { (size - at) / way } else { -at / way };
    along(x, w, c).min(along(y, d, s))
}

#[test]
fn every_beam_is_within_four_standard_deviations_of_the_room() {
    let half = 0.015;
    let mut sim = sim(Yard::new().spawn(1.3, 2.1, 0.4).fence(5.0, 4.0).build());
    for _ in 0..50 {
        run(&mut sim, 0.1, drive(0.0, 0.0));
        let car = sim.vehicle().pose;
        let at = car.point(DVec3::new(-0.027, 0.0, 0.182));
        let scan = sim.readings().lidar.expect("every 20 ticks");
        assert_eq!(scan.ranges.len(), 720);
        for (i, &range) in scan.ranges.iter().enumerate() {
            let angle = car.yaw() - PI + TAU * i as f64 / 720.0;
            let wanted = room(5.0 - 2.0 * half, 4.0 - 2.0 * half, at.x - half, at.y - half, angle);
            assert!((f64::from(range) - wanted).abs() < 0.04, "beam {i}: {range} not {wanted}");
        }
    }
}

#[test]
fn lidar_noise_has_the_profiles_deviation_and_depends_on_the_seed() {
    let scans = |seed: u64| -> Vec<Vec<f32>> {
        let mut sim = Sim::new(
            Yard::new().spawn(2.0, 2.0, 0.0).fence(4.0, 4.0).build(),
            Arc::new(Profile::gen1()),
            seed,
        );
        (0..40)
            .map(|_| {
                run(&mut sim, 0.1, drive(0.0, 0.0));
                sim.readings().lidar.expect("a scan").ranges.clone()
            })
            .collect()
    };
    let a = scans(1);
    let mean = |i: usize| a.iter().map(|s| f64::from(s[i])).sum::<f64>() / a.len() as f64;
    let squares: f64 =
        (0..720).map(|i| a.iter().map(|s| (f64::from(s[i]) - mean(i)).powi(2)).sum::<f64>()).sum();
    let sd = (squares / (720.0 * (a.len() - 1) as f64)).sqrt();
    assert!((sd / 0.01 - 1.0).abs() < 0.02, "{sd}");
    assert_eq!(a, scans(1));
    assert_ne!(a, scans(2));
}

/// A simulation whose lidar has no noise.
fn silent(yard: Yard) -> Sim {
    let mut profile = Profile::gen1();
    profile.lidar.noise_sd_m = 0.0;
    Sim::new(yard.build(), Arc::new(profile), 0)
}

fn ahead(sim: &Sim) -> f64 {
    f64::from(sim.last_readings().0.ranges[360])
}

#[test]
fn the_lidar_measures_each_shape_correctly() {
    let x = 1.0 + 0.027;
    let seen = |yard: Yard| ahead(&silent(yard));
    assert!((seen(Yard::new().block("a", [1.0, 0.0, 0.15], [0.2, 0.2, 0.3], 1.0)) - (x - 0.1)).abs() < 1e-6);
    assert!((seen(Yard::new().post("a", [1.0, 0.0, 0.15], 0.1, 0.3, 1.0)) - (x - 0.1)).abs() < 1e-6);
    // The lidar's plane is at a height of 0.182 m, which is 0.018 m below the centre of this ball.
    let r = (0.2f64 * 0.2 - 0.018 * 0.018).sqrt();
    assert!((seen(Yard::new().ball("a", [1.0, 0.0, 0.2], 0.2, 1.0)) - (x - r)).abs() < 1e-6);
    assert_eq!(seen(Yard::new().block("low", [1.0, 0.0, 0.05], [0.2, 0.2, 0.1], 1.0)), f64::INFINITY);
    assert_eq!(seen(Yard::new().block("far", [17.0, 0.0, 0.5], [0.2, 0.2, 1.0], 1.0)), f64::INFINITY);
}

#[test]
fn near_and_far_boxes_are_measured_correctly() {
    // The lidar tests near boxes face by face and far boxes by ray casts. In both cases a beam
    // must end at the box or at a wall.
    let mut sim = silent(Yard::new().spawn(3.0, 3.0, 0.3).fence(6.0, 6.0).block(
        "b",
        [3.0, 3.9, 0.2],
        [0.3, 0.5, 0.4],
        1.0,
    ));
    for i in 0..40 {
        let a = f64::from(i) * TAU / 40.0;
        teleport(&mut sim, Some(3.0 + 2.0 * libm::cos(a)), Some(2.8 + 2.0 * libm::sin(a)), Some(a * 3.0));
        run(&mut sim, 0.1, drive(0.0, 0.0));
        let car = sim.vehicle().pose;
        let eye = car.point(DVec3::new(-0.027, 0.0, 0.182));
        let block = sim.snapshot().objects[4];
        for (k, &range) in sim.last_readings().0.ranges.iter().enumerate() {
            let angle = car.yaw() - PI + TAU * k as f64 / 720.0;
            let end = eye + DVec3::new(libm::cos(angle), libm::sin(angle), 0.0) * f64::from(range);
            let local = block.inverse().point(end).abs() - DVec3::new(0.15, 0.25, 0.2);
            let on_block = local.x.max(local.y).abs() < 1e-5;
            let to_wall = [end.x, 6.0 - end.x, end.y, 6.0 - end.y].into_iter().fold(f64::MAX, f64::min);
            assert!(on_block || (to_wall - 0.015).abs() < 1e-5, "beam {k} ends at {end:?}");
        }
    }
}

#[test]
fn a_box_as_a_mesh_gives_the_same_ranges_as_a_box() {
    let c = |x: f64, y: f64, z: f64| DVec3::new(1.0 + 0.1 * x, 0.2 * y, 0.2 * z);
    let corners: Vec<DVec3> = (0..8)
        .map(|i| c(f64::from(i & 1) * 2.0 - 1.0, f64::from(i >> 1 & 1) * 2.0 - 1.0, f64::from(i >> 2) * 2.0))
        .collect();
    let faces = [
        [0, 4, 6],
        [0, 6, 2],
        [1, 3, 7],
        [1, 7, 5],
        [0, 1, 5],
        [0, 5, 4],
        [2, 6, 7],
        [2, 7, 3],
        [4, 5, 7],
        [4, 7, 6],
    ];
    let mesh = silent(Yard::new().scenery_mesh(corners, faces.to_vec()));
    let plain = silent(Yard::new().block("a", [1.0, 0.0, 0.2], [0.2, 0.4, 0.4], 1.0));
    let (a, b) = (&mesh.last_readings().0.ranges, &plain.last_readings().0.ranges);
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!(a == b || (a - b).abs() < 1e-5, "beam {i}: {a} {b}");
    }
    assert!(b.iter().filter(|r| r.is_finite()).count() > 40);
}

#[test]
fn a_large_mesh_gives_the_same_ranges_as_its_pieces() {
    // The car stands between forty walls of two triangles each. A single mesh of all walls has more
    // than `CHUNK` triangles and is split. A mesh of one wall is not split.
    let walls = (0..40).map(|i| {
        let (s, c) = libm::sincos(f64::from(i) * 0.7);
        let (at, along) = (DVec3::new(c, s, 0.0) * (1.0 + 0.1 * f64::from(i)), DVec3::new(-s, c, 0.0) * 0.3);
        let up = DVec3::Z * 0.5;
        vec![at - along, at + along, at + along + up, at - along + up]
    });
    let walls: Vec<Vec<DVec3>> = walls.collect();
    let triangles = |first: u32| [[first, first + 1, first + 2], [first, first + 2, first + 3]];
    let all = (0..walls.len() as u32).flat_map(|i| triangles(4 * i)).collect();
    let whole = silent(Yard::new().scenery_mesh(walls.concat(), all));
    let pieces =
        walls.iter().fold(Yard::new(), |yard, w| yard.scenery_mesh(w.clone(), triangles(0).to_vec()));
    let pieces = silent(pieces);
    assert_eq!(whole.last_readings().0.ranges, pieces.last_readings().0.ranges);
    assert!(whole.last_readings().0.ranges.iter().filter(|r| r.is_finite()).count() > 300);
}

#[test]
fn a_tilted_lidar_measures_the_ground() {
    let mut sim = silent(Yard::new());
    // Braking pitches the car forwards, so that the beams ahead hit the ground.
    run(&mut sim, 2.0, drive(3.0, 0.0));
    run(&mut sim, 0.2, drive(-3.0, 0.0));
    let pitch = sim.vehicle().pose.rpy()[1];
    let range = f64::from(sim.readings().lidar.expect("on a scan's tick").ranges[360]);
    assert!(pitch > 0.02, "{pitch}");
    assert!((range * libm::sin(pitch) / 0.182 - 1.0).abs() < 0.05, "{range} at {pitch}");
}

#[test]
fn at_rest_the_imu_measures_only_gravity_and_noise() {
    let mut sim = yard(Yard::new());
    let (mut acceleration, mut gyro, mut n) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    let (mut a2, mut g2) = (DVec3::ZERO, DVec3::ZERO);
    for _ in 0..8000 {
        if let Some(imu) = sim.step(drive(0.0, 0.0)).imu {
            acceleration += imu.acceleration;
            gyro += imu.angular_velocity;
            let a = imu.acceleration - DVec3::new(0.0, 0.0, G);
            (a2, g2, n) = (a2 + a * a, g2 + imu.angular_velocity * imu.angular_velocity, n + 1.0);
        }
    }
    assert_eq!(n, 2000.0, "50 a second");
    let mean = acceleration / n - DVec3::new(0.0, 0.0, G);
    assert!(mean.length() < 0.002, "{mean:?}");
    assert!((gyro / n).length() < 2e-5);
    for axis in 0..3 {
        assert!(((a2[axis] / n).sqrt() / 0.017 - 1.0).abs() < 0.06, "{:?}", (a2 / n));
        assert!(((g2[axis] / n).sqrt() / 0.0002 - 1.0).abs() < 0.06, "{:?}", (g2 / n));
    }
}

#[test]
fn the_sum_of_the_gyro_samples_is_the_change_of_heading() {
    let mut sim = yard(Yard::new());
    let mut turned = 0.0;
    for i in 0..2000 {
        let steering = if i / 150 % 2 == 0 { 0.3 } else { -0.2 };
        if let Some(imu) = sim.step(drive(1.0, steering)).imu {
            turned += imu.angular_velocity.z * 0.02;
        }
    }
    let miss = turned - sim.vehicle().pose.yaw();
    let turns = (miss / std::f64::consts::TAU).round();
    assert!((miss - turns * std::f64::consts::TAU).abs() < 2e-3, "{turned} {}", sim.vehicle().pose.yaw());
}

#[test]
fn the_imu_measures_acceleration_and_turn_rate() {
    let mut sim = yard(Yard::new());
    let mut forward = 0.0;
    for _ in 0..20 {
        if let Some(imu) = sim.step(drive(0.9, 0.0)).imu {
            forward += imu.acceleration.x * 0.02;
        }
    }
    run(&mut sim, 0.5, drive(0.9, 0.0));
    assert!((forward / 0.9 - 1.0).abs() < 0.1, "the accelerometer sums up to the speed: {forward}");
    run(&mut sim, 3.0, drive(0.9, 0.2));
    let imu = sim.readings().imu.expect("on a sample's tick");
    let v = sim.vehicle();
    assert!((imu.angular_velocity.z - v.angular_velocity.z).abs() < 0.002);
    let centripetal = v.speed * v.angular_velocity.z;
    assert!((imu.acceleration.y / centripetal - 1.0).abs() < 0.1, "{} {centripetal}", imu.acceleration.y);
}

#[test]
fn the_imu_does_not_measure_a_teleport() {
    let mut sim = yard(Yard::new());
    run(&mut sim, 2.0, drive(2.0, 0.0));
    teleport(&mut sim, Some(-20.0), Some(3.0), Some(2.0));
    run(&mut sim, 0.02, drive(0.0, 0.0));
    let imu = sim.readings().imu.expect("a sample");
    assert!((imu.acceleration - DVec3::new(0.0, 0.0, G)).length() < 0.2, "{imu:?}");
    assert!(imu.angular_velocity.length() < 0.01);
}

#[test]
fn the_rate_of_a_sensor_does_not_change_the_simulation() {
    // A car with a slower lidar must reach exactly the same pose.
    let mut slow = Profile::gen1();
    slow.lidar.rate_hz = 1;
    let world = Yard::new().fence(9.0, 9.0).spawn(3.0, 3.0, 0.0).build();
    let mut a = Sim::new(Arc::clone(&world), Arc::new(slow), 5);
    let mut b = Sim::new(world, Arc::new(Profile::gen1()), 5);
    run(&mut a, 3.0, drive(1.0, 0.2));
    run(&mut b, 3.0, drive(1.0, 0.2));
    assert_eq!(a.snapshot(), b.snapshot());
    assert_eq!(a.last_readings().1, b.last_readings().1);
}

#[test]
fn the_imu_measures_a_motion_and_its_sum_is_zero() {
    use chicane_sim::{Command, How, Who};
    let mut sim = yard(Yard::new());
    let how = How::Over { duration_s: 1.0 };
    sim.apply(Command::Place { who: Who::Vehicle, x: Some(1.0), y: None, z: None, yaw: None, how })
        .expect("a valid motion");
    let (mut sum, mut peak) = (0.0, 0.0f64);
    for _ in 0..400 {
        if let Some(imu) = sim.step(drive(0.0, 0.0)).imu {
            sum += imu.acceleration.x * 0.02;
            peak = peak.max(imu.acceleration.x);
        }
    }
    assert!(peak > 10.0, "the start is felt: {peak}");
    assert!(sum.abs() < 0.02, "start and end cancel: {sum}");
}
