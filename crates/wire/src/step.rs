//! Lockstep: the client says how far time goes.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::state::State;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Body of `POST /step`.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = StepRequest)]
pub struct StepRequestBody {
    /// Ticks of 5 ms; 1 if neither this nor `duration` is given.
    #[schema(minimum = 1, maximum = 100_000)]
    pub steps: Option<u32>,
    /// Simulated seconds, rounded to the nearest tick. Not together with `steps`.
    #[schema(minimum = 0.0025, maximum = 500)]
    pub duration: Option<f64>,
    /// Drive command: m/s. Held while stepping; out of the car's limits it is clamped.
    #[schema(minimum = -1000, maximum = 1000)]
    pub speed: Option<f64>,
    /// Drive command: rad, + is left. Held while stepping; out of the car's limits it is clamped.
    #[schema(minimum = -1000, maximum = 1000)]
    pub steering: Option<f64>,
    /// What the answer is to hold besides the state.
    #[schema(max_items = 16)]
    pub observe: Option<Vec<Observe>>,
    /// Largest width of the camera's picture, pixels; its shape is kept, and it is never enlarged.
    #[schema(minimum = 16, maximum = 1920)]
    pub camera_width: Option<u32>,
    /// Largest height of the camera's picture, pixels.
    #[schema(minimum = 16, maximum = 1080)]
    pub camera_height: Option<u32>,
}

/// A sensor that can be asked for.
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
    /// As it is written.
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

/// How far to step, with what.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRequest {
    /// Ticks of 5 ms.
    pub ticks: u64,
    /// m/s.
    pub speed: Option<f64>,
    /// rad.
    pub steering: Option<f64>,
    /// Sorted, each once.
    pub observe: Vec<Observe>,
    /// Largest width and height of the camera's picture.
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

/// Answer of `POST /step`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Stepped {
    /// Always true.
    pub ok: bool,
    /// The live state after the last tick.
    #[serde(flatten)]
    pub state: State,
    /// Names of the objects and walls that the car touched on the way, also those that it left again.
    #[schema(value_type = Vec<String>)]
    pub touched: Vec<Arc<str>>,
    /// What was asked for, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observations: Option<Observations>,
}

/// Sensor readings; those that were asked for.
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

/// Where the car believes it is, from lidar and gyro alone: the frame `odom` is where it started.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct OdomObservation {
    /// Simulated seconds that it speaks of.
    pub time: Num,
    /// m.
    pub x: Num,
    /// m.
    pub y: Num,
    /// rad.
    pub yaw: Num,
    /// m/s ahead.
    pub forward: Num,
    /// m/s to the left.
    pub sideways: Num,
    /// rad/s, + is left.
    pub turning: Num,
}

/// The last frame of the camera.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CameraObservation {
    /// Simulated seconds at which it was taken.
    pub time: Num,
    /// Which frame it is, from 0.
    pub frame: u64,
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// Always `jpeg`; the binary answer brings raw pixels.
    pub encoding: &'static str,
    /// The picture, base64.
    pub data: String,
}

/// The last laser scan.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LidarObservation {
    /// Simulated seconds at which it was taken.
    pub time: Num,
    /// Direction of the first beam, rad.
    pub angle_min: Num,
    /// From beam to beam, rad, counter-clockwise.
    pub angle_increment: Num,
    /// m.
    pub range_min: Num,
    /// m.
    pub range_max: Num,
    /// m; null where nothing was hit.
    pub ranges: Vec<Option<Num>>,
}

/// The last sample of the inertial measurement unit, in the car's frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct ImuObservation {
    /// Simulated seconds at which it was taken.
    pub time: Num,
    /// m/s²; at rest +g upwards.
    pub acceleration: Xyz,
    /// rad/s.
    pub gyro: Xyz,
}

/// Three components.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Xyz {
    /// Ahead.
    pub x: Num,
    /// Left.
    pub y: Num,
    /// Up.
    pub z: Num,
}

/// The first line of a binary answer. The arrays follow it, back to back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepHeader {
    /// Always true.
    pub ok: bool,
    /// The arrays that follow.
    pub observations: Vec<ArrayInfo>,
    /// The live state after the last tick.
    pub state: State,
    /// Names of the objects and walls that the car touched on the way.
    pub touched: Vec<Arc<str>>,
}

/// One array of a binary answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayInfo {
    /// Sensor.
    pub name: &'static str,
    /// Length along each axis.
    pub shape: Vec<usize>,
    /// Element type as NumPy writes it, such as `<f4`.
    pub r#type: &'static str,
    /// Bytes after the end of the header line.
    pub offset: usize,
    /// Simulated seconds at which it was taken.
    pub time: Num,
}
