//! Names and sizes of the built-in meshes of objects. A bundle can use these meshes without
//! containing their files.

use super::extents::Extents;
use super::uri::{folder_of, stem_of};
use crate::scene::BuiltInMesh;
use glam::DVec3;

/// The built-in mesh that replaces a missing mesh file. The ending of the file name or folder name
/// selects the mesh, such as `_cone` in `<brand>_cone`. The result is `None` if neither name has
/// the ending of a built-in mesh.
pub(super) fn built_in(uri: &str) -> Option<BuiltInMesh> {
    let folder = folder_of(uri).rsplit('/').next().unwrap_or("");
    [stem_of(uri), folder].into_iter().find_map(|name| {
        let has = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        match name {
            _ if has("_box_obstacle") => Some(BuiltInMesh::BoxObstacle),
            _ if has("_ball") => Some(BuiltInMesh::Ball),
            _ if has("_cone") => Some(BuiltInMesh::Cone),
            _ => None,
        }
    })
}

/// The bounding box of a built-in mesh: its default size times `scale`. The origin is at the centre
/// of the bottom face of the box.
pub(super) fn built_in_extents(mesh: BuiltInMesh, scale: [f64; 3]) -> Extents {
    let size = match mesh {
        BuiltInMesh::BoxObstacle => DVec3::new(0.3, 0.2, 0.2),
        BuiltInMesh::Ball => DVec3::splat(0.22),
        BuiltInMesh::Cone => DVec3::new(0.135, 0.135, 0.23),
    };
    let size = size * DVec3::from_array(scale).abs();
    Extents { centre: DVec3::new(0.0, 0.0, size.z * 0.5), size }
}
