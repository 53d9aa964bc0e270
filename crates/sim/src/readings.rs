//! What the robot's body tells its on-board stack, and what the stack asks of the body.
//!
//! There is no true pose in here: the robot does not know it.

use glam::DVec3;
use serde::{Deserialize, Serialize};

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
    /// rad/s.
    pub angular_velocity: DVec3,
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
