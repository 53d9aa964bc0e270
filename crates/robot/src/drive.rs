//! Arbitration of drive commands. The newest command wins, a speed expires, and a steering angle
//! stays.
//!
//! Each of the four axes has one command. A command can have a tick at which it ends. Every command
//! has a serial number, so that its sender can check later whether the command is still in force.

use chicane_world::Profile;
pub use chicane_world::readings::Drive;
use chicane_world::readings::TICKS_PER_SECOND;
use serde::{Deserialize, Serialize};

/// A speed that is not refreshed for this many ticks expires.
const SPEED_LASTS_TICKS: u64 = TICKS_PER_SECOND;
/// The command of a disconnected client expires after at most this many ticks.
const RELEASED_LASTS_TICKS: u64 = 7 * TICKS_PER_SECOND / 10;
/// A linear velocity up to this limit (m/s) counts as zero when the steering angle of a twist is
/// computed. In this case, an angular velocity up to this limit (rad/s) counts as zero too. A twist
/// in which both count as zero sets speed and steering angle to zero.
const STILL: f64 = 0.01;

/// The quantities that can be commanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    /// Speed, m/s.
    Speed,
    /// Steering angle, rad.
    Steering,
    /// Pan angle of the camera, rad.
    Pan,
    /// Tilt angle of the camera, rad.
    Tilt,
}

/// The command of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct AxisCommand {
    value: f64,
    serial: u64,
    ends: Option<u64>,
}

impl AxisCommand {
    fn at(&self, tick: u64) -> f64 {
        if self.ends.is_some_and(|ends| tick >= ends) { 0.0 } else { self.value }
    }
}

/// The state of a timed speed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// The speed is in force.
    Going,
    /// The command has ended, and the commanded speed is zero.
    Stopped,
    /// A newer command replaced the speed.
    Superseded,
}

/// The commands in force.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arbiter {
    held: [AxisCommand; 4],
    limits: [f64; 4],
    wheelbase: f64,
    serial: u64,
}

impl Arbiter {
    pub(crate) fn new(profile: &Profile) -> Arbiter {
        let (drive, camera) = (&profile.drive, &profile.camera);
        let limits = [drive.max_speed_mps, drive.max_steering_rad, camera.max_pan_rad, camera.max_tilt_rad];
        Arbiter { held: [AxisCommand::default(); 4], limits, wheelbase: profile.wheelbase_m, serial: 0 }
    }

    /// Sets the command of an axis. The command ends at the tick `ends`; `None` means that it does
    /// not end by itself. Returns the serial number and the value of the command. The value is
    /// clamped to the car's limits, and a value that is not finite becomes zero.
    pub(crate) fn set(&mut self, axis: Axis, value: f64, ends: Option<u64>) -> (u64, f64) {
        self.serial += 1;
        let limit = self.limits[axis as usize];
        let value = if value.is_finite() { value.clamp(-limit, limit) } else { 0.0 };
        self.held[axis as usize] = AxisCommand { value, serial: self.serial, ends };
        (self.serial, value)
    }

    /// Sets a speed that expires unless it is refreshed.
    pub(crate) fn speed(&mut self, value: f64, tick: u64) -> (u64, f64) {
        self.set(Axis::Speed, value, Some(tick + SPEED_LASTS_TICKS))
    }

    /// Sets speed and steering from a twist: its linear velocity in m/s and its angular velocity in
    /// rad/s.
    pub(crate) fn twist(&mut self, linear: f64, angular: f64, tick: u64) {
        let full = self.limits[Axis::Steering as usize];
        let (speed, steering) = if linear.abs() > STILL {
            (linear, libm::atan(angular * self.wheelbase / linear))
        } else if angular.abs() > STILL {
            (linear, full.copysign(angular))
        } else {
            (0.0, 0.0)
        };
        self.speed(speed, tick);
        self.set(Axis::Steering, steering, None);
    }

    /// Handles the disconnection of the client that sent a command. The command expires after at
    /// most [`RELEASED_LASTS_TICKS`], unless a newer command replaced it.
    pub(crate) fn release(&mut self, axis: Axis, serial: u64, tick: u64) {
        self.end_by(axis, serial, tick + RELEASED_LASTS_TICKS);
    }

    /// Ends a command now, unless a newer command replaced it.
    pub(crate) fn end(&mut self, axis: Axis, serial: u64, tick: u64) {
        self.end_by(axis, serial, tick);
    }

    fn end_by(&mut self, axis: Axis, serial: u64, by: u64) {
        let held = &mut self.held[axis as usize];
        if held.serial == serial {
            held.ends = Some(held.ends.map_or(by, |ends| ends.min(by)));
        }
    }

    /// The state of a timed speed command.
    pub(crate) fn hold(&self, serial: u64, tick: u64) -> Hold {
        let held = &self.held[Axis::Speed as usize];
        match held.ends {
            _ if held.serial != serial => Hold::Superseded,
            Some(ends) if tick < ends => Hold::Going,
            _ => Hold::Stopped,
        }
    }

    /// Removes all commands.
    pub(crate) fn clear(&mut self) {
        self.serial += 1;
        self.held = [AxisCommand { serial: self.serial, ..AxisCommand::default() }; 4];
    }

    /// The actuator commands at a tick.
    pub(crate) fn at(&self, tick: u64) -> Drive {
        let [speed, steering, pan, tilt] = self.held.each_ref().map(|held| held.at(tick));
        Drive { speed, steering, pan, tilt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arbiter() -> Arbiter {
        Arbiter::new(&Profile::gen1())
    }

    #[test]
    fn a_speed_expires_and_steering_stays() {
        let mut arbiter = arbiter();
        assert_eq!(arbiter.at(0), Drive::default());
        arbiter.speed(1.0, 10);
        arbiter.set(Axis::Steering, 0.2, None);
        assert_eq!((arbiter.at(209).speed, arbiter.at(209).steering), (1.0, 0.2));
        assert_eq!((arbiter.at(210).speed, arbiter.at(210).steering), (0.0, 0.2));
        arbiter.set(Axis::Steering, -0.1, None);
        assert_eq!((arbiter.at(209).speed, arbiter.at(210).speed), (1.0, 0.0), "steering does not refresh");
        assert_eq!(arbiter.at(1_000_000).steering, -0.1);
    }

    #[test]
    fn values_are_clamped_to_the_limits_of_the_car() {
        let mut arbiter = arbiter();
        assert_eq!(arbiter.speed(1e300, 0).1, 3.0);
        assert_eq!(arbiter.speed(f64::NAN, 0).1, 0.0);
        assert_eq!(arbiter.set(Axis::Steering, -9.0, None).1, -0.3491);
        let camera = Profile::gen1().camera;
        assert_eq!(arbiter.set(Axis::Pan, 9.0, None).1, camera.max_pan_rad);
        assert_eq!(arbiter.set(Axis::Tilt, -9.0, None).1, -camera.max_tilt_rad);
    }

    #[test]
    fn a_speed_with_a_duration_ends_on_time_or_when_it_is_replaced() {
        let mut arbiter = arbiter();
        let (held, _) = arbiter.set(Axis::Speed, 1.0, Some(1000));
        assert_eq!((arbiter.at(999).speed, arbiter.hold(held, 999)), (1.0, Hold::Going));
        assert_eq!((arbiter.at(1000).speed, arbiter.hold(held, 1000)), (0.0, Hold::Stopped));
        arbiter.set(Axis::Steering, 0.1, None);
        assert_eq!(arbiter.hold(held, 500), Hold::Going, "steering does not replace a speed");
        arbiter.speed(0.5, 500);
        assert_eq!(arbiter.hold(held, 500), Hold::Superseded);
        assert_eq!(arbiter.at(501).speed, 0.5);
        let (held, _) = arbiter.set(Axis::Speed, 1.0, Some(1000));
        arbiter.clear();
        assert_eq!((arbiter.hold(held, 1), arbiter.at(1)), (Hold::Superseded, Drive::default()));
    }

    #[test]
    fn a_released_command_expires_unless_it_was_replaced() {
        let mut arbiter = arbiter();
        let (mine, _) = arbiter.set(Axis::Steering, 0.3, None);
        arbiter.release(Axis::Steering, mine, 100);
        assert_eq!((arbiter.at(239).steering, arbiter.at(240).steering), (0.3, 0.0));
        let (mine, _) = arbiter.set(Axis::Steering, 0.3, None);
        arbiter.set(Axis::Steering, 0.2, None);
        arbiter.release(Axis::Steering, mine, 100);
        assert_eq!(arbiter.at(10_000).steering, 0.2);
        let (mine, _) = arbiter.speed(1.0, 100);
        arbiter.release(Axis::Speed, mine, 250);
        assert_eq!(arbiter.at(300).speed, 0.0, "a release does not extend a command");
    }

    #[test]
    fn a_twist_gives_the_steering_angle_of_its_circle() {
        let mut arbiter = arbiter();
        let mut twist = |v, w| {
            arbiter.twist(v, w, 0);
            let at = arbiter.at(0);
            (at.speed, at.steering)
        };
        assert_eq!(twist(1.0, 0.0), (1.0, 0.0));
        let (speed, steering) = twist(1.0, 1.0);
        assert!(speed == 1.0 && (libm::tan(steering) - 0.18).abs() < 1e-12);
        assert!(twist(-1.0, 1.0).1 < 0.0, "in reverse to the other side");
        assert_eq!(twist(0.0, 0.5), (0.0, 0.3491));
        assert_eq!(twist(0.005, -0.5).1, -0.3491);
        assert_eq!(twist(0.0, 0.0), (0.0, 0.0));
    }
}
