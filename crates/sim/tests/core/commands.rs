//! Tests of every command and every refusal. A command is applied completely or not at all.

use crate::common::{drive, index, place, pose_of, run, sim, teleport, ticks, yard};
use chicane_sim::{Applied, Command, How, Lamp, NotMovableWhy, Refusal, Sim, SimEvent, Who};
use chicane_testkit::Yard;
use chicane_world::Pose;
use std::sync::Arc;

fn test_yard() -> Yard {
    Yard::new()
        .spawn(1.0, 1.0, 0.0)
        .block("box1", [2.0, 0.0, 0.1], [0.2; 3], 0.5)
        .light("signal1", 2.0, 2.0, 0.5)
        .light("signal2", 2.0, 3.0, 0.5)
        .fence(5.0, 5.0)
}

fn set_light(sim: &mut Sim, name: &str, red: bool) -> Result<Applied, Refusal> {
    sim.apply(Command::SetLight { name: name.to_owned(), red })
}

#[test]
fn a_teleported_car_stands_on_the_ground_at_rest() {
    let mut sim = yard(test_yard());
    run(&mut sim, 1.0, drive(1.0, 0.1));
    let pose = teleport(&mut sim, Some(1.0), Some(2.0), Some(7.0));
    assert_eq!(pose, sim.vehicle().pose, "visible at once");
    assert_eq!(sim.vehicle().velocity.length(), 0.0);
    assert!((pose.yaw() - (7.0 - std::f64::consts::TAU)).abs() < 1e-9);
    let kept = teleport(&mut sim, None, Some(3.0), None);
    assert_eq!((kept.position.x, kept.position.y), (1.0, 3.0));
    assert!((kept.yaw() - pose.yaw()).abs() < 1e-9);
}

#[test]
fn a_placed_object_is_upright_and_not_below_the_ground() {
    let mut sim = yard(test_yard());
    let command = Command::Place {
        who: Who::Object("box1".into()),
        x: Some(1.0),
        y: None,
        z: Some(-3.0),
        yaw: Some(1.0),
        how: How::AtOnce,
    };
    let Ok(Applied::Placed(pose)) = sim.apply(command) else { panic!("refused") };
    assert_eq!(pose, Pose::from_xyz_yaw(1.0, 0.0, 0.1, 1.0));
    assert_eq!(pose_of(&sim, "box1"), pose);
}

#[test]
fn refusals_name_the_reason_and_change_nothing() {
    let mut sim = yard(test_yard());
    run(&mut sim, 0.5, drive(1.0, 0.0));
    let before = sim.save();
    let wall = Refusal::NotMovable { name: "wall_0".into(), why: NotMovableWhy::Wall };
    assert_eq!(sim.apply(place("wall_0", 0.0, 0.0, How::AtOnce)), Err(wall));
    let track = Refusal::NotMovable { name: "racetrack".into(), why: NotMovableWhy::Track };
    assert_eq!(sim.apply(place("racetrack", 0.0, 0.0, How::AtOnce)), Err(track));
    assert_eq!(
        sim.apply(place("no", 0.0, 0.0, How::AtOnce)),
        Err(Refusal::NoSuchObject { name: "no".into() })
    );
    assert_eq!(set_light(&mut sim, "box1", true), Err(Refusal::NoSuchLight { name: "box1".into() }));
    for bad in [f64::NAN, f64::INFINITY, 100.1, -1e9] {
        let refused = sim.apply(place("box1", bad, 0.0, How::AtOnce));
        assert_eq!(refused, Err(Refusal::OutOfRange { field: "x", low: -100.0, high: 100.0 }));
    }
    for how in [
        How::Over { duration_s: f64::NAN },
        How::Over { duration_s: -1.0 },
        How::Along { path: vec![], speed: 1.0, repeat: false },
        How::Along { path: vec![[0.0, f64::NAN]], speed: 1.0, repeat: false },
        How::Along { path: vec![[0.0, 0.0]; 10_001], speed: 1.0, repeat: false },
        How::Along { path: vec![[0.0, 0.0]], speed: 0.0, repeat: false },
    ] {
        assert!(matches!(sim.apply(place("box1", 0.0, 0.0, how)), Err(Refusal::OutOfRange { .. })));
    }
    assert!(sim.save() == before, "nothing was changed");
}

#[test]
fn a_light_turns_yellow_then_red_and_refuses_commands_while_yellow() {
    let mut sim = yard(test_yard());
    assert_eq!(set_light(&mut sim, "signal1", false), Ok(Applied::Light(Lamp::Green)));
    assert_eq!(set_light(&mut sim, "signal1", true), Ok(Applied::Light(Lamp::Yellow { ticks_left: 600 })));
    let yellow = Refusal::YellowPhase { name: "signal1".into() };
    assert_eq!(set_light(&mut sim, "signal1", false), Err(yellow));
    run(&mut sim, 2.995, drive(0.0, 0.0));
    assert!(matches!(sim.snapshot().lights[0].1, Lamp::Yellow { .. }));
    sim.step(drive(0.0, 0.0));
    assert_eq!(sim.snapshot().lights[0], (index(&sim, "signal1"), Lamp::Red));
    assert_eq!(sim.events(), [SimEvent::TurnedRed(index(&sim, "signal1"))]);
    assert_eq!(sim.snapshot().lights[1].1, Lamp::Green);
    assert_eq!(set_light(&mut sim, "signal1", false), Ok(Applied::Light(Lamp::Green)));
}

#[test]
fn a_respawn_keeps_the_lights() {
    let world = test_yard().build();
    let mut old = sim(Arc::clone(&world));
    set_light(&mut old, "signal1", true).expect("the light is green");
    let mut new = sim(world);
    new.keep_lights_of(&old);
    assert_eq!(new.snapshot().lights[0].1, Lamp::Red, "a yellow one becomes red");
    assert_eq!(new.snapshot().lights[1].1, Lamp::Green);
}

#[test]
fn a_motion_over_a_duration_arrives_on_time() {
    let mut sim = yard(test_yard());
    let start = sim.apply(place("box1", 4.0, 1.0, How::Over { duration_s: 2.0 }));
    assert_eq!(start, Ok(Applied::Placed(Pose::from_xyz_yaw(2.0, 0.0, 0.1, 0.0))));
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let half = pose_of(&sim, "box1").position;
    assert!((half.x - 3.0).abs() < 1e-6 && (half.y - 0.5).abs() < 1e-6, "{half:?}");
    assert_eq!(sim.snapshot().carried, [index(&sim, "box1")]);
    let mut ended = 0;
    for _ in 0..ticks(1.0) {
        sim.step(drive(0.0, 0.0));
        ended += sim.events().iter().filter(|e| **e == SimEvent::MotionEnded(Some(0))).count();
    }
    assert_eq!(ended, 1);
    let end = pose_of(&sim, "box1").position;
    assert!((end.x - 4.0).abs() < 1e-6 && (end.y - 1.0).abs() < 1e-6, "{end:?}");
    run(&mut sim, 5.0, drive(0.0, 0.0));
    assert!((pose_of(&sim, "box1").position - end).length() < 1e-4, "and rests there");
}

#[test]
fn a_motion_along_a_path_has_its_speed_and_ends_at_the_next_command() {
    let mut sim = yard(test_yard());
    let path = vec![[3.0, 0.0], [3.0, 1.0], [2.0, 1.0], [2.0, 0.0]];
    let along = How::Along { path, speed: 0.5, repeat: true };
    let command =
        Command::Place { who: Who::Object("box1".into()), x: None, y: None, z: None, yaw: None, how: along };
    sim.apply(command).expect("a valid path");
    run(&mut sim, 8.0 + 1.0, drive(0.0, 0.0));
    let p = pose_of(&sim, "box1");
    assert!((p.position.x - 2.5).abs() < 1e-6 && p.position.y.abs() < 1e-6, "second lap: {p:?}");
    sim.apply(place("box1", 3.0, 3.0, How::AtOnce)).expect("a valid pose");
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let p = pose_of(&sim, "box1").position;
    assert!((p.x - 3.0).abs() < 1e-4 && (p.y - 3.0).abs() < 1e-4, "{p:?}");
    assert!(sim.snapshot().carried.is_empty());
}

#[test]
fn a_motion_can_carry_the_vehicle() {
    let mut sim = yard(Yard::new());
    let how = How::Along { path: vec![[2.0, 0.0], [2.0, 1.0]], speed: 1.0, repeat: false };
    let carry = Command::Place { who: Who::Vehicle, x: None, y: None, z: None, yaw: None, how };
    sim.apply(carry).expect("a valid path");
    run(&mut sim, 1.0, drive(3.0, 0.2));
    let v = sim.vehicle();
    assert!(v.carried && (v.pose.position.x - 1.0).abs() < 0.01 && (v.speed - 1.0).abs() < 0.05, "{v:?}");
    run(&mut sim, 2.5, drive(0.0, 0.0));
    let v = sim.vehicle();
    assert!(!v.carried && (v.pose.position.y - 1.0).abs() < 0.01 && v.pose.position.z.abs() < 1e-3, "{v:?}");
    run(&mut sim, 1.0, drive(1.0, 0.0));
    assert!(sim.vehicle().speed > 0.9, "drives again");
}

#[test]
fn a_carried_object_pushes_other_objects() {
    let mut sim = yard(Yard::new().block("pusher", [1.0, 1.0, 0.1], [0.2; 3], 5.0).block(
        "box1",
        [1.5, 1.0, 0.1],
        [0.2; 3],
        0.5,
    ));
    run(&mut sim, 2.0, drive(0.0, 0.0));
    sim.apply(place("pusher", 2.0, 1.0, How::Over { duration_s: 2.0 })).expect("a valid motion");
    run(&mut sim, 2.5, drive(0.0, 0.0));
    let p = pose_of(&sim, "box1").position;
    assert!((p.x - 2.2).abs() < 0.1, "{p:?}");
}

#[test]
fn reset_restores_the_initial_state_between_two_ticks() {
    let mut sim = yard(test_yard().ball("ball1", [2.0, 1.0, 0.11], 0.11, 0.2));
    let fresh = sim.snapshot();
    set_light(&mut sim, "signal1", true).expect("the light is green");
    sim.apply(place("signal2", 4.0, 4.0, How::Over { duration_s: 50.0 })).expect("a valid motion");
    run(&mut sim, 2.0, drive(2.0, 0.05));
    let tick = sim.tick();
    let Ok(Applied::Reset(names)) = sim.apply(Command::Reset) else { panic!("refused") };
    let names: Vec<&str> = names.iter().map(|&i| sim.world().objects[i].name.as_str()).collect();
    assert_eq!(names, ["box1", "signal1", "signal2", "ball1"], "all but walls");
    let reset = sim.snapshot();
    assert_eq!(reset.tick, tick, "the tick count continues");
    assert_eq!(
        (&reset.objects, &reset.vehicle, &reset.lights),
        (&fresh.objects, &fresh.vehicle, &fresh.lights)
    );
    assert!(reset.contacts.is_empty() && reset.carried.is_empty());
    run(&mut sim, 1.0, drive(0.0, 0.0));
    let drift = (sim.vehicle().pose.position - fresh.vehicle.pose.position).length();
    assert!(drift < 1e-6, "all velocities are gone: {drift}");
}

#[test]
fn every_episode_after_a_reset_is_identical() {
    let mut sim = yard(test_yard());
    let episode = |sim: &mut Sim| {
        sim.apply(Command::Reset).expect("never refused");
        run(sim, 3.0, drive(1.5, 0.12));
        let s = sim.snapshot();
        (s.vehicle, s.objects, s.contacts)
    };
    let first = episode(&mut sim);
    run(&mut sim, 1.0, drive(-2.0, -0.3));
    assert_eq!(episode(&mut sim), first);
    assert_eq!(episode(&mut sim), first);
}

#[test]
fn a_carried_car_touches_walls_and_objects() {
    let yard_ = Yard::new().wall("wall_0", [1.0, 0.0], 1.0, 2.0, 0.03, 0.25).block(
        "box1",
        [2.0, 0.0, 0.1],
        [0.2; 3],
        0.5,
    );
    let mut sim = yard(yard_.light("signal1", 3.0, 0.0, 0.0));
    let how = How::Along { path: vec![[4.0, 0.0]], speed: 1.0, repeat: false };
    sim.apply(Command::Place { who: Who::Vehicle, x: None, y: None, z: None, yaw: None, how })
        .expect("a valid path");
    run(&mut sim, 5.0, drive(0.0, 0.0));
    assert!(sim.snapshot().last_contact.iter().all(Option::is_some), "{:?}", sim.snapshot().last_contact);
}

#[test]
fn a_teleport_clears_the_contacts() {
    let mut sim = yard(Yard::new().wall("wall_0", [1.0, 0.0], std::f64::consts::FRAC_PI_2, 4.0, 0.03, 0.25));
    run(&mut sim, 2.0, drive(1.0, 0.0));
    assert_eq!(sim.snapshot().contacts, [0]);
    let saved = sim.save();
    teleport(&mut sim, Some(-5.0), None, None);
    assert!(sim.snapshot().contacts.is_empty(), "gone at once");
    sim.restore(&saved).expect("its own save");
    assert_eq!(sim.snapshot().contacts, [0], "as it was saved");
    sim.apply(Command::Reset).expect("never refused");
    let reset = sim.save();
    sim.restore(&reset).expect("its own save");
    assert!(sim.snapshot().contacts.is_empty());
}
