//! Several readings of the robot in one response.

use super::audio::Sounds;
use super::reading::{Battery, Inertial, JointAngles, LidarScan, Odometry};
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
    /// Always `jpeg`.
    pub encoding: &'static str,
    /// The image, base64.
    pub data: String,
}

/// A reading that `GET /states` can include.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// The current actuator commands. Every response contains them.
    Cmd,
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
    /// Commanded steering.
    Steering,
    /// Commanded pan angle of the camera.
    CameraPan,
    /// Commanded tilt angle of the camera.
    CameraTilt,
    /// Measured angles of all joints.
    Joints,
    /// Playing sounds.
    Audio,
    /// Joystick.
    Joy,
}

impl Shown {
    /// All readings.
    pub const ALL: [Shown; 13] = [
        Shown::Cmd,
        Shown::Odom,
        Shown::Battery,
        Shown::Imu,
        Shown::Lidar,
        Shown::Camera,
        Shown::Speed,
        Shown::Steering,
        Shown::CameraPan,
        Shown::CameraTilt,
        Shown::Joints,
        Shown::Audio,
        Shown::Joy,
    ];

    /// The readings of a response to a request without `include`.
    pub const USUAL: [Shown; 3] = [Shown::Cmd, Shown::Odom, Shown::Battery];

    /// Name of the reading in `include`.
    pub fn name(self) -> &'static str {
        match self {
            Shown::Cmd => "cmd",
            Shown::Odom => "odom",
            Shown::Battery => "battery",
            Shown::Imu => "imu",
            Shown::Lidar => "lidar",
            Shown::Camera => "camera",
            Shown::Speed => "speed",
            Shown::Steering => "steering",
            Shown::CameraPan => "camera_pan",
            Shown::CameraTilt => "camera_tilt",
            Shown::Joints => "joints",
            Shown::Audio => "audio",
            Shown::Joy => "joy",
        }
    }

    /// Parses a comma-separated list of names. Unknown names are skipped, because a program that
    /// was written for another car may request readings that this car does not have.
    pub fn list(text: &str) -> Vec<Shown> {
        let known = |name: &str| Shown::ALL.into_iter().find(|s| s.name() == name);
        let mut shown: Vec<Shown> = text.split(',').filter_map(|name| known(name.trim())).collect();
        shown.sort_unstable();
        shown.dedup();
        shown
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
    /// Same as `GET /camera/pan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub camera_pan: Option<Option<Num>>,
    /// Same as `GET /camera/tilt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub camera_tilt: Option<Option<Num>>,
    /// Measured angles of all joints, with the measured `steering`, `pan` and `tilt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<JointAngles>)]
    pub joints: Option<Option<JointAngles>>,
    /// Same as `GET /audio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<Sounds>,
    /// Always null, because this car has no joystick.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub joy: Option<Option<Num>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_unknown_names_are_skipped() {
        assert_eq!(Shown::list("imu, odom,,smell,imu"), [Shown::Odom, Shown::Imu]);
        assert_eq!(Shown::list(""), []);
        let all: Vec<&str> = Shown::ALL.iter().map(|s| s.name()).collect();
        assert_eq!(Shown::list(&all.join(",")), Shown::ALL);
    }
}
