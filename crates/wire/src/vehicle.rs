//! The vehicle: its pose, reset, respawn and profile.

use crate::fields::{Body, Fields, Invalid};
use crate::geometry::{Pose, Size};
use crate::num::Num;
use crate::vary::{Variation, VaryBody};
use chicane_vary::Vary;
use serde::Serialize;
use utoipa::ToSchema;

/// Request body of `POST /pose`. Omitted fields keep their current value.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
pub struct PoseRequest {
    /// X coordinate, m.
    #[schema(minimum = -100, maximum = 100)]
    pub x: Option<f64>,
    /// Y coordinate, m.
    #[schema(minimum = -100, maximum = 100)]
    pub y: Option<f64>,
    /// Yaw, rad.
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

/// Refuses coordinates more than 100 m from the origin, and heights below −10 m.
pub(crate) fn check_position(x: Option<f64>, y: Option<f64>, z: Option<f64>) -> Result<(), Invalid> {
    let outside = |v: Option<f64>, low: f64| v.is_some_and(|v| !(low..=100.0).contains(&v));
    if outside(x, -100.0) || outside(y, -100.0) || outside(z, -10.0) {
        return Err(Invalid::new("position out of range"));
    }
    Ok(())
}

/// Refuses angles beyond ±1,000,000 rad. This limit still allows many full turns.
pub(crate) fn check_yaw(yaw: Option<f64>) -> Result<(), Invalid> {
    if yaw.is_some_and(|v| v.abs() > 1e6) {
        return Err(Invalid::new("yaw must be a number from -1000000 to 1000000"));
    }
    Ok(())
}

/// Response of `POST /pose`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Placed {
    /// Always true.
    pub ok: bool,
    /// Always true: the new pose is visible to every client.
    pub applied: bool,
    /// Pose of the car after the change.
    pub pose: Pose,
}

/// Response of `POST /reset`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ResetDone {
    /// Always true.
    pub ok: bool,
    /// Names of everything that was reset: movable objects and lights, then `vehicle`.
    pub reset: Vec<String>,
}

/// Request body of `POST /respawn`.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = RespawnRequest)]
pub struct RespawnRequestBody {
    /// Seed of all random streams, such as sensor noise; 0 if omitted.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991i64)]
    pub seed: Option<u64>,
    /// What the seed changes in the world, as in the config of an evaluation. If omitted, the world
    /// is as published.
    pub vary: Option<VaryBody>,
}

/// Parsed form of [`RespawnRequestBody`].
#[derive(Debug, Clone, PartialEq)]
pub struct RespawnRequest {
    /// Seed of all random streams.
    pub seed: u64,
    /// What the seed changes in the world.
    pub vary: Vary,
}

impl Body for RespawnRequest {
    fn parse(fields: &Fields) -> Result<RespawnRequest, Invalid> {
        let seed = fields.whole_within("seed", 0, (1 << 53) - 1)?.unwrap_or(0);
        let vary = fields.get("vary").map(Vary::parse).transpose();
        let vary = vary.map_err(|error| Invalid::new(error.to_string()))?.unwrap_or_default();
        Ok(RespawnRequest { seed, vary })
    }
}

/// Response of `POST /respawn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Respawned {
    /// Always true.
    pub ok: bool,
    /// File name of the world.
    #[schema(example = "oval.world")]
    pub world: String,
    /// Always false: the world was loaded again.
    pub inplace: bool,
    /// What the seed changed in the world; omitted if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
}

/// Response of `GET /vehicle`: the profile of the robot.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Vehicle)]
pub struct Profile {
    /// Short name of the vehicle generation.
    #[schema(example = "gen1")]
    pub generation: String,
    /// Other names of the same car.
    pub aliases: Vec<String>,
    /// Display name.
    pub model_name: String,
    /// Distance between the axles, m.
    pub wheelbase: Num,
    /// Distance between left and right wheels, m.
    pub track: Num,
    /// Radius of a wheel, m.
    pub wheel_radius: Num,
    /// Width of a wheel, m.
    pub wheel_width: Num,
    /// Total mass of the car, kg.
    pub mass: Num,
    /// Centre of mass relative to the pose origin, m.
    pub centre_of_mass: [Num; 3],
    /// Bounding box of the body.
    pub body: BodyBox,
    /// Limits of motor and servos.
    pub limits: Limits,
    /// Camera.
    pub camera: CameraProfile,
    /// Lidar.
    pub lidar: LidarProfile,
    /// Inertial measurement unit.
    pub imu: ImuProfile,
}

/// Bounding box of the car's body.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BodyBox {
    /// Full extents, m.
    pub size: Size,
    /// Centre relative to the pose origin, m.
    pub centre: [Num; 3],
}

/// Limits of motor and servos, in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Limits {
    /// Speed, m/s.
    pub speed: Num,
    /// Acceleration, m/s².
    pub acceleration: Num,
    /// Angle of the virtual centre wheel, rad.
    pub steering: Num,
    /// Rate of change of the steering angle, rad/s.
    pub steering_rate: Num,
    /// Maximum yaw rate, rad/s; null if the car's controller does not limit it.
    pub yaw_rate: Option<Num>,
    /// Maximum change of the yaw rate, rad/s²; null if the car's controller does not limit it.
    pub yaw_acceleration: Option<Num>,
    /// Pan angle of the camera, rad.
    pub pan: Num,
    /// Tilt angle of the camera, rad.
    pub tilt: Num,
}

/// Camera parameters.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CameraProfile {
    /// Width of the image, pixels.
    pub width: u32,
    /// Height of the image, pixels.
    pub height: u32,
    /// Frames per simulated second.
    pub rate: u32,
    /// Horizontal field of view, rad.
    pub horizontal_fov: Num,
    /// Position relative to the pose origin, m.
    pub position: [Num; 3],
    /// Standard deviation of the noise, as a fraction of full scale.
    pub noise_sd: Num,
    /// Coefficients of radial distortion, second and fourth order.
    pub distortion: [Num; 2],
}

/// Lidar parameters.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LidarProfile {
    /// Number of beams over the full circle.
    pub beams: u32,
    /// Scans per simulated second.
    pub rate: u32,
    /// Shortest measurable distance, m.
    pub range_min: Num,
    /// Longest measurable distance, m.
    pub range_max: Num,
    /// Standard deviation of the noise, m.
    pub noise_sd: Num,
    /// Position relative to the pose origin, m.
    pub position: [Num; 3],
}

/// Parameters of the inertial measurement unit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImuProfile {
    /// Samples per simulated second.
    pub rate: u32,
    /// Standard deviation of the gyro's noise, rad/s.
    pub gyro_sd: Num,
    /// Standard deviation of the accelerometer's noise, m/s².
    pub accelerometer_sd: Num,
    /// Position relative to the pose origin, m.
    pub position: [Num; 3],
}
