//! `sensor_msgs`.

use super::{Header, Quaternion, Vector3};
use serde::{Deserialize, Serialize};

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Image {
    /// When, and the camera's frame.
    pub header: Header,
    /// Rows.
    pub height: u32,
    /// Pixels in a row.
    pub width: u32,
    /// What a pixel is, such as `rgb8`.
    pub encoding: String,
    /// Of numbers longer than a byte.
    pub is_bigendian: u8,
    /// Bytes in a row.
    pub step: u32,
    /// The pixels.
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
}

/// A picture as a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompressedImage {
    /// When, and the camera's frame.
    pub header: Header,
    /// Of the file, such as `jpeg`.
    pub format: String,
    /// The file.
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
}

/// Part of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct RegionOfInterest {
    pub x_offset: u32,
    pub y_offset: u32,
    pub height: u32,
    pub width: u32,
    pub do_rectify: bool,
}

/// The optics of a camera.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CameraInfo {
    /// When, and the camera's frame.
    pub header: Header,
    /// Rows.
    pub height: u32,
    /// Pixels in a row.
    pub width: u32,
    /// How the lens bends, such as `plumb_bob`.
    pub distortion_model: String,
    /// By how much.
    pub d: Vec<f64>,
    /// Focal lengths and centre, rows of a 3×3 matrix.
    pub k: [f64; 9],
    /// Rectification, rows of a 3×3 matrix.
    pub r: [f64; 9],
    /// Projection of the rectified picture, rows of a 3×4 matrix.
    pub p: [f64; 12],
    /// Pixels that are one, across.
    pub binning_x: u32,
    /// Pixels that are one, down.
    pub binning_y: u32,
    /// All of it, if zero.
    pub roi: RegionOfInterest,
}

/// A turn of the lidar.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LaserScan {
    /// When, and the lidar's frame.
    pub header: Header,
    /// Of the first beam, rad.
    pub angle_min: f32,
    /// Of the last beam, rad.
    pub angle_max: f32,
    /// From beam to beam, rad.
    pub angle_increment: f32,
    /// From beam to beam, s.
    pub time_increment: f32,
    /// From scan to scan, s.
    pub scan_time: f32,
    /// Nearest, m.
    pub range_min: f32,
    /// Farthest, m.
    pub range_max: f32,
    /// Infinite where nothing was hit.
    pub ranges: Vec<f32>,
    /// None here.
    pub intensities: Vec<f32>,
}

/// A sample of gyro and accelerometer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Imu {
    /// When, and the unit's frame.
    pub header: Header,
    /// Not known.
    pub orientation: Quaternion,
    /// −1 in the first place says so.
    pub orientation_covariance: [f64; 9],
    /// rad/s.
    pub angular_velocity: Vector3,
    /// Of it.
    pub angular_velocity_covariance: [f64; 9],
    /// m/s², with gravity.
    pub linear_acceleration: Vector3,
    /// Of it.
    pub linear_acceleration_covariance: [f64; 9],
}

/// Angles of everything that turns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JointState {
    /// When.
    pub header: Header,
    /// Which joints.
    pub name: Vec<String>,
    /// rad.
    pub position: Vec<f64>,
    /// rad/s.
    pub velocity: Vec<f64>,
    /// None here.
    pub effort: Vec<f64>,
}

/// The battery. What is not known is not a number.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BatteryState {
    /// When.
    pub header: Header,
    /// V.
    pub voltage: f32,
    /// °C.
    pub temperature: f32,
    /// A; negative while it gives.
    pub current: f32,
    /// Ah.
    pub charge: f32,
    /// Ah.
    pub capacity: f32,
    /// Ah.
    pub design_capacity: f32,
    /// 0 to 1.
    pub percentage: f32,
    /// One of `POWER_SUPPLY_STATUS_…`.
    pub power_supply_status: u8,
    /// One of `POWER_SUPPLY_HEALTH_…`.
    pub power_supply_health: u8,
    /// One of `POWER_SUPPLY_TECHNOLOGY_…`.
    pub power_supply_technology: u8,
    /// It is there.
    pub present: bool,
    /// V.
    pub cell_voltage: Vec<f32>,
    /// °C.
    pub cell_temperature: Vec<f32>,
    /// Where it sits.
    pub location: String,
    /// What is written on it.
    pub serial_number: String,
}

impl BatteryState {
    /// It charges.
    pub const POWER_SUPPLY_STATUS_CHARGING: u8 = 1;
    /// It gives.
    pub const POWER_SUPPLY_STATUS_DISCHARGING: u8 = 2;
    /// It is well.
    pub const POWER_SUPPLY_HEALTH_GOOD: u8 = 1;
    /// It is one of lithium ions.
    pub const POWER_SUPPLY_TECHNOLOGY_LION: u8 = 2;
}
