//! Message types of `sensor_msgs`.

use super::geometry::{Quaternion, Vector3};
use super::standard::Header;
use serde::{Deserialize, Serialize};

/// An uncompressed image.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Image {
    /// Time, and the camera's frame.
    pub header: Header,
    /// Number of rows.
    pub height: u32,
    /// Number of pixels per row.
    pub width: u32,
    /// Format of a pixel, such as `rgb8`.
    pub encoding: String,
    /// 1 if numbers longer than a byte are big-endian.
    pub is_bigendian: u8,
    /// Number of bytes per row.
    pub step: u32,
    /// The pixels.
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
}

/// A compressed image.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompressedImage {
    /// Time, and the camera's frame.
    pub header: Header,
    /// File format, such as `jpeg`.
    pub format: String,
    /// Bytes of the file.
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
}

/// A part of an image.
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

/// Intrinsic parameters of a camera.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CameraInfo {
    /// Time, and the camera's frame.
    pub header: Header,
    /// Number of rows.
    pub height: u32,
    /// Number of pixels per row.
    pub width: u32,
    /// Distortion model of the lens, such as `plumb_bob`.
    pub distortion_model: String,
    /// Coefficients of the distortion model.
    pub d: Vec<f64>,
    /// Focal lengths and principal point as a 3×3 matrix, row by row.
    pub k: [f64; 9],
    /// Rectification as a 3×3 matrix, row by row.
    pub r: [f64; 9],
    /// Projection of the rectified image as a 3×4 matrix, row by row.
    pub p: [f64; 12],
    /// Horizontal binning; 0 for none.
    pub binning_x: u32,
    /// Vertical binning; 0 for none.
    pub binning_y: u32,
    /// Region of the sensor; zero for the full image.
    pub roi: RegionOfInterest,
}

/// A scan of the lidar.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LaserScan {
    /// Time, and the lidar's frame.
    pub header: Header,
    /// Angle of the first beam, rad.
    pub angle_min: f32,
    /// Angle of the last beam, rad.
    pub angle_max: f32,
    /// Angle between two beams, rad.
    pub angle_increment: f32,
    /// Time between two beams, s.
    pub time_increment: f32,
    /// Time between two scans, s.
    pub scan_time: f32,
    /// Minimum range, m.
    pub range_min: f32,
    /// Maximum range, m.
    pub range_max: f32,
    /// Range of each beam, m; infinity if the beam hit nothing between the minimum and the maximum
    /// range. The filtered scan has 0 in place of infinity.
    pub ranges: Vec<f32>,
    /// Always empty.
    pub intensities: Vec<f32>,
}

/// A sample of gyro and accelerometer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Imu {
    /// Time, and the frame of the IMU.
    pub header: Header,
    /// Orientation. It is not measured.
    pub orientation: Quaternion,
    /// The first element is −1, which means that the orientation is unknown.
    pub orientation_covariance: [f64; 9],
    /// Angular velocity, rad/s.
    pub angular_velocity: Vector3,
    /// Covariance of the angular velocity.
    pub angular_velocity_covariance: [f64; 9],
    /// Acceleration as an accelerometer measures it, m/s²: 9.81 upwards at rest.
    pub linear_acceleration: Vector3,
    /// Covariance of the acceleration.
    pub linear_acceleration_covariance: [f64; 9],
}

/// Angles and velocities of the joints.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JointState {
    /// Time of the sample.
    pub header: Header,
    /// Names of the joints.
    pub name: Vec<String>,
    /// Angles, rad.
    pub position: Vec<f64>,
    /// Angular velocities, rad/s.
    pub velocity: Vec<f64>,
    /// Always empty.
    pub effort: Vec<f64>,
}

/// State of the battery. Unknown values are NaN.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BatteryState {
    /// Time of the sample.
    pub header: Header,
    /// Voltage, V.
    pub voltage: f32,
    /// Temperature, °C.
    pub temperature: f32,
    /// Current in A; negative while the battery is discharging.
    pub current: f32,
    /// Charge, Ah.
    pub charge: f32,
    /// Capacity, Ah.
    pub capacity: f32,
    /// Design capacity, Ah.
    pub design_capacity: f32,
    /// Charge level, 0 to 1.
    pub percentage: f32,
    /// One of `POWER_SUPPLY_STATUS_…`.
    pub power_supply_status: u8,
    /// One of `POWER_SUPPLY_HEALTH_…`.
    pub power_supply_health: u8,
    /// One of `POWER_SUPPLY_TECHNOLOGY_…`.
    pub power_supply_technology: u8,
    /// Whether a battery is present.
    pub present: bool,
    /// Voltage of each cell, V.
    pub cell_voltage: Vec<f32>,
    /// Temperature of each cell, °C.
    pub cell_temperature: Vec<f32>,
    /// Slot of the battery.
    pub location: String,
    /// Serial number of the battery.
    pub serial_number: String,
}

impl BatteryState {
    /// The battery is charging.
    pub const POWER_SUPPLY_STATUS_CHARGING: u8 = 1;
    /// The battery is discharging.
    pub const POWER_SUPPLY_STATUS_DISCHARGING: u8 = 2;
    /// The battery is in good condition.
    pub const POWER_SUPPLY_HEALTH_GOOD: u8 = 1;
    /// A lithium-ion battery.
    pub const POWER_SUPPLY_TECHNOLOGY_LION: u8 = 2;
}
