//! Builds the collision shapes of a model. In the track and in scenery, a mesh becomes a triangle
//! mesh. In an object, also in a wall or a light, a mesh becomes its bounding box.

use super::built_in_meshes::built_in_extents;
use super::extents::Extents;
use super::meshes::{MeshTarget, Meshes};
use super::rigid_model::{PlacedSpec, RigidModel};
use crate::error::{Error, SourceLocation, Warnings};
use crate::pose::Pose;
use crate::spec::{CollisionSpec, Geometry};
use crate::world::{Shape, Solid, TriangleMesh};
use glam::DVec3;
use std::sync::Arc;

/// Default friction of objects.
pub(super) const OBJECT_FRICTION: f64 = 0.6;
/// Default friction of walls and scenery.
pub(super) const WALL_FRICTION: f64 = 0.4;
/// Maximum friction coefficient, which is about the friction of rubber on rubber. A limit is
/// necessary, because some files use an unrealistic value such as 100.
const MAX_FRICTION: f64 = 2.0;
/// Minimum half thickness of a primitive shape, in metres.
const MIN_HALF: f64 = 1e-4;
/// A triangle of the track counts as ground if the heights of its corners differ from the height of
/// the ground plane by at most this distance, in metres. Another shape of the track counts as
/// ground if its top is at most this distance above the ground plane.
const FLAT: f64 = 0.02;

/// How the collision meshes of a model are represented.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MeshCollision {
    /// Each mesh becomes its bounding box. Objects, including walls and lights, use this
    /// representation.
    Boxes,
    /// Each mesh becomes a triangle mesh. The track and scenery use this representation.
    Triangles,
}

/// Friction coefficient of a collision, clamped to the range from 0 to `MAX_FRICTION`.
pub(super) fn friction_of(spec: &CollisionSpec, default: f64) -> f64 {
    spec.friction.unwrap_or(default).clamp(0.0, MAX_FRICTION)
}

/// The collision shapes of a model, in the frame of the model. Planes are skipped, because the
/// module `ground` handles planes.
pub(super) fn solids_of(
    body: &RigidModel<'_>,
    mesh_collision: MeshCollision,
    friction: f64,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Vec<Solid>, Error> {
    let mut solids = Vec::new();
    for part in &body.collisions {
        if let Some((pose, shape)) = shape_of(part, mesh_collision, meshes, warnings)? {
            solids.push(Solid {
                pose,
                shape,
                friction: friction_of(part.spec, friction),
                restitution: part.spec.restitution.unwrap_or(0.0).clamp(0.0, 1.0),
            });
        }
    }
    Ok(solids)
}

/// A collision box that fills a bounding box.
pub(super) fn boxed(extents: Extents, friction: f64) -> Solid {
    let (pose, shape) = extents.to_solid(&Pose::IDENTITY);
    Solid { pose, shape, friction, restitution: 0.0 }
}

fn shape_of(
    part: &PlacedSpec<'_, CollisionSpec>,
    mesh_collision: MeshCollision,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Option<(Pose, Shape)>, Error> {
    let Geometry::Mesh { uri, scale, submesh } = &part.spec.geometry else {
        return Ok(generated_shape(part, mesh_collision, meshes, warnings)
            .or_else(|| Some((part.pose, simple_shape(&part.spec.geometry)?))));
    };
    let boxed = |extents: Extents| extents.to_solid(&part.pose);
    match meshes.find(uri, submesh.as_ref(), part.file, warnings)? {
        MeshTarget::Missing => Ok(None),
        MeshTarget::BuiltIn(mesh) => Ok(Some(boxed(built_in_extents(mesh, *scale)))),
        MeshTarget::File(key) => {
            let Some(extents) = meshes.extents(&key, *scale)? else {
                let message = format!("collision mesh \"{}\" has no triangles and is ignored", key.path);
                warnings.add(message, || SourceLocation::file(part.file));
                return Ok(None);
            };
            if mesh_collision == MeshCollision::Triangles {
                if let Some(mesh) = meshes.triangles(&key, *scale) {
                    return Ok((!mesh.triangles.is_empty()).then_some((part.pose, Shape::Mesh(mesh))));
                }
                let message = format!(
                    "collision mesh \"{}\" has too many triangles: its bounding box is used",
                    key.path
                );
                warnings.add(message, || SourceLocation::file(part.file));
            }
            Ok(Some(boxed(extents)))
        }
    }
}

/// The collision shape that replaces an ellipsoid or polyline, because the physics engine does not
/// support these two shapes. The result is `None` for all other shapes. The result is also `None`
/// for an ellipsoid that becomes a sphere or a box, because `simple_shape` creates the sphere or
/// box.
fn generated_shape(
    part: &PlacedSpec<'_, CollisionSpec>,
    mesh_collision: MeshCollision,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Option<(Pose, Shape)> {
    let what = match &part.spec.geometry {
        Geometry::Ellipsoid { radii } if !is_ball(radii) => "an ellipsoid",
        Geometry::Polyline { .. } => "a polyline",
        _ => return None,
    };
    if mesh_collision == MeshCollision::Triangles
        && let Some(mesh) = meshes.generated_solid(&part.spec.geometry)
    {
        return Some((part.pose, Shape::Mesh(mesh)));
    }
    let message = format!("the collision of {what} is replaced by a box");
    warnings.add(message, || SourceLocation::file(part.file));
    let Geometry::Polyline { points, height } = &part.spec.geometry else { return None };
    polyline_extents(points, *height).map(|e| e.to_solid(&part.pose))
}

/// The bounding box of an extruded polygon. The result is `None` if the polygon has no points.
pub(super) fn polyline_extents(points: &[[f64; 2]], height: f64) -> Option<Extents> {
    let corners = points.iter().flat_map(|p| [0.0, height].map(|z| DVec3::new(p[0], p[1], z)));
    Extents::of_points(corners)
}

/// Whether all half axes of an ellipsoid are equal.
pub(super) fn is_ball(radii: &[f64; 3]) -> bool {
    radii.iter().all(|r| (r - radii[0]).abs() <= 1e-6 * radii[0])
}

/// The collision shape of a primitive, with a minimum thickness. The result is `None` for meshes,
/// polylines, planes and missing shapes.
pub(super) fn simple_shape(geometry: &Geometry) -> Option<Shape> {
    let thick = |x: f64| x.max(MIN_HALF);
    Some(match *geometry {
        Geometry::Box { size } => Shape::Box(DVec3::from_array(size.map(|x| thick(x * 0.5)))),
        Geometry::Cylinder { radius, length } => {
            Shape::Cylinder { radius: thick(radius), half_length: thick(length * 0.5) }
        }
        Geometry::Sphere { radius } => Shape::Sphere { radius: thick(radius) },
        Geometry::Capsule { radius, length } => {
            Shape::Capsule { radius: thick(radius), half_length: thick(length * 0.5) }
        }
        Geometry::Cone { radius, length } => {
            Shape::Cone { radius: thick(radius), half_length: thick(length * 0.5) }
        }
        Geometry::Ellipsoid { radii } if is_ball(&radii) => Shape::Sphere { radius: thick(radii[0]) },
        Geometry::Ellipsoid { radii } => Shape::Box(DVec3::from_array(radii.map(thick))),
        Geometry::Plane { .. }
        | Geometry::Mesh { .. }
        | Geometry::Polyline { .. }
        | Geometry::Empty
        | Geometry::Unsupported { .. } => return None,
    })
}

/// Removes the parts of a track solid that coincide with the ground plane, because the ground plane
/// is solid there anyway. From a mesh, the triangles at the height of the ground are removed. Any
/// other shape is removed if it does not rise above the ground. The result is `None` if the whole
/// solid is removed.
pub(super) fn without_ground(solid: Solid, ground: f64) -> Option<Solid> {
    let Shape::Mesh(mesh) = &solid.shape else {
        let top = Extents::of(&solid.pose, &solid.shape).max().z;
        return (top > ground + FLAT).then_some(solid);
    };
    let flat: Vec<bool> =
        mesh.vertices.iter().map(|v| (solid.pose.point(*v).z - ground).abs() <= FLAT).collect();
    let is_raised = |t: &&[u32; 3]| !t.iter().all(|i| flat[*i as usize]);
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().filter(is_raised).copied().collect();
    match triangles.len() {
        0 => None,
        n if n == mesh.triangles.len() => Some(solid),
        _ => {
            let rest = TriangleMesh { vertices: mesh.vertices.clone(), triangles };
            Some(Solid { shape: Shape::Mesh(Arc::new(rest)), ..solid })
        }
    }
}
