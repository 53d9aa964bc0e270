//! The ground: its height, and how far the track's ground reaches.

use super::body::Body;
use super::meshes::point;
use super::solids::friction_of;
use crate::error::{Place, Warnings};
use crate::pose::Pose;
use crate::route::Bounds;
use crate::scene::{Instance, Look, Owner, Scene};
use crate::spec::Geometry;
use crate::world::Ground;
use crate::xml::excerpt;
use glam::DVec3;

/// Friction of a ground that does not say.
const FRICTION: f64 = 0.6;
/// How far above the ground the track's surface may lie.
const NEAR: f64 = 0.05;
/// How upright the normal of a drivable triangle is.
const UPRIGHT: f64 = 0.7;
/// How upright that of the ground is: anything else is a slope, which there is none of.
const LEVEL: f64 = 0.9999;

/// Triangles that are looked at; far more than a track has.
const MAX_TRIANGLES: usize = 20_000_000;

/// A ground that nobody mentioned.
pub(super) const DEFAULT: Ground = Ground { z: 0.0, bounds: None, friction: FRICTION };

/// The first level plane of a model that is no object.
pub(super) fn plane_in(body: &Body<'_>, warnings: &mut Warnings) -> Option<Ground> {
    let mut found = None;
    for part in &body.collisions {
        let Geometry::Plane { normal, .. } = part.spec.geometry else { continue };
        let pose = body.origin.then(&part.pose);
        let up = (pose.rotation * DVec3::from_array(normal)).normalize_or_zero();
        if up.z < LEVEL {
            let message = format!("the plane of \"{}\" is not level and was passed over", excerpt(body.name));
            warnings.add(message, || Place::file(part.file));
        } else if found.is_none() {
            let friction = friction_of(part.spec, FRICTION);
            found = Some(Ground { z: pose.position.z, bounds: None, friction });
        }
    }
    found
}

/// The built-in ground, if it lies level.
pub(super) fn built_in(pose: &Pose, file: &str, warnings: &mut Warnings) -> Option<Ground> {
    if (pose.rotation * DVec3::Z).z < LEVEL {
        warnings.add("the ground plane is not level and was passed over", || Place::file(file));
        return None;
    }
    Some(Ground { z: pose.position.z, ..DEFAULT })
}

/// Round what can be driven on of the track: triangles near the ground that face up.
pub(super) fn bounds_of(scene: &Scene, ground: f64) -> Option<Bounds> {
    let mut round: Option<Bounds> = None;
    let mut left = MAX_TRIANGLES;
    let mut take = |[a, b, c]: [DVec3; 3]| {
        let normal = (b - a).cross(c - a);
        let highest = a.z.max(b.z).max(c.z);
        // Written so that a triangle without area fails.
        let up = normal.z > UPRIGHT * normal.length();
        if !up || highest > ground + NEAR {
            return;
        }
        let r = round.get_or_insert(Bounds { min: a.truncate(), max: a.truncate() });
        for p in [a, b, c] {
            r.min = r.min.min(p.truncate());
            r.max = r.max.max(p.truncate());
        }
    };
    for instance in scene.instances.iter().filter(|i| i.owner == Owner::Track) {
        // Whatever is drawn costs something, if only a look.
        left = left.saturating_sub(1 + count_of(instance, scene));
        if left == 0 {
            break;
        }
        triangles_of(instance, scene, &mut take);
    }
    round
}

fn count_of(instance: &Instance, scene: &Scene) -> usize {
    match instance.look {
        Look::Mesh(index) => {
            scene.meshes.get(index).map_or(0, |m| m.groups.iter().map(|g| g.indices.len() / 3).sum())
        }
        _ => 12,
    }
}

/// Hands out the flat triangles of an instance in the world. Round shapes are no ground.
fn triangles_of(instance: &Instance, scene: &Scene, take: &mut impl FnMut([DVec3; 3])) {
    let scale = DVec3::from_array(instance.scale);
    let mut at = |p: [DVec3; 3]| take(p.map(|p| instance.pose.point(p * scale)));
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
