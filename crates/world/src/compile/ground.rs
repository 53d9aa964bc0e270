//! The ground plane of a world: its height and its friction.

use super::rigid_model::RigidModel;
use super::solids::friction_of;
use crate::error::{SourceLocation, Warnings};
use crate::pose::Pose;
use crate::spec::Geometry;
use crate::world::Ground;
use crate::xml::excerpt;
use glam::DVec3;

/// Default friction of the ground.
const FRICTION: f64 = 0.6;
/// Minimum z of the unit normal of a ground plane. A plane with a smaller value is sloped. The
/// simulator does not support sloped ground.
pub(super) const LEVEL: f64 = 0.9999;

/// The ground of a world without a ground plane.
pub(super) const DEFAULT: Ground = Ground { z: 0.0, bounds: None, friction: FRICTION };

/// The ground that the first level plane of a track or scenery model defines. The result is `None`
/// if the model has no level plane.
pub(super) fn plane_in(body: &RigidModel<'_>, warnings: &mut Warnings) -> Option<Ground> {
    let mut found = None;
    for part in &body.collisions {
        let Geometry::Plane { normal, .. } = part.spec.geometry else { continue };
        let pose = body.origin.then(&part.pose);
        let up = (pose.rotation * DVec3::from_array(normal)).normalize_or_zero();
        if up.z < LEVEL {
            let message = format!("the plane of \"{}\" is not level and is ignored", excerpt(body.name));
            warnings.add(message, || SourceLocation::file(part.file));
        } else if found.is_none() {
            let friction = friction_of(part.spec, FRICTION);
            found = Some(Ground { z: pose.position.z, bounds: None, friction });
        }
    }
    found
}

/// The ground that the built-in ground plane defines. The result is `None` if the plane is not
/// level.
pub(super) fn built_in(pose: &Pose, file: &str, warnings: &mut Warnings) -> Option<Ground> {
    if (pose.rotation * DVec3::Z).z < LEVEL {
        warnings.add("the ground plane is not level and is ignored", || SourceLocation::file(file));
        return None;
    }
    Some(Ground { z: pose.position.z, ..DEFAULT })
}
