//! What the robot's sensors say.

use crate::named::Named;
use crate::num::Num;
use crate::step::Xyz;
use serde::Serialize;
use utoipa::ToSchema;

/// Answer of `GET /odom`: where the car believes it is, from lidar and gyro alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Odometry {
    /// m, from where it started.
    pub position: Xyz,
    /// Heading.
    pub orientation: Heading,
    /// How it moves.
    pub velocity: Velocity,
    /// Always `odom`.
    pub frame_id: &'static str,
}

/// A heading, twice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Heading {
    /// Degrees, + is left.
    pub yaw: Num,
    /// The same.
    pub quaternion: Quaternion,
}

/// A rotation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Quaternion {
    /// First component.
    pub x: Num,
    /// Second component.
    pub y: Num,
    /// Third component.
    pub z: Num,
    /// Real part.
    pub w: Num,
}

impl Quaternion {
    /// No rotation.
    pub const NONE: Quaternion = Quaternion { x: Num(0.0), y: Num(0.0), z: Num(0.0), w: Num(1.0) };
}

/// How the car moves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Velocity {
    /// m/s, + is ahead.
    pub linear: Num,
    /// rad/s, + is left.
    pub angular: Num,
}

/// Answer of `GET /imu`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Inertial {
    /// m/s²; at rest +g upwards.
    pub acceleration: Xyz,
    /// rad/s.
    pub gyro: Xyz,
    /// Always none: it is not measured.
    pub orientation: Quaternion,
}

/// Answer of `GET /battery`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Battery {
    /// V.
    pub voltage: Num,
    /// Charge, 0 to 100.
    pub percentage: Num,
    /// A; negative while it gives.
    pub current: Num,
    /// Whether it is being charged.
    pub charging: bool,
    /// Whether there is one.
    pub present: bool,
}

/// Answer of `GET /lidar`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LidarScan {
    /// Degrees from key to key.
    pub step: Num,
    /// Number of keys.
    pub count: usize,
    /// m.
    pub range_min: Num,
    /// m.
    pub range_max: Num,
    /// m by degrees, + is left; null where nothing was hit.
    #[schema(value_type = std::collections::BTreeMap<String, Option<f64>>)]
    pub ranges: Named<String, Option<Num>>,
    /// About the scan.
    pub meta: ScanMeta,
}

/// About a scan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct ScanMeta {
    /// Simulated seconds at which it was taken.
    pub time: Num,
    /// Always `lidar_link`.
    pub frame_id: &'static str,
    /// Beams over the full circle.
    pub beams: u32,
    /// Degrees from beam to beam.
    pub angle_increment: Num,
    /// Scans a simulated second.
    pub rate: u32,
    /// Which scan it is, from 0.
    pub sample: u64,
}

/// Least and greatest `step` of `GET /lidar`, degrees.
pub const LIDAR_STEP: [f64; 2] = [0.5, 30.0];

/// Angles of everything that turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct JointAngles {
    /// How far front left, front right, rear left, rear right have turned, rad.
    pub wheel_angles: [Num; 4],
    /// rad/s.
    pub wheel_spins: [Num; 4],
    /// Front left and front right, rad.
    pub front_wheels: [Num; 2],
    /// The steering servo, rad, + is left.
    pub steering: Num,
    /// Camera, rad, + is left.
    pub pan: Num,
    /// Camera, rad, + is up.
    pub tilt: Num,
}
