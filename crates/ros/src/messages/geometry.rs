//! `geometry_msgs` and `tf2_msgs`.

use super::Header;
use super::array;
use serde::{Deserialize, Serialize};

/// A direction with a length.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Vector3 {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// A place.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// A rotation; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Quaternion {
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub w: f64,
}

impl Default for Quaternion {
    fn default() -> Quaternion {
        Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 }
    }
}

impl Quaternion {
    /// Turned by this much, + is left, after being tilted up.
    pub fn of_pan_tilt(pan: f64, tilt: f64) -> Quaternion {
        let (sz, cz) = libm::sincos(0.5 * pan);
        let (sy, cy) = libm::sincos(-0.5 * tilt);
        Quaternion { x: -sz * sy, y: cz * sy, z: sz * cy, w: cz * cy }
    }

    /// Turned by this much, + is left.
    pub fn of_yaw(yaw: f64) -> Quaternion {
        let (z, w) = libm::sincos(0.5 * yaw);
        Quaternion { x: 0.0, y: 0.0, z, w }
    }
}

/// Where something is and how it is turned.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pose {
    /// Where.
    pub position: Point,
    /// How it is turned.
    pub orientation: Quaternion,
}

/// A pose and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoseWithCovariance {
    /// The pose.
    pub pose: Pose,
    /// Rows of x, y, z, and rotations about them.
    #[serde(with = "array")]
    pub covariance: [f64; 36],
}

impl Default for PoseWithCovariance {
    fn default() -> Self {
        PoseWithCovariance { pose: Pose::default(), covariance: [0.0; 36] }
    }
}

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Twist {
    /// m/s.
    pub linear: Vector3,
    /// rad/s.
    pub angular: Vector3,
}

/// How fast, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TwistWithCovariance {
    /// How fast.
    pub twist: Twist,
    /// Rows of x, y, z, and rotations about them.
    #[serde(with = "array")]
    pub covariance: [f64; 36],
}

impl Default for TwistWithCovariance {
    fn default() -> Self {
        TwistWithCovariance { twist: Twist::default(), covariance: [0.0; 36] }
    }
}

/// Where a frame is in another.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Transform {
    /// Where.
    pub translation: Vector3,
    /// How it is turned.
    pub rotation: Quaternion,
}

/// Where a frame is in another at a moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TransformStamped {
    /// The moment, and the frame it is in.
    pub header: Header,
    /// The frame.
    pub child_frame_id: String,
    /// Where.
    pub transform: Transform,
}

/// Where frames are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TFMessage {
    /// Each of them.
    pub transforms: Vec<TransformStamped>,
}
