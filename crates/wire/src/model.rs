//! Placing and moving an object.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::vehicle::{check_position, check_yaw};
use crate::world::ObjectType;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Body of `POST /models/<name>/pose`. Omitted fields keep their current value. With `duration`
/// the object moves there evenly; with `path` it follows the points.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = ModelRequest)]
pub struct ModelRequestBody {
    /// Metres.
    #[schema(minimum = -100, maximum = 100)]
    pub x: Option<f64>,
    /// Metres.
    #[schema(minimum = -100, maximum = 100)]
    pub y: Option<f64>,
    /// Metres.
    #[schema(minimum = -10, maximum = 100)]
    pub z: Option<f64>,
    /// Radians.
    #[schema(minimum = -1_000_000, maximum = 1_000_000)]
    pub yaw: Option<f64>,
    /// Simulated seconds.
    #[schema(minimum = 0, maximum = 3600)]
    pub duration: Option<f64>,
    /// Points x, y in metres, within ±100.
    #[schema(min_items = 1, max_items = 10_000)]
    pub path: Option<Vec<[f64; 2]>>,
    /// m/s along the path; needed with it.
    #[schema(minimum = 0.001, maximum = 10)]
    pub speed: Option<f64>,
    /// Goes from the last point straight to the first, again and again.
    pub r#loop: Option<bool>,
}

/// Where an object is to go, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Metres.
    pub x: Option<f64>,
    /// Metres.
    pub y: Option<f64>,
    /// Metres.
    pub z: Option<f64>,
    /// Radians.
    pub yaw: Option<f64>,
    /// At once or over time.
    pub motion: Motion,
}

/// How an object gets to where it is to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Motion {
    /// At once.
    AtOnce,
    /// Evenly over simulated seconds.
    Over(f64),
    /// Along points.
    Along {
        /// Metres.
        path: Vec<[f64; 2]>,
        /// m/s.
        speed: f64,
        /// For ever.
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
                Err(Invalid::new("speed and loop go with path, which is missing"))
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

/// Answer of `POST /models/<name>/pose`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ModelMoved {
    /// Always true.
    pub ok: bool,
    /// Always true: every reader sees it already.
    pub applied: bool,
    /// Where the object is now.
    pub model: ModelPlace,
}

/// An object and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ModelPlace {
    /// Name.
    pub name: String,
    /// By its marker.
    pub r#type: ObjectType,
    /// Metres.
    pub x: Num,
    /// Metres.
    pub y: Num,
    /// Metres.
    pub z: Num,
    /// Radians.
    pub yaw: Num,
}
