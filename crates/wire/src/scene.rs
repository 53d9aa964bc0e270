//! Where a viewer finds what it draws.

use serde::Serialize;
use utoipa::ToSchema;

/// Answer of `GET /scene`. A file never changes under its address: another world has another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Scene {
    /// Name of the world that is served.
    pub world: String,
    /// 16 hex digits that change with anything that is drawn.
    #[schema(example = "0123456789abcdef")]
    pub version: String,
    /// Address of the world as binary glTF, everything as at load.
    #[schema(example = "/sim/scene/0123456789abcdef.glb")]
    pub world_glb: String,
    /// Address of the car as binary glTF, everything straight.
    #[schema(example = "/sim/scene/0123456789abcdef.glb")]
    pub car_glb: String,
}
