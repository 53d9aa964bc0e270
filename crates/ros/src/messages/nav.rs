//! `nav_msgs`.

use super::{Header, PoseWithCovariance, TwistWithCovariance};
use serde::{Deserialize, Serialize};

/// Where the car believes it is, and how fast.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Odometry {
    /// The moment, and the frame of the pose.
    pub header: Header,
    /// The frame of the car, and of the speeds.
    pub child_frame_id: String,
    /// Where.
    pub pose: PoseWithCovariance,
    /// How fast.
    pub twist: TwistWithCovariance,
}
