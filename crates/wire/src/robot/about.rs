//! Description and health of the robot.

use crate::num::Num;
use crate::vehicle::{BodyBox, CameraProfile, ImuProfile, LidarProfile, Limits};
use serde::Serialize;
use utoipa::ToSchema;

/// Response of `GET /info`: description of the robot.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Info {
    /// Name of the robot.
    #[schema(example = "Chicane One")]
    pub name: String,
    /// Serial number. A simulated car has `sim-` and the short name of its generation.
    #[schema(example = "sim-gen1")]
    pub serial: String,
    /// Always false. A physical car reports true.
    pub physical: bool,
    /// Parts of the robot.
    pub hardware: Hardware,
    /// Software of the robot.
    pub software: Software,
    /// Paths of the robot's API, in alphabetical order.
    pub endpoints: Vec<String>,
    /// Short name of the vehicle generation.
    #[schema(example = "gen1")]
    pub generation: String,
    /// Always `sim`. A physical car reports another mode.
    pub mode: &'static str,
    /// Display name.
    pub model_name: String,
    /// Version of the software.
    pub version: &'static str,
    /// Limits of motor and servos.
    pub limits: Limits,
    /// Dimensions and mass.
    pub sizes: Sizes,
    /// Parameters of the sensors.
    pub sensors: Sensors,
    /// Rates of readings, per simulated second.
    pub rates: Rates,
}

/// Parts of a robot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Hardware {
    /// Display name of the vehicle.
    pub vehicle: String,
    /// Short name of the vehicle generation.
    pub generation: String,
    /// Names of the sensors.
    pub sensors: Vec<&'static str>,
    /// Names of the actuators.
    pub actuators: Vec<&'static str>,
}

/// Software of a robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Software {
    /// Always `chicane`.
    pub name: &'static str,
    /// Version.
    pub version: &'static str,
}

/// Dimensions and mass of a robot.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Sizes {
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
    /// Bounding box of the body.
    pub body: BodyBox,
}

/// Parameters of a robot's sensors.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Sensors {
    /// Camera.
    pub camera: CameraProfile,
    /// Lidar.
    pub lidar: LidarProfile,
    /// Inertial measurement unit.
    pub imu: ImuProfile,
}

/// Rates of readings, per simulated second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rates {
    /// Camera frames.
    pub camera: u32,
    /// Laser scans.
    pub lidar: u32,
    /// Gyro and accelerometer samples.
    pub imu: u32,
    /// Odometry estimates.
    pub odom: u32,
    /// Speed, steering and joint angles.
    pub joints: u32,
    /// Battery readings.
    pub battery: u32,
}

/// Response of `GET /health`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Health {
    /// `ok`, `waiting` before the first world is loaded, or `failing` if the simulator can't
    /// evaluate or can't keep records.
    pub status: &'static str,
    /// Why the status is `failing`; omitted otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Simulated seconds; null before the first world is loaded.
    pub time: Option<Num>,
    /// Time of this status, simulated seconds; 0 before the first world is loaded. The robot's
    /// ROS 2 topics use the same clock.
    pub timestamp: Num,
    /// Whether the simulation is paused.
    pub paused: bool,
}
