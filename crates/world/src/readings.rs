//! What the robot's body tells its on-board stack, what the stack asks of the body, and when.
//!
//! There is no true pose in here: the robot does not know it.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Ticks in a second: the body listens and speaks this often.
pub const TICKS_PER_SECOND: u64 = 200;
/// Seconds in a tick.
pub const TICK_S: f64 = 1.0 / TICKS_PER_SECOND as f64;

/// Tick of sample `k` of a sensor: `ceil(200·k / rate)`.
pub fn sample_tick(k: u64, rate_hz: u32) -> u64 {
    (TICKS_PER_SECOND * k).div_ceil(u64::from(rate_hz))
}

/// Which sample of a sensor falls on a tick, if any.
pub fn sample_at(tick: u64, rate_hz: u32) -> Option<u64> {
    let k = tick * u64::from(rate_hz) / TICKS_PER_SECOND;
    (sample_tick(k, rate_hz) == tick).then_some(k)
}

/// What actuators are asked for, held until the next tick's.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Drive {
    /// Wheel speed, m/s.
    pub speed: f64,
    /// Angle of the virtual centre wheel, rad, + is left.
    pub steering: f64,
    /// Camera pan, rad, + is left.
    pub pan: f64,
    /// Camera tilt, rad, + is up.
    pub tilt: f64,
}

/// Readings at one tick. A sensor that has no sample on this tick gives `None`.
#[derive(Debug, Clone, Copy)]
pub struct Readings<'a> {
    /// The tick they belong to.
    pub tick: u64,
    /// Laser scan.
    pub lidar: Option<&'a Scan>,
    /// Gyro and accelerometer.
    pub imu: Option<ImuSample>,
    /// Encoders, exact, every tick.
    pub wheels: Wheels,
    /// Battery.
    pub battery: Option<BatterySample>,
}

/// One turn of the lidar. Beam `i` looks at `-π + i·2π/n`, counter-clockwise from above.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scan {
    /// Which scan it is, from 0.
    pub sample: u64,
    /// Metres; infinite where nothing was hit within the limits.
    pub ranges: Vec<f32>,
}

/// One sample of the inertial measurement unit, in the car's frame.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ImuSample {
    /// Which sample it is, from 0.
    pub sample: u64,
    /// Specific force, m/s²: at rest +g upwards. The mean since the sample before.
    pub acceleration: DVec3,
    /// rad/s. The mean since the sample before.
    pub angular_velocity: DVec3,
}

/// One look at the battery.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BatterySample {
    /// Which sample it is, from 0.
    pub sample: u64,
    /// V.
    pub voltage: f64,
    /// Charge, 0 to 100.
    pub percentage: f64,
    /// A; negative while it gives.
    pub current: f64,
}

/// Encoders.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Wheels {
    /// Spin of front left, front right, rear left, rear right, rad/s.
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
    fn samples_fall_on_the_ticks_of_the_contract() {
        for rate in [1, 10, 15, 30, 50, 200] {
            let ticks: Vec<u64> = (0..=4000).filter(|&t| sample_at(t, rate).is_some()).collect();
            let wanted: Vec<u64> = (0..).map(|k| sample_tick(k, rate)).take_while(|&t| t <= 4000).collect();
            assert_eq!(ticks, wanted, "{rate} Hz");
        }
        assert_eq!(sample_tick(1, 15), 14);
        assert_eq!(sample_tick(3, 15), 40);
    }
}
