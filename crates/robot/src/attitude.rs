//! The orientation of the car from gyro and accelerometer.
//!
//! The filter integrates the gyro. While the length of the measured acceleration is close to
//! gravity, roll and pitch are pulled towards the measured direction of gravity. Nothing corrects
//! the yaw, which is relative to the start. The calculation needs only basic operations and square
//! roots, so its result is the same on every machine.

use chicane_world::readings::{ImuSample, TICK_S};
use glam::{DQuat, DVec3};

/// Gravitational acceleration, m/s².
const GRAVITY: f64 = 9.81;
/// The filter uses the accelerometer as the direction of gravity if the length of the measured
/// vector differs from gravity by less than this, m/s².
const STEADY: f64 = 0.5;
/// Rate at which roll and pitch approach the measured direction, 1/s.
const PULL: f64 = 0.5;

/// The estimator of the orientation.
#[derive(Debug, Clone)]
pub(crate) struct Attitude {
    /// Rotation from the car's frame to the frame of the start.
    orientation: DQuat,
    /// Tick of the last sample; `None` before the first sample.
    tick: Option<u64>,
}

impl Attitude {
    /// An estimator of a car that stands level.
    pub(crate) fn new() -> Attitude {
        Attitude { orientation: DQuat::IDENTITY, tick: None }
    }

    /// Processes a sample and returns the orientation at its tick.
    pub(crate) fn add_imu_sample(&mut self, imu: &ImuSample, tick: u64) -> DQuat {
        if !(imu.acceleration.is_finite() && imu.angular_velocity.is_finite()) {
            return self.orientation;
        }
        let last = self.tick.replace(tick).unwrap_or(tick);
        let dt = tick.saturating_sub(last) as f64 * TICK_S;
        let mut rate = imu.angular_velocity;
        let force = imu.acceleration.length();
        if (force - GRAVITY).abs() < STEADY {
            let up = self.orientation.conjugate() * DVec3::Z;
            rate += (imu.acceleration / force).cross(up) * PULL;
        }
        let half = rate * (0.5 * dt);
        let step = self.orientation * DQuat::from_xyzw(half.x, half.y, half.z, 0.0);
        let next = self.orientation + step;
        if next.is_finite() && next.length_squared() > 0.0 {
            self.orientation = next.normalize();
        }
        self.orientation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(acceleration: DVec3, angular_velocity: DVec3) -> ImuSample {
        ImuSample { sample: 0, acceleration, angular_velocity }
    }

    /// The orientation after `seconds` of equal samples at 50 Hz.
    fn after(seconds: f64, imu: &ImuSample) -> DQuat {
        let mut attitude = Attitude::new();
        for tick in (0..=(seconds / TICK_S) as u64).step_by(4) {
            attitude.add_imu_sample(imu, tick);
        }
        attitude.orientation
    }

    #[test]
    fn the_yaw_is_the_integral_of_the_gyro() {
        let turned = after(1.0, &sample(DVec3::Z * GRAVITY, DVec3::Z * 1.5)) * DVec3::X;
        let expected = DVec3::new(libm::cos(1.5), libm::sin(1.5), 0.0);
        assert!((turned - expected).length() < 1e-3, "{turned}");
    }

    #[test]
    fn a_car_on_a_slope_finds_its_pitch_and_an_accelerating_car_keeps_it() {
        // The nose points up by 0.2 rad, so gravity pulls towards the rear. The accelerometer
        // measures the opposite of gravity.
        let slope = DVec3::new(libm::sin(0.2), 0.0, libm::cos(0.2)) * GRAVITY;
        let ahead = after(30.0, &sample(slope, DVec3::ZERO)) * DVec3::X;
        assert!((ahead.z - libm::sin(0.2)).abs() < 1e-3, "{ahead}");
        let accelerating = DVec3::new(5.0, 0.0, GRAVITY);
        assert_eq!(after(5.0, &sample(accelerating, DVec3::ZERO)), DQuat::IDENTITY);
    }

    #[test]
    fn a_sample_that_is_not_finite_is_ignored() {
        let mut attitude = Attitude::new();
        attitude.add_imu_sample(&sample(DVec3::Z * GRAVITY, DVec3::ZERO), 0);
        let bad = sample(DVec3::NAN, DVec3::INFINITY);
        assert_eq!(attitude.add_imu_sample(&bad, 4), DQuat::IDENTITY);
    }
}
