//! The ground plane of a world: its height, and the bounds of the track's drivable surface.

use super::meshes::point;
use super::rigid_model::RigidModel;
use super::solids::friction_of;
use crate::error::{SourceLocation, Warnings};
use crate::pose::Pose;
use crate::route::Bounds;
use crate::scene::{Instance, Look, Owner, WorldScene};
use crate::spec::Geometry;
use crate::world::Ground;
use crate::xml::excerpt;
use glam::DVec3;

/// Default friction of the ground.
const FRICTION: f64 = 0.6;
/// Maximum height of the drivable surface above the ground plane, in metres.
const NEAR: f64 = 0.05;
/// A triangle is drivable if the z of its unit normal is greater than this value.
const UPRIGHT: f64 = 0.7;
/// Minimum z of the unit normal of a ground plane. A plane with a smaller value is sloped. The
/// simulator does not support sloped ground.
const LEVEL: f64 = 0.9999;

/// Maximum number of triangles to visit. A real track has far fewer triangles.
const MAX_TRIANGLES: usize = 20_000_000;

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

/// The bounds of the track's drivable surface. The surface consists of all triangles near the
/// ground that face up. The result is `None` if there are no such triangles.
pub(super) fn bounds_of(scene: &WorldScene, ground: f64) -> Option<Bounds> {
    let mut bounds: Option<Bounds> = None;
    let mut budget = MAX_TRIANGLES;
    let mut add = |[a, b, c]: [DVec3; 3]| {
        let normal = (b - a).cross(c - a);
        let highest = a.z.max(b.z).max(c.z);
        // The operator is `>` and not `>=`, because a triangle without area must not count.
        let up = normal.z > UPRIGHT * normal.length();
        if !up || highest > ground + NEAR {
            return;
        }
        let r = bounds.get_or_insert(Bounds { min: a.truncate(), max: a.truncate() });
        for p in [a, b, c] {
            r.min = r.min.min(p.truncate());
            r.max = r.max.max(p.truncate());
        }
    };
    for instance in scene.instances.iter().filter(|i| i.owner == Owner::Track) {
        // Each instance reduces the budget by at least 1, because an instance without triangles
        // takes time too.
        budget = budget.saturating_sub(1 + triangle_count(instance, scene));
        if budget == 0 {
            break;
        }
        for_each_triangle(instance, scene, &mut add);
    }
    bounds
}

fn triangle_count(instance: &Instance, scene: &WorldScene) -> usize {
    match instance.look {
        Look::Mesh(index) => {
            scene.meshes.get(index).map_or(0, |m| m.groups.iter().map(|g| g.indices.len() / 3).sum())
        }
        _ => 12,
    }
}

/// Calls `visit` for every triangle of an instance, in world coordinates. Round shapes are skipped,
/// because they cannot be part of the drivable surface.
fn for_each_triangle(instance: &Instance, scene: &WorldScene, visit: &mut impl FnMut([DVec3; 3])) {
    let scale = DVec3::from_array(instance.scale);
    let mut at = |p: [DVec3; 3]| visit(p.map(|p| instance.pose.point(p * scale)));
    match instance.look {
        Look::Mesh(index) => {
            let Some(mesh) = scene.meshes.get(index) else { return };
            for t in mesh.groups.iter().flat_map(|g| g.indices.chunks_exact(3)) {
                at([t[0], t[1], t[2]].map(|i| point(&mesh.positions[i as usize])));
            }
        }
        Look::Plane([x, y]) => rectangle(x, y, DVec3::ZERO, DVec3::X, DVec3::Y, &mut at),
        Look::Box([x, y, z]) => {
            let faces = [
                (x, y, z, DVec3::X, DVec3::Y, DVec3::Z),
                (y, z, x, DVec3::Y, DVec3::Z, DVec3::X),
                (z, x, y, DVec3::Z, DVec3::X, DVec3::Y),
            ];
            for (a, b, c, u, v, w) in faces {
                rectangle(a, b, w * (c * 0.5), u, v, &mut at);
                rectangle(b, a, w * (-c * 0.5), v, u, &mut at);
            }
        }
        _ => {}
    }
}

fn rectangle(a: f64, b: f64, centre: DVec3, u: DVec3, v: DVec3, at: &mut impl FnMut([DVec3; 3])) {
    let (u, v) = (u * (a * 0.5), v * (b * 0.5));
    let [p, q, r, s] = [centre - u - v, centre + u - v, centre + u + v, centre - u + v];
    at([p, q, r]);
    at([p, r, s]);
}
