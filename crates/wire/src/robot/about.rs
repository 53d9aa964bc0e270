//! What the robot is, and how it does.

use crate::num::Num;
use crate::vehicle::{BodyBox, CameraProfile, ImuProfile, LidarProfile, Limits};
use serde::Serialize;
use utoipa::ToSchema;

/// Answer of `GET /info`: what the robot is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Info {
    /// Short name of the vehicle generation.
    #[schema(example = "gen1")]
    pub generation: String,
    /// Always `sim` here: a physical car says otherwise.
    pub mode: &'static str,
    /// Name for people.
    pub model_name: String,
    /// Of the software.
    pub version: &'static str,
    /// What motor and servos can do.
    pub limits: Limits,
    /// How large it is.
    pub sizes: Sizes,
    /// What it senses with.
    pub sensors: Sensors,
    /// How often everything is said, a simulated second.
    pub rates: Rates,
}

/// How large a robot is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Sizes {
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
    /// The body's box.
    pub body: BodyBox,
}

/// What a robot senses with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Sensors {
    /// Camera.
    pub camera: CameraProfile,
    /// Lidar.
    pub lidar: LidarProfile,
    /// Inertial measurement unit.
    pub imu: ImuProfile,
}

/// How often everything is said, a simulated second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rates {
    /// Frames.
    pub camera: u32,
    /// Scans.
    pub lidar: u32,
    /// Gyro and accelerometer.
    pub imu: u32,
    /// Odometry.
    pub odom: u32,
    /// Speed, steering and everything that turns.
    pub joints: u32,
    /// Battery.
    pub battery: u32,
}

/// Answer of `GET /health`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Health {
    /// `ok`, or `waiting` before the first world.
    pub status: &'static str,
    /// Simulated seconds; null before the first world.
    pub time: Option<Num>,
    /// Whether time stands still.
    pub paused: bool,
}
