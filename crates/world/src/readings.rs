//! The data that the simulated car and its stack exchange: sensor readings with their sample
//! numbers, and actuator targets.
//!
//! The readings do not contain the true pose, because a real robot does not know its true pose.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Ticks per simulated second. Readings and actuator targets are exchanged once per tick.
pub const TICKS_PER_SECOND: u64 = 200;
/// Duration of a tick, in simulated seconds.
pub const TICK_S: f64 = 1.0 / TICKS_PER_SECOND as f64;

/// The tick at which sample `k` of a sensor is taken: `ceil(200·k / rate)`.
pub fn sample_tick(k: u64, rate_hz: u32) -> u64 {
    (TICKS_PER_SECOND * k).div_ceil(u64::from(rate_hz))
}

/// The number of the sample that a sensor takes at `tick`. The result is `None` if the sensor takes
/// no sample at this tick.
pub fn sample_at(tick: u64, rate_hz: u32) -> Option<u64> {
    let k = tick * u64::from(rate_hz) / TICKS_PER_SECOND;
    (sample_tick(k, rate_hz) == tick).then_some(k)
}

/// Targets of the actuators for one tick.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Drive {
    /// Target wheel speed, in m/s.
    pub speed: f64,
    /// Target steering angle of the virtual centre wheel, in rad. Positive means left.
    pub steering: f64,
    /// Target pan angle of the camera, in rad. Positive means left.
    pub pan: f64,
    /// Target tilt angle of the camera, in rad. Positive means up.
    pub tilt: f64,
}

/// Sensor readings at one tick. A sensor that takes no sample at this tick has the value `None`.
#[derive(Debug, Clone, Copy)]
pub struct Readings<'a> {
    /// The tick at which the samples were taken.
    pub tick: u64,
    /// Scan of the lidar.
    pub lidar: Option<&'a Scan>,
    /// Sample of the gyro and the accelerometer.
    pub imu: Option<ImuSample>,
    /// Readings of the encoders. The readings have no noise, and the encoders take a sample at
    /// every tick.
    pub wheels: Wheels,
    /// Sample of the battery.
    pub battery: Option<BatterySample>,
}

/// One revolution of the lidar. The angle of beam `i` of `n` is `-π + i·2π/n`, counter-clockwise
/// seen from above.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scan {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Range of each beam, in m. The range is infinite if the beam hits nothing between the minimum
    /// and the maximum range, or if the noise moves the range beyond one of these limits.
    pub ranges: Vec<f32>,
}

/// One sample of the inertial measurement unit, in the car's frame.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ImuSample {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Mean specific force since the previous sample, in m/s². If the car is at rest, the vector
    /// points upwards and its length is the gravitational acceleration.
    pub acceleration: DVec3,
    /// Mean angular velocity since the previous sample, in rad/s.
    pub angular_velocity: DVec3,
}

/// One sample of the battery state.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BatterySample {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Voltage, in V.
    pub voltage: f64,
    /// Charge, from 0 to 100 %.
    pub percentage: f64,
    /// Current, in A. The current is negative while the battery discharges.
    pub current: f64,
}

/// Readings of the encoders of wheels and servos.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Wheels {
    /// Angular velocity of the front left, front right, rear left and rear right wheel, in rad/s.
    pub spin: [f64; 4],
    /// Angle of the steering servo, in rad. Positive means left.
    pub steering: f64,
    /// Angle of the camera's pan servo, in rad. Positive means left.
    pub pan: f64,
    /// Angle of the camera's tilt servo, in rad. Positive means up.
    pub tilt: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_at_is_the_inverse_of_sample_tick() {
        for rate in [1, 10, 15, 30, 50, 200] {
            let ticks: Vec<u64> = (0..=4000).filter(|&t| sample_at(t, rate).is_some()).collect();
            let expected: Vec<u64> = (0..).map(|k| sample_tick(k, rate)).take_while(|&t| t <= 4000).collect();
            assert_eq!(ticks, expected, "{rate} Hz");
        }
        assert_eq!(sample_tick(1, 15), 14);
        assert_eq!(sample_tick(3, 15), 40);
    }
}
