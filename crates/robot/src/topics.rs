//! What the stack publishes: the newest of everything.

pub use chicane_world::readings::{BatterySample as Battery, ImuSample as Imu, Scan};

/// Rate of odometry and joint states, Hz.
pub const ODOM_RATE_HZ: u32 = 30;

/// Where the car believes it is, in the frame `odom`, which is where it started. Planar.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Odom {
    /// Which one it is, from 0.
    pub sample: u64,
    /// Tick it speaks of.
    pub tick: u64,
    /// m.
    pub x: f64,
    /// m.
    pub y: f64,
    /// rad, in (−π, π].
    pub yaw: f64,
    /// m/s ahead.
    pub forward: f64,
    /// m/s to the left.
    pub sideways: f64,
    /// rad/s, + is left.
    pub turning: f64,
    /// Of x, y and yaw.
    pub pose_covariance: [[f64; 3]; 3],
    /// Of forward, sideways and turning.
    pub twist_covariance: [[f64; 3]; 3],
}

/// Angles of everything that turns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Joints {
    /// Which one it is, from 0.
    pub sample: u64,
    /// Tick it speaks of.
    pub tick: u64,
    /// How far front left, front right, rear left, rear right have turned, rad.
    pub wheel_angles: [f64; 4],
    /// rad/s.
    pub wheel_spins: [f64; 4],
    /// The steering servo, rad.
    pub steering: f64,
    /// Front left and front right, rad.
    pub front_wheels: [f64; 2],
    /// Camera, rad.
    pub pan: f64,
    /// Camera, rad.
    pub tilt: f64,
    /// By the wheels, m/s.
    pub speed: f64,
}

/// The newest of everything. What has not come yet is `None`.
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
