//! A world and its objects.

use crate::geometry::{FlatPose, Pose, Rect, Size};
use crate::named::Named;
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Type of an object, from its marker in the world file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObjectType {
    /// An obstacle.
    Object,
    /// A wall or one side of the fence.
    Wall,
    /// A traffic light.
    Light,
}

/// Shape of an object, from its marker and geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObjectKind {
    /// A box.
    Box,
    /// A cylinder.
    Cylinder,
    /// A sphere.
    Sphere,
    /// A traffic cone.
    Cone,
    /// A traffic light.
    Light,
    /// A wall.
    Wall,
}

/// Response of `GET /world`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct World {
    /// Name of the world.
    #[schema(example = "oval")]
    pub world: String,
    /// Id of the published world; null for every other world.
    pub world_id: Option<String>,
    /// Revision of a published world, or of the world of a project; null for every other world.
    pub rev: Option<String>,
    /// Display name.
    pub display: String,
    /// Route and bounds of the track.
    pub track: Track,
    /// Catalogue entries by name, in the order of the world file.
    #[schema(value_type = BTreeMap<String, CatalogueEntry>)]
    pub objects: Named<String, CatalogueEntry>,
    /// Whether the world has an evaluation.
    pub evaluation: bool,
    /// Length of the yellow phase of a light, simulated seconds.
    pub yellow_s: Num,
}

/// Route and bounds of a world.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Track {
    /// Centre line and borders; null if the world has no route.
    pub route: Option<RouteLines>,
    /// Bounds of the drivable surface; null if the world has no such surface.
    pub bounds: Option<Rect>,
}

/// Centre line and borders. Each line is a loop whose last point equals the first. Row i of a
/// border belongs to row i of the centre line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RouteLines {
    /// Points (x, y) of the centre line, m.
    pub waypoints: Vec<[Num; 2]>,
    /// Points (x, y) of the inner border, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner: Option<Vec<[Num; 2]>>,
    /// Points (x, y) of the outer border, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer: Option<Vec<[Num; 2]>>,
    /// Whether the road itself is a loop. If false, the last point only closes the list of points.
    pub closed: bool,
}

/// Response of `GET /route`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Route {
    /// Name of the world.
    pub world: String,
    /// Centre line and borders.
    #[serde(flatten)]
    pub lines: RouteLines,
}

/// An object as the world file defines it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CatalogueEntry {
    /// Type of the object, from its marker in the world file.
    pub r#type: ObjectType,
    /// Shape of the object, from its marker and geometry.
    pub kind: ObjectKind,
    /// Whether physics never moves the object.
    pub r#static: bool,
    /// Whether a pose command may move the object.
    pub movable: bool,
    /// Initial pose.
    pub origin: FlatPose,
    /// Full extents of the object's bounding box.
    pub size: Size,
}

/// Response of `GET /objects`, in the order of the world file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Objects {
    /// Name of the world.
    #[schema(value_type = String)]
    pub world: std::sync::Arc<str>,
    /// The objects.
    #[schema(value_type = Vec<WorldObject>)]
    pub objects: Vec<Object>,
}

/// Alias for utoipa, which treats the type name `Object` as any JSON object.
type WorldObject = Object;

/// An object with its current pose.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = WorldObject)]
pub struct Object {
    /// Name of the object.
    #[schema(value_type = String)]
    pub name: std::sync::Arc<str>,
    /// Type of the object, from its marker in the world file.
    pub r#type: ObjectType,
    /// Shape of the object, from its marker and geometry.
    pub kind: ObjectKind,
    /// Whether physics never moves the object.
    pub r#static: bool,
    /// Whether a pose command may move the object.
    pub movable: bool,
    /// Initial pose.
    pub origin: Pose,
    /// Current pose.
    pub current: Pose,
    /// Full extents of the object's bounding box.
    pub size: Size,
}
