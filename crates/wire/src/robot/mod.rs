//! Requests, responses and events of the robot's own API.

mod about;
mod audio;
mod command;
mod reading;
mod states;

pub use about::{Hardware, Health, Info, Rates, Sensors, Sizes, Software};
pub use audio::{
    DurationRequest, PlayRequest, PlayRequestBody, Played, SoundBegun, SoundDuration, SoundEvent,
    SoundFormat, SoundKind, SoundPlaying, SoundSamples, SoundSource, SoundStopped, Sounds, StopSoundRequest,
    StopSoundRequestBody, StreamOpened, VolumeChanged, VolumeRequest,
};
pub use command::{
    CameraAngleRequest, Commanded, DriveRequest, DriveValues, Driven, SpeedFrame, SpeedRequest,
    SteeringRequest,
};
pub use reading::{
    Battery, Heading, Inertial, JointAngles, LIDAR_STEP, LidarScan, Odometry, Quaternion, ScanMeta,
    ScanUnits, Velocity,
};
pub use states::{CameraFrame, DriveCommand, Shown, States};

use crate::error::ErrorCode;
use serde::Serialize;
use utoipa::ToSchema;

/// The body of every error response of the robot's API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Detail {
    /// The cause of the error and, where possible, how to correct the request.
    #[schema(example = "world not ready")]
    pub detail: String,
    /// The kind of error. It stays the same when the text changes.
    pub code: ErrorCode,
}

/// Response of a sensor's path before the first reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Waiting {
    /// Names the missing reading.
    #[schema(example = "No odometry data")]
    pub error: String,
    /// Always `waiting`.
    pub status: &'static str,
    /// Always `no_reading`.
    pub code: ErrorCode,
}
