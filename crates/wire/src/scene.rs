//! Addresses of the 3D files that a viewer draws.

use serde::Serialize;
use utoipa::ToSchema;

/// Response of `GET /scene`. The file at an address never changes: a changed scene gets a new
/// address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Scene {
    /// Name of the running world.
    pub world: String,
    /// 16 hex digits that change whenever the file of the world changes.
    #[schema(example = "0123456789abcdef")]
    pub version: String,
    /// Address of the world as binary glTF, with every object at its initial pose.
    #[schema(example = "/sim/scene/0123456789abcdef.glb")]
    pub world_glb: String,
    /// Address of the car as binary glTF, with every joint at zero.
    #[schema(example = "/sim/scene/0123456789abcdef.glb")]
    pub car_glb: String,
}
