//! Placing and moving an object.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::vehicle::{check_position, check_yaw};
use crate::world::ObjectType;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Request body of `POST /models/<name>/pose`. Omitted fields keep their current value. With
/// `duration` the object moves to the pose at constant speed; with `path` it follows the points.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = ModelRequest)]
pub struct ModelRequestBody {
    /// X coordinate, m.
    #[schema(minimum = -100, maximum = 100)]
    pub x: Option<f64>,
    /// Y coordinate, m.
    #[schema(minimum = -100, maximum = 100)]
    pub y: Option<f64>,
    /// Z coordinate, m.
    #[schema(minimum = -10, maximum = 100)]
    pub z: Option<f64>,
    /// Yaw, rad.
    #[schema(minimum = -1_000_000, maximum = 1_000_000)]
    pub yaw: Option<f64>,
    /// Duration of the motion, simulated seconds.
    #[schema(minimum = 0, maximum = 3600)]
    pub duration: Option<f64>,
    /// Points (x, y) in metres, within ±100.
    #[schema(min_items = 1, max_items = 10_000)]
    pub path: Option<Vec<[f64; 2]>>,
    /// Speed along the path, m/s; required with `path`.
    #[schema(minimum = 0.001, maximum = 10)]
    pub speed: Option<f64>,
    /// Whether the object continues from the last point straight to the first, without end.
    pub r#loop: Option<bool>,
}

/// Parsed form of [`ModelRequestBody`]. A coordinate that is `None` keeps its current value.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// X coordinate, m.
    pub x: Option<f64>,
    /// Y coordinate, m.
    pub y: Option<f64>,
    /// Z coordinate, m.
    pub z: Option<f64>,
    /// Yaw, rad.
    pub yaw: Option<f64>,
    /// How the object gets to the pose.
    pub motion: Motion,
}

/// How an object moves to its new pose.
#[derive(Debug, Clone, PartialEq)]
pub enum Motion {
    /// The object is placed at the new pose immediately.
    AtOnce,
    /// The object moves at constant speed for this many simulated seconds.
    Over(f64),
    /// The object follows a path.
    Along {
        /// Points (x, y), m.
        path: Vec<[f64; 2]>,
        /// Speed along the path, m/s.
        speed: f64,
        /// Whether the object repeats the path without end.
        repeat: bool,
    },
}

const MAX_POINTS: usize = 10_000;

impl Body for ModelRequest {
    fn parse(fields: &Fields) -> Result<ModelRequest, Invalid> {
        let wrong = "x, y, z, yaw must be numbers";
        let [x, y, z, yaw] = ["x", "y", "z", "yaw"].map(|name| fields.number(name, wrong));
        let (x, y, z, yaw) = (x?, y?, z?, yaw?);
        check_position(x, y, z)?;
        check_yaw(yaw)?;
        Ok(ModelRequest { x, y, z, yaw, motion: Motion::parse(fields)? })
    }
}

impl Motion {
    pub(crate) fn parse(fields: &Fields) -> Result<Motion, Invalid> {
        let duration = fields.number_within("duration", 0.0, 3600.0)?;
        let path = fields.get("path").map(points).transpose()?;
        let speed = fields.number_within("speed", 0.001, 10.0)?;
        let repeat = fields.flag("loop")?;
        match (duration, path) {
            (Some(_), Some(_)) => Err(Invalid::new("give duration or path, not both")),
            (None, Some(path)) => match speed {
                Some(speed) => Ok(Motion::Along { path, speed, repeat: repeat.unwrap_or(false) }),
                None => Err(Invalid::new("speed must be a number from 0.001 to 10 when path is given")),
            },
            (_, None) if speed.is_some() || repeat.is_some() => {
                Err(Invalid::new("speed and loop need path, which is missing"))
            }
            (Some(duration_s), None) => Ok(Motion::Over(duration_s)),
            (None, None) => Ok(Motion::AtOnce),
        }
    }
}

fn points(value: &Value) -> Result<Vec<[f64; 2]>, Invalid> {
    let wrong = || Invalid::new("path must be a list of 1 to 10000 points [x, y] within 100 m of the origin");
    let list = value.as_array().filter(|l| (1..=MAX_POINTS).contains(&l.len())).ok_or_else(wrong)?;
    let coordinate = |v: &Value| match v {
        Value::Number(n) => n.as_f64().filter(|v| v.abs() <= 100.0),
        _ => None,
    };
    let point = |v: &Value| match v.as_array().map(Vec::as_slice) {
        Some([x, y]) => Some([coordinate(x)?, coordinate(y)?]),
        _ => None,
    };
    list.iter().map(|v| point(v).ok_or_else(wrong)).collect()
}

/// Response of `POST /models/<name>/pose`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ModelMoved {
    /// Always true.
    pub ok: bool,
    /// Always true: the new pose is visible to every client.
    pub applied: bool,
    /// The object after the change.
    pub model: ModelPlace,
}

/// An object and its pose.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ModelPlace {
    /// Name of the object.
    pub name: String,
    /// Type of the object, from its marker.
    pub r#type: ObjectType,
    /// X coordinate, m.
    pub x: Num,
    /// Y coordinate, m.
    pub y: Num,
    /// Z coordinate, m.
    pub z: Num,
    /// Yaw, rad.
    pub yaw: Num,
}
