//! Tests of simulations with an overlay: delayed commands, lights that turn green by themselves, a
//! heavier car, and saved states.

use crate::common::{drive, run};
use chicane_sim::vary::RedLight;
use chicane_sim::{Command, Drive, Lamp, Overlay, RestoreError, Sim};
use chicane_testkit::Yard;
use chicane_world::Profile;
use std::sync::Arc;

/// A simulation with an overlay that does not change the yard itself.
fn varied(overlay: &Overlay) -> Sim {
    let yard = Yard::new().light("signal1", 3.0, 1.0, 3.0).light("signal2", 3.0, -1.0, 3.0);
    let yard = yard.block("box1", [2.0, 2.0, 0.1], [0.2; 3], 0.5);
    Sim::varied(yard.build(), Arc::new(overlay.profile(&Profile::gen1())), 5, overlay)
}

fn late(ticks: u32) -> Overlay {
    Overlay { latency_ticks: ticks, ..Overlay::default() }
}

/// Steering angle after each of 60 ticks. The steering command jumps from 0 to 0.2 rad at tick 3.
fn steering(overlay: &Overlay) -> Vec<f64> {
    let mut sim = varied(overlay);
    (0..60)
        .map(|tick| {
            sim.step(drive(0.0, if tick < 3 { 0.0 } else { 0.2 }));
            sim.vehicle().steering
        })
        .collect()
}

#[test]
fn a_command_takes_effect_exactly_the_delay_later() {
    let prompt = steering(&Overlay::default());
    for ticks in [1, 7, 20] {
        let delayed = steering(&late(ticks));
        let n = ticks as usize;
        assert!(delayed[..n].iter().all(|angle| *angle == 0.0), "{ticks}");
        assert_eq!(delayed[n..], prompt[..60 - n], "{ticks}");
    }
}

#[test]
fn a_reset_drops_the_commands_that_have_not_taken_effect() {
    let mut sim = varied(&late(20));
    run(&mut sim, 0.05, drive(2.0, 0.3));
    sim.apply(Command::Reset).expect("a reset");
    run(&mut sim, 0.2, Drive::default());
    assert!(sim.vehicle().speed.abs() < 1e-6 && sim.vehicle().steering == 0.0, "{:?}", sim.vehicle());
}

#[test]
fn a_restored_simulation_continues_like_the_original() {
    let overlay = Overlay { red_lights: vec![RedLight { name: "signal2".into(), ticks: 300 }], ..late(13) };
    let act = |sim: &mut Sim| {
        let t = sim.tick() as f64 * 0.005;
        sim.step(drive(1.0 + libm::sin(7.0 * t), 0.3 * libm::sin(5.0 * t)));
    };
    let mut original = varied(&overlay);
    for round in 0..10 {
        (0..37 + round).for_each(|_| act(&mut original));
        let saved = original.save();
        let mut restored = varied(&overlay);
        restored.restore(&saved).expect("its own save");
        let mut continued = varied(&overlay);
        continued.restore(&saved).expect("its own save");
        for _ in 0..50 {
            act(&mut restored);
            act(&mut continued);
        }
        assert!(restored.save() == continued.save());
        assert_eq!(restored.digests(), continued.digests());
    }
    let mut again = varied(&overlay);
    while again.tick() < original.tick() {
        act(&mut again);
    }
    assert!(again.save() == original.save(), "a restored run differs from one that was never saved");
}

#[test]
fn the_delay_line_is_part_of_the_state() {
    let (mut a, mut b) = (varied(&late(10)), varied(&late(10)));
    a.step(drive(1.0, 0.0));
    b.step(drive(0.0, 0.0));
    let differ: Vec<&str> =
        a.digests().iter().zip(b.digests()).filter(|(a, b)| a.hash != b.hash).map(|(a, _)| a.part).collect();
    assert_eq!(differ, ["variation"], "the command waits, and nothing else differs yet");
    let plain = varied(&Overlay::default());
    assert!(plain.digests().iter().all(|digest| digest.part != "variation"));
}

#[test]
fn a_save_of_another_overlay_is_refused() {
    let saved = varied(&late(5)).save();
    for other in [Overlay::default(), late(6), Overlay { mass: Some(1.1), ..late(5) }] {
        assert_eq!(varied(&other).restore(&saved), Err(RestoreError::OtherWorld), "{other:?}");
    }
}

#[test]
fn a_light_is_red_for_its_time_and_green_afterwards() {
    let overlay =
        Overlay { red_lights: vec![RedLight { name: "signal2".into(), ticks: 100 }], ..Overlay::default() };
    let lamps = |sim: &Sim| sim.snapshot().lights.iter().map(|(_, lamp)| *lamp).collect::<Vec<_>>();
    let mut sim = varied(&overlay);
    for _ in 0..100 {
        assert_eq!(lamps(&sim), [Lamp::Green, Lamp::Red], "tick {}", sim.tick());
        sim.step(Drive::default());
    }
    assert_eq!(lamps(&sim), [Lamp::Green; 2]);
    run(&mut sim, 1.0, Drive::default());
    assert_eq!(lamps(&sim), [Lamp::Green; 2]);
    // A command to a light stops the timer of this light.
    let mut sim = varied(&overlay);
    sim.apply(Command::SetLight { name: "signal2".into(), red: true }).expect("already red");
    run(&mut sim, 1.0, Drive::default());
    assert_eq!(lamps(&sim), [Lamp::Green, Lamp::Red]);
}

#[test]
fn a_light_that_the_seed_made_red_is_not_kept_red() {
    let overlay =
        Overlay { red_lights: vec![RedLight { name: "signal2".into(), ticks: 100 }], ..Overlay::default() };
    let (earlier, mut next) = (varied(&overlay), varied(&Overlay::default()));
    next.keep_lights_of(&earlier);
    assert!(next.snapshot().lights.iter().all(|(_, lamp)| *lamp == Lamp::Green));
}

/// Speed after a quarter of a second at full throttle, m/s.
fn sprint(overlay: &Overlay) -> f64 {
    let mut sim = varied(overlay);
    run(&mut sim, 0.25, drive(3.0, 0.0));
    sim.vehicle().speed
}

#[test]
fn a_heavy_car_and_a_slippery_road_are_slower() {
    let usual = sprint(&Overlay::default());
    let heavy = sprint(&Overlay { mass: Some(1.5), ..Overlay::default() });
    let slippery = sprint(&Overlay { friction: Some(0.3), ..Overlay::default() });
    assert!(heavy < 0.75 * usual && slippery < 0.5 * usual, "{usual} {heavy} {slippery}");
    for mass in [0.5, 2.0] {
        let mut sim = varied(&Overlay { mass: Some(mass), ..Overlay::default() });
        run(&mut sim, 3.0, Drive::default());
        let at = sim.vehicle().pose.position;
        assert!(at.length() < 2e-3, "a car of {mass} times the mass does not stand still: {at}");
    }
}

#[test]
fn noise_is_scaled() {
    let spread = |factor: f64| {
        let overlay = Overlay { lidar_noise: Some(factor), imu_noise: Some(factor), ..Overlay::default() };
        let mut sim = varied(&overlay);
        let mut sum = [0.0; 2];
        for _ in 0..400 {
            let readings = sim.step(Drive::default());
            if let Some(imu) = readings.imu {
                sum[0] += imu.angular_velocity.length_squared();
            }
            let nearest =
                |scan: &chicane_sim::Scan| scan.ranges.iter().copied().fold(f32::INFINITY, f32::min);
            if let Some(scan) = readings.lidar {
                sum[1] += f64::from(nearest(scan));
            }
        }
        sum
    };
    let [silent, usual, loud] = [0.0, 1.0, 3.0].map(spread);
    assert!(silent[0] < 1e-9 && (loud[0] / usual[0]).sqrt() > 2.9, "{silent:?} {usual:?} {loud:?}");
    assert!(silent[1] > usual[1] && usual[1] > loud[1], "the nearest of many noisy ranges is nearer");
}
