//! A world and what stands in it.

use crate::geometry::{FlatPose, Pose, Rect, Size};
use crate::named::Named;
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// By the marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObjectType {
    /// An obstacle.
    Object,
    /// A wall or a side of the fence.
    Wall,
    /// A traffic light.
    Light,
}

/// By marker and geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObjectKind {
    /// A box.
    Box,
    /// A cylinder.
    Cylinder,
    /// A ball.
    Sphere,
    /// A traffic cone.
    Cone,
    /// A traffic light.
    Light,
    /// A wall.
    Wall,
}

/// Answer of `GET /world`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct World {
    /// Name of the world.
    #[schema(example = "oval")]
    pub world: String,
    /// Published id; null for built-in worlds.
    pub world_id: Option<String>,
    /// Revision of a published world.
    pub rev: Option<String>,
    /// Name for people.
    pub display: String,
    /// Route and bounds.
    pub track: Track,
    /// The catalogue by name, in the order of the world file.
    #[schema(value_type = BTreeMap<String, CatalogueEntry>)]
    pub objects: Named<String, CatalogueEntry>,
    /// Whether it has an evaluation.
    pub evaluation: bool,
}

/// Route and bounds of a world.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Track {
    /// Centre line and borders; null where there are none.
    pub route: Option<RouteLines>,
    /// Extent of the track's ground; null where there is none.
    pub bounds: Option<Rect>,
}

/// Centre line and borders: a loop whose last point equals the first; row i of a border belongs to
/// row i of the centre line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RouteLines {
    /// Points x, y of the centre line, m.
    pub waypoints: Vec<[Num; 2]>,
    /// Points of the inner border.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner: Option<Vec<[Num; 2]>>,
    /// Points of the outer border.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer: Option<Vec<[Num; 2]>>,
    /// Whether the road itself leads back to its start; if not, the last point is only there to
    /// close the loop.
    pub closed: bool,
}

/// Answer of `GET /route`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Route {
    /// Name of the world.
    pub world: String,
    /// The lines.
    #[serde(flatten)]
    pub lines: RouteLines,
}

/// An object as the world file has it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CatalogueEntry {
    /// By the marker.
    pub r#type: ObjectType,
    /// By marker and geometry.
    pub kind: ObjectKind,
    /// Physics never moves it.
    pub r#static: bool,
    /// A pose command may move it.
    pub movable: bool,
    /// Pose at load.
    pub origin: FlatPose,
    /// Full extents.
    pub size: Size,
}

/// Answer of `GET /objects`, in the order of the world file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Objects {
    /// Name of the world.
    #[schema(value_type = String)]
    pub world: std::sync::Arc<str>,
    /// The objects.
    #[schema(value_type = Vec<WorldObject>)]
    pub objects: Vec<Object>,
}

/// `Object` alone would be any object to the document.
type WorldObject = Object;

/// An object and where it is now.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = WorldObject)]
pub struct Object {
    /// Name.
    #[schema(value_type = String)]
    pub name: std::sync::Arc<str>,
    /// By the marker.
    pub r#type: ObjectType,
    /// By marker and geometry.
    pub kind: ObjectKind,
    /// Physics never moves it.
    pub r#static: bool,
    /// A pose command may move it.
    pub movable: bool,
    /// Pose at load.
    pub origin: Pose,
    /// Pose now.
    pub current: Pose,
    /// Full extents.
    pub size: Size,
}
