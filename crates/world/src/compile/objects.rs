//! Builds the objects of a world. An object is a model with a marker. A marker is a link with a
//! special name (see [`ModelSpec::marker`](crate::spec::ModelSpec::marker)). In a world that was
//! not written for Chicane, a model of simple shape that is not static is an object too.

use super::built_in_meshes::built_in_extents;
use super::extents::{Extents, MIN_HALF};
use super::mass::mass_of;
use super::meshes::{MeshTarget, Meshes};
use super::rigid_model::RigidModel;
use super::solids::{
    MeshCollision, OBJECT_FRICTION, WALL_FRICTION, is_ball, polyline_extents, simple_shape, solids_of,
};
use crate::error::{Error, SourceLocation, Warnings};
use crate::pose::Pose;
use crate::spec::{Geometry, VisualSpec};
use crate::world::{Object, ObjectKind, ObjectType, Panel, Shape, Solid};
use crate::xml::excerpt;
use glam::{DMat3, DQuat, DVec3};

/// Edge length of the box that replaces a missing shape of an object, in metres.
const DEFAULT_SIZE: f64 = 0.1;

/// Maximum extent of an unmarked object, in metres. A larger model is probably a building or a
/// floor whose author did not declare it as static.
const MAX_UNMARKED_M: f64 = 5.0;
/// Maximum number of collision shapes of an unmarked object.
const MAX_UNMARKED_PARTS: usize = 8;

/// Whether a model without a marker can be an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SimpleShape {
    /// The model consists of a few primitive shapes.
    Yes,
    /// The model has joints, is too large, has too many shapes, or has shapes that are not
    /// primitive.
    No,
    /// The model has no supported collision shape other than planes.
    Nothing,
}

/// Finds out whether a model without a marker can be an object that is pushed and moved.
pub(super) fn is_simple(body: &RigidModel<'_>) -> SimpleShape {
    // A plane is ground, and never moves.
    let none =
        |g: &Geometry| matches!(g, Geometry::Empty | Geometry::Plane { .. } | Geometry::Unsupported { .. });
    let parts: Vec<_> = body.collisions.iter().filter(|c| !none(&c.spec.geometry)).collect();
    let shapes = parts.iter().map(|c| Some(Extents::of(&c.pose, &simple_shape(&c.spec.geometry)?)));
    match shapes.collect::<Option<Vec<_>>>().and_then(|all| Extents::union(all.into_iter())) {
        _ if parts.is_empty() => SimpleShape::Nothing,
        Some(extents)
            if !body.has_joints
                && parts.len() <= MAX_UNMARKED_PARTS
                && extents.size.max_element() <= MAX_UNMARKED_M =>
        {
            SimpleShape::Yes
        }
        _ => SimpleShape::No,
    }
}

/// Builds the object of a model.
pub(super) fn object_of(
    body: &RigidModel<'_>,
    object_type: ObjectType,
    file: &str,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Object, Error> {
    let friction = if object_type == ObjectType::Wall { WALL_FRICTION } else { OBJECT_FRICTION };
    let mut solids = solids_of(body, MeshCollision::Boxes, friction, meshes, warnings)?;
    if body.collisions.iter().any(|c| matches!(c.spec.geometry, Geometry::Plane { .. })) {
        let message = format!("the plane collision of \"{}\" is ignored", excerpt(body.name));
        warnings.add(message, || SourceLocation::file(file));
    }
    if solids.is_empty() {
        solids.push(default_solid(body, friction, file, meshes, warnings)?);
    }
    let extents = Extents::of_solids(&solids)
        .unwrap_or(Extents { centre: DVec3::ZERO, size: DVec3::splat(DEFAULT_SIZE) });
    let is_wall = object_type == ObjectType::Wall;
    Ok(Object {
        name: body.name.to_owned(),
        object_type,
        kind: kind_of(body, object_type),
        is_static: is_wall || body.is_static,
        movable: !is_wall,
        origin: body.origin,
        size: extents.size,
        centre: extents.centre,
        mass: mass_of(body, &solids, &extents),
        solids,
        panel: if object_type == ObjectType::Light { panel_of(body, meshes, warnings)? } else { None },
    })
}

fn kind_of(body: &RigidModel<'_>, object_type: ObjectType) -> ObjectKind {
    match object_type {
        ObjectType::Wall => return ObjectKind::Wall,
        ObjectType::Light => return ObjectKind::Light,
        ObjectType::Object => {}
    }
    if body.collisions.iter().any(|c| c.spec.name == "cone") {
        return ObjectKind::Cone;
    }
    let shape =
        |g: &&Geometry| !matches!(g, Geometry::Empty | Geometry::Plane { .. } | Geometry::Unsupported { .. });
    match body.collisions.iter().map(|c| &c.spec.geometry).find(shape) {
        Some(Geometry::Cylinder { .. } | Geometry::Capsule { .. }) => ObjectKind::Cylinder,
        Some(Geometry::Sphere { .. }) => ObjectKind::Sphere,
        Some(Geometry::Ellipsoid { radii }) if is_ball(radii) => ObjectKind::Sphere,
        Some(Geometry::Cone { .. }) => ObjectKind::Cone,
        _ => ObjectKind::Box,
    }
}

/// The collision box of an object that has no collision shapes. The object needs a box, because
/// physics needs a shape. The box is the bounding box of the object's visuals, or a small box if
/// there are no visuals.
fn default_solid(
    body: &RigidModel<'_>,
    friction: f64,
    file: &str,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Solid, Error> {
    let mut boxes = Vec::new();
    for visual in &body.visuals {
        if let Some((pose, shape)) = box_of(&visual.pose, visual.spec, visual.file, meshes, warnings)? {
            boxes.push(Extents::of(&pose, &shape));
        }
    }
    let name = excerpt(body.name);
    let (extents, message) = match Extents::union(boxes.into_iter()) {
        Some(extents) => {
            (extents, format!("\"{name}\" has no collision: the bounding box of its visuals is used"))
        }
        None => {
            let size = DVec3::splat(DEFAULT_SIZE);
            let centre = DVec3::new(0.0, 0.0, DEFAULT_SIZE * 0.5);
            (Extents { centre, size }, format!("\"{name}\" has no shape: a small box is used"))
        }
    };
    warnings.add(message, || SourceLocation::file(file));
    let (pose, shape) = extents.to_solid(&Pose::IDENTITY);
    Ok(Solid { pose, shape, friction, restitution: 0.0 })
}

/// The shape of a visual, with the pose of the shape. A mesh or polyline is replaced by its
/// bounding box. A plane is replaced by a thin box. The result is `None` if the visual has no
/// supported shape, or if its mesh is missing or empty.
pub(super) fn box_of(
    pose: &Pose,
    visual: &VisualSpec,
    file: &str,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Option<(Pose, Shape)>, Error> {
    Ok(match &visual.geometry {
        Geometry::Mesh { uri, scale, submesh } => {
            let extents = match meshes.find(uri, submesh.as_ref(), file, warnings)? {
                MeshTarget::File(key) => meshes.extents(&key, *scale)?,
                MeshTarget::BuiltIn(mesh) => Some(built_in_extents(mesh, *scale)),
                MeshTarget::Missing => None,
            };
            extents.map(|e| e.to_solid(pose))
        }
        Geometry::Plane { normal, size } => {
            let rotation = pose.rotation * from_z_to(*normal);
            let half = DVec3::new(size[0] * 0.5, size[1] * 0.5, MIN_HALF);
            Some((Pose { position: pose.position, rotation }, Shape::Box(half)))
        }
        Geometry::Polyline { points, height } => polyline_extents(points, *height).map(|e| e.to_solid(pose)),
        other => simple_shape(other).map(|shape| (*pose, shape)),
    })
}

/// The rotation that turns the +z axis into the direction `normal`.
pub(super) fn from_z_to(normal: [f64; 3]) -> DQuat {
    let normal = DVec3::from_array(normal).normalize_or(DVec3::Z);
    if normal == DVec3::Z { DQuat::IDENTITY } else { DQuat::from_rotation_arc(DVec3::Z, normal) }
}

/// The screen of a traffic light. The screen is the visual named `screen`. The result is `None` if
/// there is no such visual or it has no shape.
fn panel_of(
    body: &RigidModel<'_>,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<Option<Panel>, Error> {
    let Some(screen) = body.visuals.iter().find(|v| v.spec.name == "screen") else { return Ok(None) };
    let Some((pose, shape)) = box_of(&screen.pose, screen.spec, screen.file, meshes, warnings)? else {
        return Ok(None);
    };
    let half = match shape {
        Shape::Box(half) => half,
        other => Extents::of(&Pose::IDENTITY, &other).size * 0.5,
    };
    let is_plane = matches!(screen.spec.geometry, Geometry::Plane { .. });
    Ok(Some(panel_in(&pose, half, is_plane)))
}

/// The panel of a screen that is a thin box or a plane. `half` are the half edge lengths of the
/// box. A plane faces along its normal. A box that is thinnest along x faces along its +x axis, by
/// convention. For such a box, y is the width and z is the height. A box that is thinnest along y
/// or z faces along its thinnest axis, away from the z axis of the light. For such a box and for a
/// plane, the more upright of the other two axes is the height.
fn panel_in(pose: &Pose, half: DVec3, is_plane: bool) -> Panel {
    let rotation = DMat3::from_quat(pose.rotation);
    let axes = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
    let (x, y, z) = (half.x, half.y, half.z);
    let thin = if x <= y && x <= z {
        0
    } else if y <= z {
        1
    } else {
        2
    };
    let (rotation, width, height) = if thin == 0 && !is_plane {
        (pose.rotation, y, z)
    } else {
        let outwards = axes[thin].dot(DVec3::new(pose.position.x, pose.position.y, 0.0));
        let front = if is_plane || outwards >= -1e-9 { axes[thin] } else { -axes[thin] };
        let (a, b) = ((thin + 1) % 3, (thin + 2) % 3);
        let (up, side) = if axes[a].z.abs() > axes[b].z.abs() { (a, b) } else { (b, a) };
        let upwards = if axes[up].z < 0.0 { -axes[up] } else { axes[up] };
        let frame = DMat3::from_cols(front, upwards.cross(front), upwards);
        (DQuat::from_mat3(&frame).normalize(), half[side], half[up])
    };
    let size = [width * 2.0, height * 2.0];
    let lamp_radius = 0.5 * (0.98 * size[0]).min(0.41 * size[1]);
    Panel { pose: Pose { position: pose.position, rotation }, size, lamp_radius }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_may_be_thin_along_any_axis() {
        // These three poses and sizes describe the same screen, which is 18 cm wide and 32 cm high.
        // The screen faces the +x axis of the light.
        let at = |rpy| Pose::from_xyz_rpy([0.05, 0.0, 0.2], rpy);
        let quarter = std::f64::consts::FRAC_PI_2;
        let along_x = panel_in(&at([0.0; 3]), DVec3::new(0.002, 0.09, 0.16), false);
        let along_y = panel_in(&at([0.0, 0.0, quarter]), DVec3::new(0.09, 0.002, 0.16), false);
        let along_z = panel_in(&at([0.0, quarter, 0.0]), DVec3::new(0.16, 0.09, 0.002), false);
        for panel in [along_x, along_y, along_z] {
            assert_eq!(panel.size, [0.18, 0.32]);
            assert!((panel.lamp_radius - 0.0656).abs() < 1e-12);
            assert!(((panel.pose.rotation * DVec3::X) - DVec3::X).length() < 1e-9, "{panel:?}");
            assert!(((panel.pose.rotation * DVec3::Z) - DVec3::Z).length() < 1e-9, "{panel:?}");
        }
    }

    #[test]
    fn the_width_of_a_narrow_screen_limits_the_lamp_radius() {
        let panel = panel_in(&Pose::IDENTITY, DVec3::new(0.001, 0.05, 0.5), false);
        assert!((panel.lamp_radius - 0.049).abs() < 1e-12);
    }
}
