//! Several readings of the robot in one response.

use super::audio::Sounds;
use super::reading::{Battery, Inertial, JointAngles, LidarScan, Odometry};
use crate::fields::Invalid;
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// The current actuator commands.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct DriveCommand {
    /// Speed, m/s.
    pub speed: Num,
    /// Steering angle, rad, positive to the left.
    pub steering: Num,
    /// Pan angle of the camera, rad, positive to the left.
    pub pan: Num,
    /// Tilt angle of the camera, rad, positive upwards.
    pub tilt: Num,
}

/// The latest frame of the camera.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CameraFrame {
    /// Simulated time of the frame, s.
    pub time: Num,
    /// Index of the frame, from 0.
    pub frame: u64,
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `jpeg`; omitted unless `include` names the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    /// The image, base64; omitted unless `include` names the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// A reading that `GET /states` can include.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// Odometry.
    Odom,
    /// Battery.
    Battery,
    /// Gyro and accelerometer.
    Imu,
    /// Laser scan.
    Lidar,
    /// Camera.
    Camera,
    /// Measured speed.
    Speed,
    /// Measured steering.
    Steering,
    /// Angles of all joints.
    Joints,
    /// Playing sounds.
    Audio,
}

impl Shown {
    /// All readings.
    pub const ALL: [Shown; 9] = [
        Shown::Odom,
        Shown::Battery,
        Shown::Imu,
        Shown::Lidar,
        Shown::Camera,
        Shown::Speed,
        Shown::Steering,
        Shown::Joints,
        Shown::Audio,
    ];

    /// Name of the reading in `include`.
    pub fn name(self) -> &'static str {
        match self {
            Shown::Odom => "odom",
            Shown::Battery => "battery",
            Shown::Imu => "imu",
            Shown::Lidar => "lidar",
            Shown::Camera => "camera",
            Shown::Speed => "speed",
            Shown::Steering => "steering",
            Shown::Joints => "joints",
            Shown::Audio => "audio",
        }
    }

    /// Parses a comma-separated list of names.
    pub fn list(text: &str) -> Result<Vec<Shown>, Invalid> {
        let known = |name: &str| Shown::ALL.into_iter().find(|s| s.name() == name);
        let wrong = |name: &str| {
            let names: Vec<&str> = Shown::ALL.iter().map(|s| s.name()).collect();
            Invalid(format!(
                "include must be a comma-separated list of {}; \"{name:.40}\" is none of them",
                names.join(", ")
            ))
        };
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(|name| known(name).ok_or_else(|| wrong(name))).collect()
    }
}

/// Response of `GET /states`: the requested readings. A reading that does not exist yet is null.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct States {
    /// The current actuator commands.
    pub cmd: DriveCommand,
    /// Same as `GET /odom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Odometry>)]
    pub odom: Option<Option<Odometry>>,
    /// Same as `GET /battery`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Battery>)]
    pub battery: Option<Option<Battery>>,
    /// Same as `GET /imu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Inertial>)]
    pub imu: Option<Option<Inertial>>,
    /// Same as `GET /lidar`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LidarScan>)]
    pub lidar: Option<Option<LidarScan>>,
    /// The latest frame of the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CameraFrame>)]
    pub camera: Option<Option<CameraFrame>>,
    /// Same as `GET /speed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub speed: Option<Option<Num>>,
    /// Same as `GET /steering`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub steering: Option<Option<Num>>,
    /// Angles of all joints.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<JointAngles>)]
    pub joints: Option<Option<JointAngles>>,
    /// Same as `GET /audio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<Sounds>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_an_unknown_name_lists_the_valid_ones() {
        assert_eq!(Shown::list("odom, imu,,"), Ok(vec![Shown::Odom, Shown::Imu]));
        let wrong = Shown::list("odom,smell").expect_err("refused").0;
        assert!(Shown::ALL.iter().all(|s| wrong.contains(s.name())) && wrong.contains("smell"), "{wrong}");
    }
}
