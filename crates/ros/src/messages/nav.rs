//! Message types of `nav_msgs`.

use super::geometry::{PoseWithCovariance, TwistWithCovariance};
use super::standard::Header;
use serde::{Deserialize, Serialize};

/// Estimated pose and velocity of the car.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Odometry {
    /// Time, and the frame of the pose.
    pub header: Header,
    /// The frame that is attached to the car. The velocity is given in this frame.
    pub child_frame_id: String,
    /// The pose.
    pub pose: PoseWithCovariance,
    /// The velocity.
    pub twist: TwistWithCovariance,
}
