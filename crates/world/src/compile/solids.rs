//! Solid shapes of collisions: whole meshes for what never moves, boxes for what may.

use super::body::{Body, Part};
use super::extents::Extents;
use super::meshes::{MeshFound, Meshes};
use super::standard::built_in_extents;
use crate::error::{Error, Place, Warnings};
use crate::pose::Pose;
use crate::spec::{CollisionSpec, Geometry};
use crate::world::{Shape, Solid, TriangleMesh};
use glam::DVec3;
use std::sync::Arc;

/// Friction of objects that don't say.
pub(super) const OBJECT_FRICTION: f64 = 0.6;
/// Friction of walls and scenery that don't say.
pub(super) const WALL_FRICTION: f64 = 0.4;
/// Rubber on rubber; files that say 100 mean "a lot".
const MAX_FRICTION: f64 = 2.0;
/// Half of the thinnest thing that is solid.
const MIN_HALF: f64 = 1e-4;
/// Solid triangles this near to the ground are the ground.
const FLAT: f64 = 0.02;

/// How meshes become solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MeshesAs {
    /// As boxes: things that may move.
    Boxes,
    /// As they are: things that never move.
    Triangles,
}

/// Friction of a collision, within reason.
pub(super) fn friction_of(spec: &CollisionSpec, default: f64) -> f64 {
    spec.friction.unwrap_or(default).clamp(0.0, MAX_FRICTION)
}

/// The solids of a model in its own frame. Planes are no part of it: they are the ground.
pub(super) fn solids_of(
    body: &Body<'_>,
    meshes_as: MeshesAs,
    friction: f64,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Vec<Solid>, Error> {
    let mut solids = Vec::new();
    for part in &body.collisions {
        if let Some((pose, shape)) = shape_of(part, meshes_as, meshes, warnings)? {
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

fn shape_of(
    part: &Part<'_, CollisionSpec>,
    meshes_as: MeshesAs,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Option<(Pose, Shape)>, Error> {
    let Geometry::Mesh { uri, scale, submesh } = &part.spec.geometry else {
        return Ok(made_shape(part, meshes_as, meshes, warnings)
            .or_else(|| Some((part.pose, simple_shape(&part.spec.geometry)?))));
    };
    let boxed = |extents: Option<Extents>| extents.map(|e| e.to_solid(&part.pose));
    match meshes.find(uri, submesh.as_ref(), part.file, warnings)? {
        MeshFound::Missing => Ok(None),
        MeshFound::BuiltIn(mesh) => Ok(boxed(Some(built_in_extents(mesh, *scale)))),
        MeshFound::File(key) => {
            let extents = meshes.extents(&key, *scale)?;
            if meshes_as == MeshesAs::Triangles {
                if let Some(mesh) = meshes.triangles(&key, *scale) {
                    return Ok((!mesh.triangles.is_empty()).then_some((part.pose, Shape::Mesh(mesh))));
                }
                let message =
                    format!("collision mesh \"{}\" has too many triangles: its box is solid", key.path);
                warnings.add(message, || Place::file(part.file));
            }
            Ok(boxed(extents))
        }
    }
}

/// Shapes that physics does not know: triangles on what never moves, boxes on what may.
fn made_shape(
    part: &Part<'_, CollisionSpec>,
    meshes_as: MeshesAs,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Option<(Pose, Shape)> {
    let what = match &part.spec.geometry {
        Geometry::Ellipsoid { radii } if !is_ball(radii) => "an ellipsoid",
        Geometry::Polyline { .. } => "a polyline",
        _ => return None,
    };
    if meshes_as == MeshesAs::Triangles
        && let Some(mesh) = meshes.made_solid(&part.spec.geometry)
    {
        return Some((part.pose, Shape::Mesh(mesh)));
    }
    warnings.add(format!("the collision of {what} is taken as a box"), || Place::file(part.file));
    let Geometry::Polyline { points, height } = &part.spec.geometry else { return None };
    polyline_extents(points, *height).map(|e| e.to_solid(&part.pose))
}

/// The box round a polygon and its height.
pub(super) fn polyline_extents(points: &[[f64; 2]], height: f64) -> Option<Extents> {
    let corners = points.iter().flat_map(|p| [0.0, height].map(|z| DVec3::new(p[0], p[1], z)));
    Extents::of_points(corners)
}

/// Whether an ellipsoid is a ball.
pub(super) fn is_ball(radii: &[f64; 3]) -> bool {
    radii.iter().all(|r| (r - radii[0]).abs() <= 1e-6 * radii[0])
}

/// The shape of everything but meshes, polylines and planes. What is flat is given some thickness.
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

/// What is left of a solid of the track without the ground, which is there anyway.
pub(super) fn without_ground(solid: Solid, ground: f64) -> Option<Solid> {
    let Shape::Mesh(mesh) = &solid.shape else {
        let top = Extents::of(&solid.pose, &solid.shape).max().z;
        return (top > ground + FLAT).then_some(solid);
    };
    let flat: Vec<bool> =
        mesh.vertices.iter().map(|v| (solid.pose.point(*v).z - ground).abs() <= FLAT).collect();
    let stays = |t: &&[u32; 3]| !t.iter().all(|i| flat[*i as usize]);
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().filter(stays).copied().collect();
    match triangles.len() {
        0 => None,
        n if n == mesh.triangles.len() => Some(solid),
        _ => {
            let rest = TriangleMesh { vertices: mesh.vertices.clone(), triangles };
            Some(Solid { shape: Shape::Mesh(Arc::new(rest)), ..solid })
        }
    }
}
