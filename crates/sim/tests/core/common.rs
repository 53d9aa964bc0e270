//! Helpers that the tests share.

use chicane_sim::{Applied, Command, Drive, How, Sim, Who};
use chicane_testkit::Yard;
use chicane_world::{Pose, Profile, World};
use std::sync::Arc;

/// Gravitational acceleration, m/s².
pub(crate) const G: f64 = 9.81;

/// A simulation of a world with the default car.
pub(crate) fn sim(world: Arc<World>) -> Sim {
    Sim::new(world, Arc::new(Profile::gen1()), 0)
}

/// A simulation of a yard with the default car.
pub(crate) fn yard(yard: Yard) -> Sim {
    sim(yard.build())
}

/// Number of ticks in `seconds`.
pub(crate) fn ticks(seconds: f64) -> usize {
    (seconds * 200.0).round() as usize
}

/// A drive command with this speed (m/s) and steering (rad).
pub(crate) fn drive(speed: f64, steering: f64) -> Drive {
    Drive { speed, steering, ..Drive::default() }
}

/// Steps for `seconds` of simulated time.
pub(crate) fn run(sim: &mut Sim, seconds: f64, drive: Drive) {
    for _ in 0..ticks(seconds) {
        sim.step(drive);
    }
}

/// Places the car immediately. Fields that are `None` keep their value.
pub(crate) fn teleport(sim: &mut Sim, x: Option<f64>, y: Option<f64>, yaw: Option<f64>) -> Pose {
    let command = Command::Place { who: Who::Vehicle, x, y, z: None, yaw, how: How::AtOnce };
    match sim.apply(command) {
        Ok(Applied::Placed(pose)) => pose,
        other => panic!("teleport: {other:?}"),
    }
}

/// A pose command for an object.
pub(crate) fn place(name: &str, x: f64, y: f64, how: How) -> Command {
    Command::Place { who: Who::Object(name.to_owned()), x: Some(x), y: Some(y), z: None, yaw: None, how }
}

/// Index of an object.
pub(crate) fn index(sim: &Sim, name: &str) -> usize {
    sim.world().object(name).unwrap_or_else(|| panic!("no object {name}"))
}

/// Pose of an object.
pub(crate) fn pose_of(sim: &Sim, name: &str) -> Pose {
    sim.snapshot().objects[index(sim, name)]
}

/// Whether the car touched an object in the last tick.
pub(crate) fn touches(sim: &Sim, name: &str) -> bool {
    sim.snapshot().contacts.contains(&index(sim, name))
}
