//! The topics of the stack, with the newest message of each topic.

pub use chicane_world::readings::{BatterySample as Battery, Scan};
use glam::{DQuat, DVec3};

/// Rate of odometry and joint states, Hz.
pub const ODOM_RATE_HZ: u32 = 30;

/// Estimated planar pose and velocity of the car. The origin of the frame `odom` is the pose at
/// which the stack started.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Odom {
    /// Number of the message, from 0.
    pub sample: u64,
    /// Tick for which the values are valid.
    pub tick: u64,
    /// Position along x in the frame `odom`, m.
    pub x: f64,
    /// Position along y in the frame `odom`, m.
    pub y: f64,
    /// Heading in rad, from −π to π.
    pub yaw: f64,
    /// Forward speed, m/s.
    pub forward: f64,
    /// Speed to the left, m/s.
    pub sideways: f64,
    /// Turn rate in rad/s, positive to the left.
    pub turning: f64,
    /// Covariance of x, y and yaw.
    pub pose_covariance: [[f64; 3]; 3],
    /// Covariance of forward, sideways and turning.
    pub twist_covariance: [[f64; 3]; 3],
}

/// Gyro and accelerometer, with the orientation that the stack computes from them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Imu {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Mean specific force since the previous sample in the car's frame, m/s².
    pub acceleration: DVec3,
    /// Mean angular velocity since the previous sample in the car's frame, rad/s.
    pub angular_velocity: DVec3,
    /// Rotation from the car's frame to a level frame. Its yaw is relative to the start.
    pub orientation: DQuat,
}

/// Angles and velocities of the joints.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Joints {
    /// Number of the message, from 0.
    pub sample: u64,
    /// Tick for which the values are valid.
    pub tick: u64,
    /// Rotation angles of the front left, front right, rear left and rear right wheel, rad.
    pub wheel_angles: [f64; 4],
    /// Angular velocity of each wheel, rad/s.
    pub wheel_spins: [f64; 4],
    /// Angle of the steering servo, rad.
    pub steering: f64,
    /// Steering angles of the front left and front right wheel, rad.
    pub front_wheels: [f64; 2],
    /// Pan angle of the camera, rad.
    pub pan: f64,
    /// Tilt angle of the camera, rad.
    pub tilt: f64,
    /// Speed computed from the wheels, m/s.
    pub speed: f64,
}

/// The newest message of every topic; `None` before the first message of a topic.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Topics {
    /// Odometry, 30 Hz.
    pub odom: Option<Odom>,
    /// Odometry at the tick of each scan.
    pub laser: Option<Odom>,
    /// Joint states, 30 Hz.
    pub joints: Option<Joints>,
    /// Laser scan.
    pub scan: Option<Scan>,
    /// Gyro and accelerometer.
    pub imu: Option<Imu>,
    /// Battery.
    pub battery: Option<Battery>,
}
