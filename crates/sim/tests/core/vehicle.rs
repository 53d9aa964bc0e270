//! Tests that compare the car with theory.

use crate::common::{G, drive, run, sim, teleport, ticks, yard};
use chicane_sim::Sim;
use chicane_testkit::Yard;
use chicane_world::{Pose, Profile};
use glam::DVec3;
use std::sync::Arc;

const WHEELBASE: f64 = 0.18;

/// Radius of the circle on which the centre of the rear axle moves in a steady turn, m. It is
/// positive to the left.
fn turning_radius(speed: f64, steering: f64) -> f64 {
    let mut sim = yard(Yard::new());
    run(&mut sim, 5.0, drive(speed, steering));
    let v = sim.vehicle();
    let axle = v.pose.rotation * DVec3::new(-0.5 * WHEELBASE, 0.0, 0.0);
    let velocity = v.velocity + v.angular_velocity.cross(axle);
    velocity.length() / v.angular_velocity.z
}

#[test]
fn turning_radius_is_that_of_the_bicycle_model() {
    for degrees in [5.0f64, 10.0, 15.0, 20.0, -5.0, -10.0, -15.0, -20.0] {
        let steering = degrees.to_radians();
        let bicycle = WHEELBASE / libm::tan(steering);
        let ratio = turning_radius(0.4, steering) / bicycle;
        assert!((ratio - 1.0).abs() < 0.03, "{degrees}°: {ratio}");
    }
}

#[test]
fn understeer_grows_with_speed() {
    let steering = 12.0f64.to_radians();
    let radii: Vec<f64> = [0.4, 1.0, 1.5, 2.0, 2.5].iter().map(|&v| turning_radius(v, steering)).collect();
    assert!(radii.windows(2).all(|r| r[1] > r[0]), "{radii:?}");
    assert!(radii[4] / radii[0] > 1.02, "{radii:?}");
}

#[test]
fn left_and_right_turns_are_symmetric() {
    let (l, r) = (turning_radius(1.5, 0.3), turning_radius(1.5, -0.3));
    assert!((l + r).abs() < 1e-9, "{l} {r}");
}

#[test]
fn stopping_distance_follows_from_friction() {
    for friction in [0.5, 1.0] {
        let mut profile = Profile::gen1();
        profile.tyre.friction = friction;
        let mut sim = Sim::new(Yard::new().build(), Arc::new(profile), 0);
        run(&mut sim, 3.0, drive(2.0, 0.0));
        let (from, v) = (sim.vehicle().pose.position.x, sim.vehicle().speed);
        assert!((v - 2.0).abs() < 0.01, "{v}");
        let mut farthest = from;
        for _ in 0..ticks(3.0) {
            sim.step(drive(0.0, 0.0));
            farthest = farthest.max(sim.vehicle().pose.position.x);
        }
        let ratio = (farthest - from) / (v * v / (2.0 * friction * G));
        assert!((ratio - 1.0).abs() < 0.05, "friction {friction}: {ratio}");
        assert!(sim.vehicle().speed.abs() < 1e-3);
    }
}

#[test]
fn acceleration_stays_within_the_limits() {
    for (target, limit) in [(2.0, 10.0), (-2.0, 10.0), (2.0, 4.0)] {
        let mut profile = Profile::gen1();
        profile.drive.max_acceleration_mps2 = limit;
        let mut sim = Sim::new(Yard::new().build(), Arc::new(profile), 0);
        let mut reached = None;
        for tick in 1..ticks(3.0) {
            sim.step(drive(target, 0.0));
            if reached.is_none() && (sim.vehicle().speed / target) >= 0.99 {
                reached = Some(tick as f64 * 0.005);
            }
        }
        let (reached, least) = (reached.expect("it gets there"), 0.99 * 2.0 / limit.min(G));
        assert!(reached >= least - 0.005, "{target} m/s at {limit} m/s²: {reached} s, {least} s at least");
        assert!(reached < 1.5 * least + 0.05, "{target} m/s at {limit} m/s²: {reached} s is too slow");
    }
}

#[test]
fn speed_is_limited_both_ways() {
    for (asked, got) in [(9.0, 3.0), (-9.0, -3.0)] {
        let mut sim = yard(Yard::new());
        run(&mut sim, 3.0, drive(asked, 0.0));
        assert!((sim.vehicle().speed - got).abs() < 0.01, "{}", sim.vehicle().speed);
        let spin = sim.readings().wheels.spin;
        assert!(spin.iter().all(|s| (s * 0.0375 - got).abs() < 0.01), "{spin:?}");
    }
}

#[test]
fn the_steering_servo_turns_at_its_rate() {
    let mut sim = yard(Yard::new());
    sim.step(drive(0.0, 1.0));
    assert!((sim.vehicle().steering - 0.05).abs() < 1e-12);
    run(&mut sim, 0.1, drive(0.0, 1.0));
    assert!((sim.vehicle().steering - 0.3491).abs() < 1e-12, "clamped at the limit");
    let [left, right] = sim.vehicle().front_wheels;
    assert!(left > 0.3491 && right < 0.3491, "Ackermann: the inner wheel turns more");
}

#[test]
fn the_controller_limits_the_yaw_rate() {
    let mut sim = yard(Yard::new());
    let wheelbase = Profile::gen1().wheelbase_m;
    // The tyres slow the car down in a tight bend, so the yaw rate is computed from the measured
    // speed and not from the requested speed.
    for speed in [1.8, -1.8] {
        run(&mut sim, 3.0, drive(speed, 0.3491));
        let car = sim.vehicle();
        let yaw_rate = car.speed.abs() * libm::tan(car.steering) / wheelbase;
        assert!((2.8..=3.0 + 1e-6).contains(&yaw_rate), "{speed}: {yaw_rate} rad/s at {} m/s", car.speed);
        let degrees = car.steering.to_degrees();
        assert!((degrees - 16.7).abs() < 1.5, "{speed}: {degrees}");
    }
    run(&mut sim, 3.0, drive(0.4, 0.3491));
    assert!((sim.vehicle().steering - 0.3491).abs() < 1e-12, "a slow car steers to the end");
}

/// Time from a steering command at 1.8 m/s to 90 % of the steady steering angle, s.
fn time_to_steer(profile: Profile) -> f64 {
    let mut sim = Sim::new(Yard::new().build(), Arc::new(profile), 0);
    run(&mut sim, 3.0, drive(1.8, 0.0));
    let mut steering = Vec::new();
    for _ in 0..ticks(2.0) {
        sim.step(drive(1.8, 0.3491));
        steering.push(sim.vehicle().steering);
    }
    let steady = steering[steering.len() - 1];
    let reached = steering.iter().position(|s| *s >= 0.9 * steady).expect("it gets there");
    (reached + 1) as f64 * 0.005
}

#[test]
fn the_yaw_rate_changes_at_its_limit_and_a_profile_without_limits_has_none() {
    let limited = time_to_steer(Profile::gen1());
    assert!((limited - 0.27).abs() < 0.02, "{limited} s");
    let mut free = Profile::gen1();
    (free.drive.yaw_rate_max, free.drive.yaw_acceleration_max) = (None, None);
    assert_eq!(time_to_steer(free.clone()), 0.035, "the servo alone: 10 rad/s");
    let mut sim = Sim::new(Yard::new().build(), Arc::new(free), 0);
    run(&mut sim, 3.0, drive(1.8, 0.3491));
    assert!((sim.vehicle().steering - 0.3491).abs() < 1e-12);
}

#[test]
fn a_braking_car_never_steers_beyond_its_command() {
    let mut sim = yard(Yard::new());
    run(&mut sim, 3.0, drive(1.5, 0.1));
    for _ in 0..ticks(1.0) {
        sim.step(drive(0.0, 0.1));
        assert!(sim.vehicle().steering <= 0.1 + 1e-12, "{}", sim.vehicle().steering);
    }
}

#[test]
fn a_straight_line_is_straight() {
    for yaw in [0.0, 0.7] {
        let mut sim = sim(Yard::new().spawn(-3.0, 2.0, yaw).build());
        let start = sim.vehicle().pose;
        let mut worst = 0.0f64;
        while (sim.vehicle().pose.position - start.position).length() < 10.0 {
            sim.step(drive(2.0, 0.0));
            let local = start.inverse().point(sim.vehicle().pose.position);
            worst = worst.max(local.y.abs());
        }
        assert!(worst < 1e-3, "{worst} m");
    }
}

#[test]
fn a_parked_car_does_not_move() {
    let mut sim = yard(Yard::new());
    run(&mut sim, 2.0, drive(1.5, 0.2));
    run(&mut sim, 2.0, drive(0.0, 0.2));
    let parked = sim.vehicle().pose;
    run(&mut sim, 60.0, drive(0.0, 0.2));
    let now = sim.vehicle().pose;
    assert!((now.position - parked.position).length() < 1e-4, "{:?}", now.position - parked.position);
    assert!((now.yaw() - parked.yaw()).abs() < 1e-4);
    assert!(now.position.z.abs() < 1e-3, "stands on the ground: {}", now.position.z);
}

/// A ramp that rises along x from the ground. `slope` is in radians, `width` in metres.
fn ramp(name: &str, x: f64, y: f64, slope: f64, width: f64) -> Yard {
    let (length, thickness) = (0.8, 0.04);
    let (s, c) = (libm::sin(slope), libm::cos(slope));
    // The upper edge at the low end of the ramp is on the ground.
    let centre = [x + 0.5 * length * c + 0.5 * thickness * s, y, 0.5 * length * s - 0.5 * thickness * c];
    Yard::new().fixed_block(name, Pose::from_xyz_rpy(centre, [0.0, -slope, 0.0]), [length, width, thickness])
}

#[test]
fn the_car_climbs_a_slope_and_stands_on_it() {
    let mut sim = yard(ramp("ramp", 0.4, 0.0, 0.2, 1.0));
    let mut t = 0;
    while sim.vehicle().pose.position.x < 0.8 {
        sim.step(drive(0.6, 0.0));
        t += 1;
        assert!(t < ticks(10.0), "the car does not get up: {:?}", sim.vehicle().pose);
    }
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let parked = sim.vehicle().pose;
    assert!((-parked.rpy()[1] - 0.2).abs() < 0.03, "stands along the slope: {:?}", parked.rpy());
    run(&mut sim, 10.0, drive(0.0, 0.0));
    let crept = (sim.vehicle().pose.position - parked.position).length();
    assert!(crept < 2e-3, "creeps {crept} m");
}

#[test]
fn a_car_that_rolled_over_is_upright_after_a_teleport() {
    let mut sim = yard(ramp("ramp", 0.3, -0.13, 0.5, 0.2));
    run(&mut sim, 1.5, drive(2.0, 0.0));
    run(&mut sim, 2.0, drive(0.0, 0.0));
    let lying = sim.vehicle().pose;
    let up = lying.rotation * DVec3::Z;
    assert!(up.z < 0.5, "it should lie on its side or roof: {:?}", lying.rpy());
    let (x, y, yaw) = (lying.position.x, lying.position.y, lying.yaw());
    teleport(&mut sim, None, None, None);
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let righted = sim.vehicle().pose;
    assert!((righted.rotation * DVec3::Z).z > 0.999, "{:?}", righted.rpy());
    assert!((righted.position.x - x).abs() < 0.05 && (righted.position.y - y).abs() < 0.05);
    assert!((righted.yaw() - yaw).abs() < 0.1);
}

#[test]
fn a_car_on_its_roof_does_not_sink_into_the_ground() {
    let mut sim = yard(ramp("ramp", 0.3, -0.13, 0.5, 0.2));
    run(&mut sim, 1.5, drive(2.0, 0.0));
    sim.apply(crate::common::place("ramp", 50.0, 50.0, chicane_sim::How::AtOnce)).expect("movable");
    for _ in 0..ticks(10.0) {
        sim.step(drive(1.0, 0.1));
        let pose = sim.vehicle().pose;
        let middle = pose.point(DVec3::new(0.0, 0.0, 0.08));
        assert!(middle.z > 0.03, "sinks into the ground: {pose:?}");
    }
    assert!((sim.vehicle().pose.rotation * DVec3::Z).z < 0.5, "still lies there");
}

#[test]
fn the_isolated_car_moves_like_the_car_in_the_engine() {
    // While a motion carries a ball far away, the engine simulates the car. While the ball rests,
    // the car is integrated as an isolated body.
    let path = |busy: bool| {
        let mut sim = yard(Yard::new().ball("ball1", [40.0, 40.0, 0.11], 0.11, 0.2));
        run(&mut sim, 3.0, drive(0.0, 0.0));
        if busy {
            let how =
                chicane_sim::How::Along { path: vec![[41.0, 40.0], [40.0, 40.0]], speed: 0.1, repeat: true };
            sim.apply(crate::common::place("ball1", 40.0, 40.0, how)).expect("a valid path");
        }
        let mut poses = Vec::new();
        for i in 0..ticks(8.0) {
            sim.step(drive(1.0 + 0.5 * libm::sin(i as f64 * 0.01), 0.3 * libm::sin(i as f64 * 0.007)));
            poses.push(sim.vehicle().pose);
        }
        poses
    };
    let (alone, busy) = (path(false), path(true));
    assert_ne!(alone, busy, "the two runs use different code");
    let worst = alone.iter().zip(&busy).map(|(a, b)| (a.position - b.position).length()).fold(0.0, f64::max);
    assert!(worst < 0.01, "after 8 m they are {worst} m apart");
}

#[test]
fn an_object_can_push_the_car() {
    // A motion carries a heavy ball into the side of the parked car.
    let mut sim = yard(Yard::new().ball("boulder", [0.0, -1.0, 0.15], 0.15, 20.0));
    let from = sim.vehicle().pose.position;
    let push = crate::common::place("boulder", 0.0, 0.3, chicane_sim::How::Over { duration_s: 2.0 });
    sim.apply(push).expect("a valid motion");
    run(&mut sim, 3.0, drive(0.0, 0.0));
    let way = sim.vehicle().pose.position - from;
    assert!(way.y > 0.3, "{way:?}");
    assert!(sim.vehicle().pose.position.is_finite());
}

#[test]
fn non_finite_drive_commands_are_ignored() {
    let mut sim = yard(Yard::new());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        run(&mut sim, 0.2, drive(bad, bad));
    }
    assert!(sim.vehicle().pose.position.length() < 1e-3 && sim.vehicle().steering == 0.0);
}
