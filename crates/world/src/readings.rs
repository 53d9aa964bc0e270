//! The data that the simulated car and its on-board stack exchange: sensor readings and actuator
//! targets, with their sample times.
//!
//! The readings do not contain the true pose, because a real robot does not know it.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Ticks per simulated second. Readings and actuator targets are exchanged once per tick.
pub const TICKS_PER_SECOND: u64 = 200;
/// Duration of a tick, in simulated seconds.
pub const TICK_S: f64 = 1.0 / TICKS_PER_SECOND as f64;

/// Tick of sample `k` of a sensor: `ceil(200·k / rate)`.
pub fn sample_tick(k: u64, rate_hz: u32) -> u64 {
    (TICKS_PER_SECOND * k).div_ceil(u64::from(rate_hz))
}

/// The sample of a sensor that falls on a tick, if any.
pub fn sample_at(tick: u64, rate_hz: u32) -> Option<u64> {
    let k = tick * u64::from(rate_hz) / TICKS_PER_SECOND;
    (sample_tick(k, rate_hz) == tick).then_some(k)
}

/// Targets of the actuators for one tick.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Drive {
    /// Wheel speed, m/s.
    pub speed: f64,
    /// Steering angle of the virtual centre wheel, rad; positive is left.
    pub steering: f64,
    /// Camera pan, rad; positive is left.
    pub pan: f64,
    /// Camera tilt, rad; positive is up.
    pub tilt: f64,
}

/// Readings at one tick. A sensor without a sample on this tick gives `None`.
#[derive(Debug, Clone, Copy)]
pub struct Readings<'a> {
    /// Tick of the readings.
    pub tick: u64,
    /// Laser scan.
    pub lidar: Option<&'a Scan>,
    /// Gyro and accelerometer.
    pub imu: Option<ImuSample>,
    /// Encoders: exact, and sampled on every tick.
    pub wheels: Wheels,
    /// Battery.
    pub battery: Option<BatterySample>,
}

/// One revolution of the lidar. Beam `i` points to `-π + i·2π/n`, counter-clockwise from above.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scan {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Ranges, m; infinite for a beam without a hit between the minimum and maximum range.
    pub ranges: Vec<f32>,
}

/// One sample of the inertial measurement unit, in the car's frame.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ImuSample {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Mean specific force since the previous sample, m/s². At rest it is +g upwards.
    pub acceleration: DVec3,
    /// Mean angular velocity since the previous sample, rad/s.
    pub angular_velocity: DVec3,
}

/// One sample of the battery state.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BatterySample {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Voltage, V.
    pub voltage: f64,
    /// Charge, 0 to 100 %.
    pub percentage: f64,
    /// Current, A; negative while the battery discharges.
    pub current: f64,
}

/// Readings of the wheel and servo encoders.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Wheels {
    /// Angular velocity of the front left, front right, rear left and rear right wheel, rad/s.
    pub spin: [f64; 4],
    /// Angle of the steering servo, rad.
    pub steering: f64,
    /// Angle of the camera's pan servo, rad.
    pub pan: f64,
    /// Angle of the camera's tilt servo, rad.
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
