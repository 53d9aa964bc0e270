//! Readings of the robot's sensors.

use crate::named::Named;
use crate::num::Num;
use crate::step::Xyz;
use serde::Serialize;
use utoipa::ToSchema;

/// Response of `GET /odom`: estimated pose from lidar and gyro alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Odometry {
    /// Position relative to the start, m.
    pub position: Xyz,
    /// Orientation of the car.
    pub orientation: Heading,
    /// Velocity of the car.
    pub velocity: Velocity,
    /// Always `odom`.
    pub frame_id: &'static str,
}

/// Orientation of the car in two notations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Heading {
    /// Yaw, degrees, positive to the left.
    pub yaw: Num,
    /// The same orientation as a quaternion.
    pub quaternion: Quaternion,
}

/// A rotation as a unit quaternion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Quaternion {
    /// X component.
    pub x: Num,
    /// Y component.
    pub y: Num,
    /// Z component.
    pub z: Num,
    /// Real part.
    pub w: Num,
}

impl Quaternion {
    /// The identity rotation.
    pub const NONE: Quaternion = Quaternion { x: Num(0.0), y: Num(0.0), z: Num(0.0), w: Num(1.0) };
}

/// Velocity of the car.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Velocity {
    /// Forward speed, m/s.
    pub linear: Num,
    /// Yaw rate, rad/s, positive to the left.
    pub angular: Num,
}

/// Response of `GET /imu`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Inertial {
    /// Acceleration, m/s². At rest it is +g upwards.
    pub acceleration: Xyz,
    /// Turn rate about each axis, rad/s.
    pub gyro: Xyz,
    /// Orientation that the car's filter computes from gyro and accelerometer. Its yaw is relative to
    /// the start.
    pub orientation: Quaternion,
}

/// Response of `GET /battery`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Battery {
    /// Voltage, V.
    pub voltage: Num,
    /// Charge, percent.
    pub percentage: Num,
    /// Current, A; negative while the battery discharges.
    pub current: Num,
    /// Whether the battery is charging.
    pub charging: bool,
    /// Whether the car has a battery.
    pub present: bool,
}

/// Response of `GET /lidar`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LidarScan {
    /// Angle between neighbouring keys of `ranges`, degrees.
    pub step: Num,
    /// Number of keys of `ranges`.
    pub count: usize,
    /// Shortest measurable distance, m.
    pub range_min: Num,
    /// Longest measurable distance, m.
    pub range_max: Num,
    /// Distance in metres for each angle in degrees; null if no distance from `range_min` to
    /// `range_max` was measured. Positive angles are to the left.
    #[schema(value_type = std::collections::BTreeMap<String, Option<f64>>)]
    pub ranges: Named<String, Option<Num>>,
    /// Time and geometry of the scan.
    pub meta: ScanMeta,
}

/// Time and geometry of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct ScanMeta {
    /// Simulated time of the scan, s.
    pub time: Num,
    /// Always `lidar_link`.
    pub frame_id: &'static str,
    /// Number of beams over the full circle.
    pub beams: u32,
    /// Angle between neighbouring beams, degrees.
    pub angle_increment: Num,
    /// Scans per simulated second.
    pub rate: u32,
    /// Index of the scan, from 0.
    pub sample: u64,
    /// Units of keys and values of `ranges`.
    pub units: ScanUnits,
    /// Text that says in which direction the angle is 0, and on which side it is positive.
    pub orientation: &'static str,
}

/// Units of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScanUnits {
    /// Always `degrees`.
    pub angle: &'static str,
    /// Always `metres`.
    pub range: &'static str,
}

/// Smallest and largest accepted `step` of `GET /lidar`, degrees.
pub const LIDAR_STEP: [f64; 2] = [0.5, 30.0];

/// Angles of all joints.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct JointAngles {
    /// Total rotation of each wheel, rad: front left, front right, rear left, rear right.
    pub wheel_angles: [Num; 4],
    /// Angular speed of each wheel, rad/s, in the same order.
    pub wheel_spins: [Num; 4],
    /// Steering angles of the front left and front right wheel, rad.
    pub front_wheels: [Num; 2],
    /// Angle of the steering servo, rad, positive to the left.
    pub steering: Num,
    /// Pan angle of the camera, rad, positive to the left.
    pub pan: Num,
    /// Tilt angle of the camera, rad, positive upwards.
    pub tilt: Num,
}
