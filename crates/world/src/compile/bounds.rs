//! The bounds of a world: the field that the road lies on.
//!
//! The track model of a world that was not made with Chicane often contains more than its field: a
//! fence, a strip around the field, or a landscape of hundreds of metres. The low triangles of the
//! track that face up are therefore grouped into connected surfaces, and the surfaces that belong
//! to the field give the bounds.

use super::ground::LEVEL;
use super::meshes::point;
use super::rigid_model::RigidModel;
use crate::route::{Bounds, Route};
use crate::scene::{Instance, Look, Owner, WorldScene};
use crate::spec::Geometry;
use glam::{DVec2, DVec3};
use std::collections::BTreeSet;

/// Maximum height of the drivable surface above the ground plane, in metres.
const NEAR: f64 = 0.05;
/// A triangle counts as drivable only if the z of its unit normal is greater than this value, which
/// is a slope of less than 45.6°.
const UPRIGHT: f64 = 0.7;
/// Maximum number of triangles to visit. The limit bounds the time for a hostile world. A real
/// track has far fewer triangles.
const MAX_TRIANGLES: usize = 20_000_000;
/// Maximum number of drivable triangles that are grouped into surfaces. If there are more, all of
/// them count as the field.
const MAX_GROUPED: usize = 1_000_000;
/// A surface belongs to the field only if its area is at least this fraction of the area of the
/// largest surface. Surfaces that count as landscape are left out of this comparison.
const LEAST_PART: f64 = 0.02;
/// A surface belongs to the field only if its width (see `Surface::width`) is at least this, in
/// metres. A narrower surface is the foot of a fence or a marking. If the largest surface is
/// narrower itself, its width is the limit.
const LEAST_WIDTH_M: f64 = 0.15;
/// A surface counts as landscape if its longer side is more than this factor times the longer side
/// of the road.
const LANDSCAPE: f64 = 5.0;
/// Minimum value that is assumed for the longer side of the road, in metres. Otherwise the field
/// around a very short road would count as landscape.
const LEAST_ROAD_M: f64 = 4.0;
/// The plane of a track model counts as the field if the plane covers at least this fraction of the
/// bounds, along x and along y.
const PLANE_PART: f64 = 0.8;
/// Distance in metres by which the bounds may exceed the plane without being cut to the plane.
const PLANE_GAP_M: f64 = 1e-3;
/// Distance between the road and the bounds if the road lies directly on a landscape, in metres.
const MARGIN_M: f64 = 0.5;
/// Grid step for comparing vertices, in metres. Two vertices count as the same vertex if they round
/// to the same grid point.
const SAME_M: f64 = 1e-4;

/// The bounds of the field. `stand_ins` are the indices of instances that stand for missing meshes.
/// These instances are skipped, because their size says nothing about the track. `plane` is the
/// level plane among the collision shapes of the track. If such a plane covers most of the bounds,
/// the bounds are cut to the plane. If `plane` is `None`, surfaces that are much longer than the
/// road of `route` count as landscape and are left out. The result is `None` if the track has no
/// drivable surface.
pub(super) fn of_track(
    scene: &WorldScene,
    ground: f64,
    stand_ins: &BTreeSet<usize>,
    plane: Option<Bounds>,
    route: Option<&Route>,
) -> Option<Bounds> {
    let bounds = of_surfaces(scene, ground, stand_ins, if plane.is_some() { None } else { route })?;
    let within = plane.filter(|plane| {
        // A plane is ignored if it covers less than `PLANE_PART` of the bounds along x or y.
        // Physics treats a plane as infinite, so a world file may place the rectangle of the plane
        // anywhere, even beside the field.
        let covered = plane.max.min(bounds.max) - plane.min.max(bounds.min);
        covered.cmpge((bounds.max - bounds.min) * PLANE_PART).all()
    });
    let Some(plane) = within else { return Some(bounds) };
    let (low, high) = (plane.min - PLANE_GAP_M, plane.max + PLANE_GAP_M);
    let inside = |at: DVec2, edge: DVec2| {
        let choose = |x: f64, low: f64, high: f64, edge: f64| if x < low || x > high { edge } else { x };
        DVec2::new(choose(at.x, low.x, high.x, edge.x), choose(at.y, low.y, high.y, edge.y))
    };
    let clipped = Bounds { min: inside(bounds.min, plane.min), max: inside(bounds.max, plane.max) };
    Some(if clipped.min.cmplt(clipped.max).all() { clipped } else { bounds })
}

/// The level plane among the collision shapes of a model, as a rectangle in the world; `None` if
/// the model has no level plane. For a plane that is rotated about z, the result is the bounding
/// rectangle of the plane.
pub(super) fn plane_of(body: &RigidModel<'_>) -> Option<Bounds> {
    body.collisions.iter().find_map(|part| {
        let Geometry::Plane { normal, size } = part.spec.geometry else { return None };
        let pose = body.origin.then(&part.pose);
        if (pose.rotation * DVec3::from_array(normal)).normalize_or_zero().z < LEVEL {
            return None;
        }
        let [x, y] = size.map(|s| 0.5 * s);
        let corners = [(-x, -y), (x, -y), (x, y), (-x, y)];
        let points = corners.map(|(x, y)| pose.point(DVec3::new(x, y, 0.0)).truncate());
        union(points.iter().map(|p| Bounds { min: *p, max: *p }))
    })
}

fn of_surfaces(
    scene: &WorldScene,
    ground: f64,
    stand_ins: &BTreeSet<usize>,
    route: Option<&Route>,
) -> Option<Bounds> {
    let low = LowTriangles::of(scene, ground, stand_ins);
    if low.count > low.list.len() {
        return low.bounds;
    }
    let surfaces = surfaces_of(&low.list);
    let road = route.map(Route::bounds);
    let is_field = |s: &&Surface| {
        let longest = |b: &Bounds| (b.max - b.min).max_element();
        road.as_ref().is_none_or(|road| longest(&s.bounds) <= LANDSCAPE * longest(road).max(LEAST_ROAD_M))
    };
    let largest = surfaces.iter().filter(is_field).max_by(|a, b| a.area.total_cmp(&b.area));
    let (area, width) = largest.map_or((0.0, 0.0), |s| (LEAST_PART * s.area, s.width().min(LEAST_WIDTH_M)));
    let field = surfaces.iter().filter(is_field).filter(|s| s.area >= area && s.width() >= width);
    let landscape = || {
        let (all, road) = (low.bounds?, road?);
        let margin = DVec2::splat(MARGIN_M);
        Some(Bounds { min: (road.min - margin).max(all.min), max: (road.max + margin).min(all.max) })
    };
    union(field.map(|s| s.bounds)).or_else(landscape).filter(|b| b.min.cmplt(b.max).all())
}

fn union(mut all: impl Iterator<Item = Bounds>) -> Option<Bounds> {
    let first = all.next()?;
    Some(all.fold(first, |a, b| Bounds { min: a.min.min(b.min), max: a.max.max(b.max) }))
}

/// Connected triangles.
struct Surface {
    bounds: Bounds,
    /// Area of the triangles as seen from above, in m².
    area: f64,
}

impl Surface {
    fn of_triangle([a, b, c]: &[DVec3; 3]) -> Surface {
        let [a, b, c] = [a, b, c].map(|p| p.truncate());
        let bounds = Bounds { min: a.min(b).min(c), max: a.max(b).max(c) };
        Surface { bounds, area: 0.5 * (b - a).perp_dot(c - a).abs() }
    }

    /// The area divided by the perimeter of the bounds, in metres. For a narrow strip along all
    /// four sides of its bounds, such as the foot of a fence, this is the width of the strip.
    fn width(&self) -> f64 {
        self.area / (2.0 * (self.bounds.max - self.bounds.min).element_sum()).max(1e-9)
    }
}

/// The triangles of the track that are near the ground and face up.
#[derive(Default)]
struct LowTriangles {
    /// The first `MAX_GROUPED` triangles.
    list: Vec<[DVec3; 3]>,
    /// Number of all triangles.
    count: usize,
    /// Bounds of all triangles; `None` if there are none.
    bounds: Option<Bounds>,
}

impl LowTriangles {
    fn of(scene: &WorldScene, ground: f64, stand_ins: &BTreeSet<usize>) -> LowTriangles {
        let mut low = LowTriangles::default();
        let mut budget = MAX_TRIANGLES;
        for (i, instance) in scene.instances.iter().enumerate() {
            if instance.owner != Owner::Track || stand_ins.contains(&i) {
                continue;
            }
            // Each instance reduces the budget by at least 1, because an instance without triangles
            // takes time too.
            budget = budget.saturating_sub(1 + triangle_count(instance, scene));
            if budget == 0 {
                break;
            }
            for_each_triangle(instance, scene, &mut |triangle| low.add(triangle, ground));
        }
        low
    }

    fn add(&mut self, triangle: [DVec3; 3], ground: f64) {
        let [a, b, c] = triangle;
        let normal = (b - a).cross(c - a);
        let highest = a.z.max(b.z).max(c.z);
        // The operator is `>` and not `>=`, because a triangle without area must not count.
        let up = normal.z > UPRIGHT * normal.length();
        if !up || highest > ground + NEAR {
            return;
        }
        self.count += 1;
        self.bounds = union(self.bounds.into_iter().chain([Surface::of_triangle(&triangle).bounds]));
        if self.list.len() < MAX_GROUPED {
            self.list.push(triangle);
        }
    }
}

/// Groups triangles into surfaces. Two triangles are connected if they share a vertex. Shared
/// vertices are found by sorting, so that the result is the same on every machine.
fn surfaces_of(triangles: &[[DVec3; 3]]) -> Vec<Surface> {
    let key = |p: DVec3| (p / SAME_M).round().to_array().map(|c| c as i64);
    let mut corners: Vec<([i64; 3], u32)> =
        triangles.iter().enumerate().flat_map(|(i, t)| t.map(|p| (key(p), i as u32))).collect();
    corners.sort_unstable();
    let mut groups = Groups((0..triangles.len() as u32).collect());
    for pair in corners.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        groups.join(pair[0].1, pair[1].1);
    }
    let mut surfaces: Vec<Option<Surface>> = triangles.iter().map(|_| None).collect();
    for (i, triangle) in triangles.iter().enumerate() {
        let own = Surface::of_triangle(triangle);
        let slot = &mut surfaces[groups.first(i as u32) as usize];
        *slot = Some(match slot.take() {
            None => own,
            Some(s) => Surface {
                bounds: Bounds {
                    min: s.bounds.min.min(own.bounds.min),
                    max: s.bounds.max.max(own.bounds.max),
                },
                area: s.area + own.area,
            },
        });
    }
    surfaces.into_iter().flatten().collect()
}

/// Disjoint sets of triangles. Each set is a tree: the entry of a triangle is another triangle of
/// the same set. The entry of the first triangle of a set is this triangle itself.
struct Groups(Vec<u32>);

impl Groups {
    fn first(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let next = self.0[i as usize];
            self.0[i as usize] = self.0[next as usize];
            i = self.0[i as usize];
        }
        i
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

fn triangle_count(instance: &Instance, scene: &WorldScene) -> usize {
    match instance.look {
        Look::Mesh(index) => {
            scene.meshes.get(index).map_or(0, |m| m.groups.iter().map(|g| g.indices.len() / 3).sum())
        }
        _ => 12,
    }
}

/// Calls `visit` for every triangle of an instance, in world coordinates. Round shapes and built-in
/// meshes are skipped, because a road does not consist of such shapes.
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
