//! Several things that the robot says, in one answer.

use super::audio::Sounds;
use super::reading::{Battery, Inertial, JointAngles, LidarScan, Odometry};
use crate::fields::Invalid;
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// What the actuators are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct DriveCommand {
    /// m/s.
    pub speed: Num,
    /// rad, + is left.
    pub steering: Num,
    /// Camera, rad, + is left.
    pub pan: Num,
    /// Camera, rad, + is up.
    pub tilt: Num,
}

/// The last frame of the camera.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CameraFrame {
    /// Simulated seconds at which it was taken.
    pub time: Num,
    /// Which frame it is, from 0.
    pub frame: u64,
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// `jpeg`, if the picture was asked for by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    /// The picture, base64, if it was asked for by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// Something that `GET /states` can show.
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
    /// Everything that turns.
    Joints,
    /// What plays.
    Audio,
}

impl Shown {
    /// All there are.
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

    /// As it is written.
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

    /// Reads names with commas between them.
    pub fn list(text: &str) -> Result<Vec<Shown>, Invalid> {
        let known = |name: &str| Shown::ALL.into_iter().find(|s| s.name() == name);
        let wrong = |name: &str| {
            let names: Vec<&str> = Shown::ALL.iter().map(|s| s.name()).collect();
            Invalid(format!("include must name some of {}, with commas; not {name:.40}", names.join(", ")))
        };
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(|name| known(name).ok_or_else(|| wrong(name))).collect()
    }
}

/// Answer of `GET /states`: what was asked for. A reading that is not there yet is null.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct States {
    /// What the actuators are asked for.
    pub cmd: DriveCommand,
    /// As `GET /odom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Odometry>)]
    pub odom: Option<Option<Odometry>>,
    /// As `GET /battery`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Battery>)]
    pub battery: Option<Option<Battery>>,
    /// As `GET /imu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Inertial>)]
    pub imu: Option<Option<Inertial>>,
    /// As `GET /lidar`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LidarScan>)]
    pub lidar: Option<Option<LidarScan>>,
    /// The last frame of the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CameraFrame>)]
    pub camera: Option<Option<CameraFrame>>,
    /// As `GET /speed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub speed: Option<Option<Num>>,
    /// As `GET /steering`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub steering: Option<Option<Num>>,
    /// Everything that turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<JointAngles>)]
    pub joints: Option<Option<JointAngles>>,
    /// As `GET /audio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<Sounds>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_an_unknown_one_is_told_those_there_are() {
        assert_eq!(Shown::list("odom, imu,,"), Ok(vec![Shown::Odom, Shown::Imu]));
        let wrong = Shown::list("odom,smell").expect_err("refused").0;
        assert!(Shown::ALL.iter().all(|s| wrong.contains(s.name())) && wrong.contains("smell"), "{wrong}");
    }
}
