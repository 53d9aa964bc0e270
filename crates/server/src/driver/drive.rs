//! The drive command in force: the newest wins, a speed runs out, steering stays.

use chicane_sim::{Drive, TICKS_PER_SECOND};

/// A speed that is not refreshed for this long ends.
const SPEED_LASTS_TICKS: u64 = TICKS_PER_SECOND;

/// What the car was last asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct DriveCommand {
    speed: f64,
    steering: f64,
    speed_ends: u64,
}

impl DriveCommand {
    /// A newer command, at a tick. What is omitted stays as it was.
    pub(crate) fn ask(&mut self, speed: Option<f64>, steering: Option<f64>, tick: u64) {
        if let Some(speed) = speed {
            self.speed = speed;
            self.speed_ends = tick + SPEED_LASTS_TICKS;
        }
        self.steering = steering.unwrap_or(self.steering);
    }

    /// What the actuators are asked for at a tick.
    pub(crate) fn at(&self, tick: u64) -> Drive {
        let speed = if tick < self.speed_ends { self.speed } else { 0.0 };
        Drive { speed, steering: self.steering, ..Drive::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_runs_out_and_steering_stays() {
        let mut command = DriveCommand::default();
        assert_eq!(command.at(0), Drive::default());
        command.ask(Some(1.0), Some(0.2), 10);
        assert_eq!((command.at(209).speed, command.at(209).steering), (1.0, 0.2));
        assert_eq!((command.at(210).speed, command.at(210).steering), (0.0, 0.2));
        command.ask(None, Some(-0.1), 150);
        assert_eq!((command.at(209).speed, command.at(210).speed), (1.0, 0.0), "steering refreshes no speed");
    }
}
