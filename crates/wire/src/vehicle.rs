//! The vehicle: placing it, resetting, respawning, and what it is.

use crate::fields::{Body, Fields, Invalid};
use crate::geometry::{Pose, Size};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Body of `POST /pose`. Omitted fields keep their current value.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
pub struct PoseRequest {
    /// Metres.
    #[schema(minimum = -100, maximum = 100)]
    pub x: Option<f64>,
    /// Metres.
    #[schema(minimum = -100, maximum = 100)]
    pub y: Option<f64>,
    /// Radians.
    #[schema(minimum = -1_000_000, maximum = 1_000_000)]
    pub yaw: Option<f64>,
}

impl Body for PoseRequest {
    fn parse(fields: &Fields) -> Result<PoseRequest, Invalid> {
        let wrong = "x, y, yaw must be numbers";
        let [x, y, yaw] = ["x", "y", "yaw"].map(|name| fields.number(name, wrong));
        let (x, y, yaw) = (x?, y?, yaw?);
        check_position(x, y, None)?;
        check_yaw(yaw)?;
        Ok(PoseRequest { x, y, yaw })
    }
}

/// Positions farther out are refused.
pub(crate) fn check_position(x: Option<f64>, y: Option<f64>, z: Option<f64>) -> Result<(), Invalid> {
    let outside = |v: Option<f64>, low: f64| v.is_some_and(|v| !(low..=100.0).contains(&v));
    if outside(x, -100.0) || outside(y, -100.0) || outside(z, -10.0) {
        return Err(Invalid::new("position out of range"));
    }
    Ok(())
}

/// Any heading can be asked for in a few turns.
pub(crate) fn check_yaw(yaw: Option<f64>) -> Result<(), Invalid> {
    if yaw.is_some_and(|v| v.abs() > 1e6) {
        return Err(Invalid::new("yaw must be a number from -1000000 to 1000000"));
    }
    Ok(())
}

/// Answer of `POST /pose`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Placed {
    /// Always true.
    pub ok: bool,
    /// Always true: every reader sees it already.
    pub applied: bool,
    /// Where the car is now.
    pub pose: Pose,
}

/// Answer of `POST /reset`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ResetDone {
    /// Always true.
    pub ok: bool,
    /// What went back to its start: movable objects and lights, then `vehicle`.
    pub reset: Vec<String>,
}

/// Body of `POST /respawn`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ToSchema)]
#[schema(as = RespawnRequest)]
pub struct RespawnRequestBody {
    /// Seed of every random stream, such as the noise of sensors; 0 if omitted.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991i64)]
    pub seed: Option<u64>,
}

/// With which noise the world starts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RespawnRequest {
    /// Seed of every random stream.
    pub seed: u64,
}

impl Body for RespawnRequest {
    fn parse(fields: &Fields) -> Result<RespawnRequest, Invalid> {
        Ok(RespawnRequest { seed: fields.whole_within("seed", 0, (1 << 53) - 1)?.unwrap_or(0) })
    }
}

/// Answer of `POST /respawn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Respawned {
    /// Always true.
    pub ok: bool,
    /// File name of the world.
    #[schema(example = "oval.world")]
    pub world: String,
    /// Always false: the world was loaded anew.
    pub inplace: bool,
}

/// Answer of `GET /vehicle`: the profile of the robot.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Vehicle)]
pub struct Profile {
    /// Short name.
    #[schema(example = "gen1")]
    pub generation: String,
    /// Name for people.
    pub model_name: String,
    /// Distance between the axles, m.
    pub wheelbase: Num,
    /// Distance between left and right wheels, m.
    pub track: Num,
    /// m.
    pub wheel_radius: Num,
    /// m.
    pub wheel_width: Num,
    /// Mass of the whole car, kg.
    pub mass: Num,
    /// m from the pose origin.
    pub centre_of_mass: [Num; 3],
    /// The body's box.
    pub body: BodyBox,
    /// What motor and servo can do.
    pub limits: Limits,
    /// Camera.
    pub camera: CameraProfile,
    /// Lidar.
    pub lidar: LidarProfile,
    /// Inertial measurement unit.
    pub imu: ImuProfile,
}

/// The body's box.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BodyBox {
    /// Full extents, m.
    pub size: Size,
    /// Centre from the pose origin, m.
    pub centre: [Num; 3],
}

/// What motor and servo can do, both ways.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Limits {
    /// m/s.
    pub speed: Num,
    /// m/s².
    pub acceleration: Num,
    /// rad, at the virtual centre wheel.
    pub steering: Num,
    /// rad/s.
    pub steering_rate: Num,
    /// rad.
    pub pan: Num,
    /// rad.
    pub tilt: Num,
}

/// Camera parameters.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CameraProfile {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames a simulated second.
    pub rate: u32,
    /// rad.
    pub horizontal_fov: Num,
    /// m from the pose origin.
    pub position: [Num; 3],
    /// Of full scale.
    pub noise_sd: Num,
    /// Radial distortion, second and fourth order.
    pub distortion: [Num; 2],
}

/// Lidar parameters.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LidarProfile {
    /// Beams over the full circle.
    pub beams: u32,
    /// Scans a simulated second.
    pub rate: u32,
    /// m.
    pub range_min: Num,
    /// m.
    pub range_max: Num,
    /// m.
    pub noise_sd: Num,
    /// m from the pose origin.
    pub position: [Num; 3],
}

/// Parameters of the inertial measurement unit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImuProfile {
    /// Samples a simulated second.
    pub rate: u32,
    /// rad/s.
    pub gyro_sd: Num,
    /// m/s².
    pub accelerometer_sd: Num,
    /// m from the pose origin.
    pub position: [Num; 3],
}
