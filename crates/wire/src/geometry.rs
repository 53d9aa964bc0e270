//! Where things are and how large. Metres and radians.

use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// A pose in the world: z up, yaw counter-clockwise from +x.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct Pose {
    /// Metres.
    pub x: Num,
    /// Metres.
    pub y: Num,
    /// Metres.
    pub z: Num,
    /// Radians.
    pub roll: Num,
    /// Radians.
    pub pitch: Num,
    /// Radians, −π to π.
    pub yaw: Num,
    /// The same rotation as a quaternion x, y, z, w.
    pub q: [Num; 4],
}

/// A pose of something upright.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct FlatPose {
    /// Metres.
    pub x: Num,
    /// Metres.
    pub y: Num,
    /// Metres.
    pub z: Num,
    /// Radians, −π to π.
    pub yaw: Num,
}

/// Full extents of an object's own bounding box.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct Size {
    /// Metres.
    pub x: Num,
    /// Metres.
    pub y: Num,
    /// Metres.
    pub z: Num,
}

/// A rectangle on the ground.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bounds)]
pub struct Rect {
    /// Metres.
    pub min_x: Num,
    /// Metres.
    pub max_x: Num,
    /// Metres.
    pub min_y: Num,
    /// Metres.
    pub max_y: Num,
}
