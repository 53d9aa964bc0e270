//! Poses and sizes in metres and radians.

use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// A pose in the world frame: z points up, yaw is counter-clockwise from +x.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct Pose {
    /// X coordinate, m.
    pub x: Num,
    /// Y coordinate, m.
    pub y: Num,
    /// Z coordinate, m.
    pub z: Num,
    /// Roll, rad.
    pub roll: Num,
    /// Pitch, rad.
    pub pitch: Num,
    /// Yaw, rad, −π to π.
    pub yaw: Num,
    /// The same rotation as a quaternion x, y, z, w.
    pub q: [Num; 4],
}

/// Pose of an upright object, without roll and pitch.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct FlatPose {
    /// X coordinate, m.
    pub x: Num,
    /// Y coordinate, m.
    pub y: Num,
    /// Z coordinate, m.
    pub z: Num,
    /// Yaw, rad, −π to π.
    pub yaw: Num,
}

/// Full extents of an object's bounding box in the object's own frame.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct Size {
    /// Extent along x, m.
    pub x: Num,
    /// Extent along y, m.
    pub y: Num,
    /// Extent along z, m.
    pub z: Num,
}

/// An axis-aligned rectangle on the ground.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bounds)]
pub struct Rect {
    /// Smallest x, m.
    pub min_x: Num,
    /// Largest x, m.
    pub max_x: Num,
    /// Smallest y, m.
    pub min_y: Num,
    /// Largest y, m.
    pub max_y: Num,
}
