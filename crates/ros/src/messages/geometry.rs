//! Message types of `geometry_msgs` and `tf2_msgs`.

use super::array;
use super::standard::Header;
use serde::{Deserialize, Serialize};

/// A vector.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Vector3 {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// A position.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// A rotation. The default is the identity.
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
    /// A rotation by `tilt` upwards, followed by a rotation by `pan` to the left. Both are in rad.
    pub fn of_pan_tilt(pan: f64, tilt: f64) -> Quaternion {
        let (sz, cz) = libm::sincos(0.5 * pan);
        let (sy, cy) = libm::sincos(-0.5 * tilt);
        Quaternion { x: -sz * sy, y: cz * sy, z: sz * cy, w: cz * cy }
    }

    /// A rotation by `yaw` to the left, rad.
    pub fn of_yaw(yaw: f64) -> Quaternion {
        let (z, w) = libm::sincos(0.5 * yaw);
        Quaternion { x: 0.0, y: 0.0, z, w }
    }
}

/// Position and orientation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pose {
    /// Position, m.
    pub position: Point,
    /// Orientation.
    pub orientation: Quaternion,
}

/// A pose and its covariance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoseWithCovariance {
    /// The pose.
    pub pose: Pose,
    /// A 6×6 matrix, row by row. Its rows are x, y, z, and the rotations about x, y, z.
    #[serde(with = "array")]
    pub covariance: [f64; 36],
}

impl Default for PoseWithCovariance {
    fn default() -> Self {
        PoseWithCovariance { pose: Pose::default(), covariance: [0.0; 36] }
    }
}

/// Linear and angular velocity.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Twist {
    /// Linear velocity, m/s.
    pub linear: Vector3,
    /// Angular velocity, rad/s.
    pub angular: Vector3,
}

/// A velocity and its covariance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TwistWithCovariance {
    /// The velocity.
    pub twist: Twist,
    /// A 6×6 matrix, row by row. Its rows are x, y, z, and the rotations about x, y, z.
    #[serde(with = "array")]
    pub covariance: [f64; 36],
}

impl Default for TwistWithCovariance {
    fn default() -> Self {
        TwistWithCovariance { twist: Twist::default(), covariance: [0.0; 36] }
    }
}

/// The pose of a frame in its parent frame.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Transform {
    /// Position, m.
    pub translation: Vector3,
    /// Orientation.
    pub rotation: Quaternion,
}

/// A transform with its time and frames.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TransformStamped {
    /// Time and parent frame.
    pub header: Header,
    /// The child frame.
    pub child_frame_id: String,
    /// The pose of the child frame in the parent frame.
    pub transform: Transform,
}

/// A list of transforms.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TFMessage {
    /// The transforms.
    pub transforms: Vec<TransformStamped>,
}
