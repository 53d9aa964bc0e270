//! Lockstep: the client controls how far simulated time advances.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::state::State;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Request body of `POST /step`.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = StepRequest)]
pub struct StepRequestBody {
    /// Number of ticks of 5 ms; 1 if both `steps` and `duration` are omitted.
    #[schema(minimum = 1, maximum = 100_000)]
    pub steps: Option<u32>,
    /// Simulated seconds, rounded to the nearest tick. Mutually exclusive with `steps`.
    #[schema(minimum = 0.0025, maximum = 500)]
    pub duration: Option<f64>,
    /// Speed command, m/s, held during the step and clamped to the car's limits.
    #[schema(minimum = -1000, maximum = 1000)]
    pub speed: Option<f64>,
    /// Steering command, rad, positive to the left, held during the step and clamped to the car's
    /// limits.
    #[schema(minimum = -1000, maximum = 1000)]
    pub steering: Option<f64>,
    /// Sensors whose readings the response includes.
    #[schema(max_items = 16)]
    pub observe: Option<Vec<Observe>>,
    /// Largest width of the camera image, pixels. The aspect ratio is kept, and the image is never
    /// enlarged.
    #[schema(minimum = 16, maximum = 1920)]
    pub camera_width: Option<u32>,
    /// Largest height of the camera image, pixels.
    #[schema(minimum = 16, maximum = 1080)]
    pub camera_height: Option<u32>,
}

/// A sensor whose reading a step can return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Observe {
    /// Camera frame.
    Camera,
    /// Laser scan.
    Lidar,
    /// Gyro and accelerometer.
    Imu,
    /// Odometry.
    Odom,
}

impl Observe {
    /// Name of the sensor in requests and responses.
    pub fn name(self) -> &'static str {
        match self {
            Observe::Camera => "camera",
            Observe::Lidar => "lidar",
            Observe::Imu => "imu",
            Observe::Odom => "odom",
        }
    }

    fn from_value(value: &Value) -> Option<Observe> {
        match value.as_str()? {
            "camera" => Some(Observe::Camera),
            "lidar" => Some(Observe::Lidar),
            "imu" => Some(Observe::Imu),
            "odom" => Some(Observe::Odom),
            _ => None,
        }
    }
}

/// Parsed form of [`StepRequestBody`].
#[derive(Debug, Clone, PartialEq)]
pub struct StepRequest {
    /// Number of ticks of 5 ms.
    pub ticks: u64,
    /// Speed command, m/s.
    pub speed: Option<f64>,
    /// Steering command, rad.
    pub steering: Option<f64>,
    /// Requested sensors, sorted and without duplicates.
    pub observe: Vec<Observe>,
    /// Largest width and height of the camera image, pixels.
    pub camera_size: [Option<u64>; 2],
}

const TICKS_PER_SECOND: f64 = 200.0;

impl Body for StepRequest {
    fn parse(fields: &Fields) -> Result<StepRequest, Invalid> {
        let steps = fields.whole_within("steps", 1, 100_000)?;
        let duration = fields.number_within("duration", 0.0025, 500.0)?;
        let ticks = match (steps, duration) {
            (Some(_), Some(_)) => return Err(Invalid::new("give steps or duration, not both")),
            (Some(steps), None) => steps,
            (None, Some(seconds)) => (seconds * TICKS_PER_SECOND).round() as u64,
            (None, None) => 1,
        };
        let speed = fields.number_within("speed", -1000.0, 1000.0)?;
        let steering = fields.number_within("steering", -1000.0, 1000.0)?;
        let observe = fields.get("observe").map(observations).transpose()?.unwrap_or_default();
        let camera_size =
            [fields.whole_within("camera_width", 16, 1920)?, fields.whole_within("camera_height", 16, 1080)?];
        Ok(StepRequest { ticks, speed, steering, observe, camera_size })
    }
}

fn observations(value: &Value) -> Result<Vec<Observe>, Invalid> {
    let wrong = || Invalid::new("observe must be a list of camera, lidar, imu, odom");
    let list = value.as_array().filter(|l| l.len() <= 16).ok_or_else(wrong)?;
    let mut names: Vec<Observe> =
        list.iter().map(Observe::from_value).collect::<Option<_>>().ok_or_else(wrong)?;
    names.sort();
    names.dedup();
    Ok(names)
}

/// Response of `POST /step`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Stepped {
    /// Always true.
    pub ok: bool,
    /// The live state after the last tick.
    #[serde(flatten)]
    pub state: State,
    /// Names of the objects and walls that the car touched during the step, even if the contact has
    /// ended.
    #[schema(value_type = Vec<String>)]
    pub touched: Vec<Arc<str>>,
    /// Readings of the requested sensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observations: Option<Observations>,
}

/// Sensor readings; sensors that were not requested are omitted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct Observations {
    /// Camera frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<CameraObservation>,
    /// Laser scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lidar: Option<LidarObservation>,
    /// Gyro and accelerometer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imu: Option<ImuObservation>,
    /// Odometry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odom: Option<OdomObservation>,
}

/// Pose and velocity, estimated from lidar and IMU only. The pose is in the frame `odom`, whose origin
/// is where the car was when its software started. The velocity is in the frame of the car.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct OdomObservation {
    /// Simulated time of the estimate, s.
    pub time: Num,
    /// X coordinate, m.
    pub x: Num,
    /// Y coordinate, m.
    pub y: Num,
    /// Yaw, rad.
    pub yaw: Num,
    /// Forward speed, m/s.
    pub forward: Num,
    /// Sideways speed, m/s, positive to the left.
    pub sideways: Num,
    /// Yaw rate, rad/s, positive to the left.
    pub turning: Num,
}

/// The latest frame of the camera.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CameraObservation {
    /// Simulated time of the frame, s.
    pub time: Num,
    /// Index of the frame, from 0.
    pub frame: u64,
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// Always `jpeg`. The binary response contains raw pixels instead.
    pub encoding: &'static str,
    /// The image, base64.
    pub data: String,
}

/// The latest laser scan.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LidarObservation {
    /// Simulated time of the scan, s.
    pub time: Num,
    /// Direction of the first beam, rad, counter-clockwise from straight ahead.
    pub angle_min: Num,
    /// Angle between neighbouring beams, rad, counter-clockwise.
    pub angle_increment: Num,
    /// Shortest measurable distance, m.
    pub range_min: Num,
    /// Longest measurable distance, m.
    pub range_max: Num,
    /// Distance of each beam, m; null if no distance from `range_min` to `range_max` was measured.
    pub ranges: Vec<Option<Num>>,
}

/// The latest sample of the inertial measurement unit, in the car's frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct ImuObservation {
    /// Simulated time of the sample, s.
    pub time: Num,
    /// Acceleration, m/s². At rest it is +g upwards.
    pub acceleration: Xyz,
    /// Turn rate about each axis, rad/s.
    pub gyro: Xyz,
}

/// A vector in the car's frame. A position is in the frame that the car had at its start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Xyz {
    /// Forward component.
    pub x: Num,
    /// Left component.
    pub y: Num,
    /// Upward component.
    pub z: Num,
}

/// The first line of a binary response. The arrays follow it without gaps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepHeader {
    /// Always true.
    pub ok: bool,
    /// Descriptions of the arrays that follow.
    pub observations: Vec<ArrayInfo>,
    /// The live state after the last tick.
    pub state: State,
    /// Names of the objects and walls that the car touched during the step.
    pub touched: Vec<Arc<str>>,
}

/// Description of one array of a binary response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayInfo {
    /// Name of the sensor.
    pub name: &'static str,
    /// Length along each axis.
    pub shape: Vec<usize>,
    /// Element type in NumPy's notation, such as `<f4`.
    pub r#type: &'static str,
    /// Offset of the array in bytes, counted from the end of the header line.
    pub offset: usize,
    /// Simulated time of the reading, s.
    pub time: Num,
}
