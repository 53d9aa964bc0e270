//! Generates meshes for shapes that have no mesh file: extruded polygons, and ellipsoids of the
//! track and of scenery.

use crate::scene::{Group, Mesh};
use crate::world::TriangleMesh;
use glam::{DVec2, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of corners of a polygon. The limit is low, because triangulation takes cubic
/// time.
const MAX_POINTS: usize = 128;
/// Maximum number of corners of all polygons of a world together.
const MAX_ALL_POINTS: usize = 100_000;
/// Number of segments around the equator of an ellipsoid. There are half as many segments from pole
/// to pole.
const STEPS: usize = 16;

/// Cache of the extruded polygons of a world.
#[derive(Default)]
pub(super) struct GeneratedMeshes {
    prisms: BTreeMap<Vec<u64>, Option<Arc<TriangleMesh>>>,
    points: usize,
}

impl GeneratedMeshes {
    /// The mesh of an extruded polygon. The result is `None` if the polygon cannot be triangulated,
    /// for example because the polygon intersects itself or has no area. The result is also `None`
    /// if this polygon, or all polygons together, have too many corners.
    pub(super) fn prism(&mut self, points: &[[f64; 2]], height: f64) -> Option<Arc<TriangleMesh>> {
        let key = polygon_key(points, height);
        if let Some(known) = self.prisms.get(&key) {
            return known.clone();
        }
        self.points += points.len();
        let fits = points.len() <= MAX_POINTS && self.points <= MAX_ALL_POINTS;
        let prism = if fits { extruded(points, height).map(Arc::new) } else { None };
        self.prisms.insert(key, prism.clone());
        prism
    }
}

/// Cache key of an extruded polygon: the bits of its numbers.
pub(super) fn polygon_key(points: &[[f64; 2]], height: f64) -> Vec<u64> {
    points.iter().flatten().chain([&height]).map(|x| x.to_bits()).collect()
}

/// Turns a collision mesh into a visible mesh with flat shading: every triangle has its own normal.
/// One uv unit is one metre.
pub(super) fn flat_shaded(from: &TriangleMesh, material: usize) -> Mesh {
    let mut mesh = Mesh::default();
    for triangle in &from.triangles {
        let [a, b, c] = triangle.map(|i| from.vertices[i as usize]);
        let normal = (b - a).cross(c - a).normalize_or(DVec3::Z).as_vec3().to_array();
        for p in [a, b, c] {
            mesh.positions.push(p.as_vec3().to_array());
            mesh.normals.push(normal);
            mesh.uvs.push(p.truncate().as_vec2().to_array());
        }
    }
    mesh.groups.push(Group { material, indices: (0..mesh.positions.len() as u32).collect() });
    mesh
}

fn extruded(points: &[[f64; 2]], height: f64) -> Option<TriangleMesh> {
    let mut ring: Vec<DVec2> = points.iter().map(|p| DVec2::from_array(*p)).collect();
    ring.dedup();
    if ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    let next = |i: usize| (i + 1) % ring.len();
    let area: f64 = (0..ring.len()).map(|i| ring[i].perp_dot(ring[next(i)])).sum();
    if area < 0.0 {
        ring.reverse();
    }
    let n = ring.len() as u32;
    let caps = triangulated(&ring)?;
    let mut triangles: Vec<[u32; 3]> = Vec::with_capacity(2 * caps.len() + 2 * ring.len());
    triangles.extend(caps.iter().map(|[a, b, c]| [*a, *c, *b]));
    triangles.extend(caps.iter().map(|t| t.map(|i| i + n)));
    for a in 0..n {
        let b = (a + 1) % n;
        triangles.extend([[a, b, b + n], [a, b + n, a + n]]);
    }
    let vertices = [0.0, height].iter().flat_map(|z| ring.iter().map(|p| p.extend(*z))).collect();
    Some(TriangleMesh { vertices, triangles })
}

/// Triangulates a counter-clockwise polygon by ear clipping. The result is `None` if the polygon
/// cannot be triangulated.
fn triangulated(ring: &[DVec2]) -> Option<Vec<[u32; 3]>> {
    let turn = |a: DVec2, b: DVec2, c: DVec2| (b - a).perp_dot(c - a);
    let mut left: Vec<usize> = (0..ring.len()).collect();
    let mut triangles = Vec::new();
    while left.len() >= 3 {
        let n = left.len();
        let ear = (0..n).find(|&i| {
            let [a, b, c] = [left[(i + n - 1) % n], left[i], left[(i + 1) % n]].map(|i| ring[i]);
            let inside = |p: DVec2| turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0;
            let free = |i: &usize| ring[*i] == a || ring[*i] == b || ring[*i] == c || !inside(ring[*i]);
            turn(a, b, c) > 0.0 && left.iter().all(free)
        })?;
        triangles.push([left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]].map(|i| i as u32));
        left.remove(ear);
    }
    (!triangles.is_empty()).then_some(triangles)
}

/// A closed mesh of an ellipsoid. `radii` are the half axes.
pub(super) fn ellipsoid(radii: DVec3) -> TriangleMesh {
    use std::f64::consts::{PI, TAU};
    let rings = STEPS / 2;
    let mut vertices = vec![DVec3::Z * radii.z];
    for ring in 1..rings {
        let (s, c) = libm::sincos(PI * ring as f64 / rings as f64);
        vertices.extend((0..STEPS).map(|i| {
            let (y, x) = libm::sincos(TAU * i as f64 / STEPS as f64);
            DVec3::new(s * x, s * y, c) * radii
        }));
    }
    vertices.push(DVec3::NEG_Z * radii.z);
    let last = vertices.len() as u32 - 1;
    let at = |ring: usize, i: usize| (1 + (ring - 1) * STEPS + i % STEPS) as u32;
    let mut triangles = Vec::new();
    for i in 0..STEPS {
        triangles.push([0, at(1, i), at(1, i + 1)]);
        for ring in 1..rings - 1 {
            let [a, b] = [at(ring, i), at(ring, i + 1)];
            let [c, d] = [at(ring + 1, i), at(ring + 1, i + 1)];
            triangles.extend([[a, c, d], [a, d, b]]);
        }
        triangles.push([at(rings - 1, i), last, at(rings - 1, i + 1)]);
    }
    TriangleMesh { vertices, triangles }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The volume that a mesh encloses. The result is only correct if the mesh is closed and all
    /// triangles face outwards.
    fn volume(mesh: &TriangleMesh) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        mesh.triangles.iter().map(of).sum()
    }

    #[test]
    fn prisms_enclose_the_volume_of_their_polygon() {
        let l = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
        let mut turned = l.to_vec();
        turned.reverse();
        let mut closed = l.to_vec();
        closed.extend([l[0], l[0]]);
        for points in [l.as_slice(), &turned, &closed] {
            let mesh = extruded(points, 0.5).expect("simple");
            assert!((volume(&mesh) - 2.0).abs() < 1e-12, "{}", volume(&mesh));
            assert_eq!(mesh.triangles.len(), 2 * 4 + 2 * 6);
        }
    }

    #[test]
    fn invalid_polygons_give_no_prism() {
        let crossed = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        let flat = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]];
        for points in [crossed.as_slice(), &flat, &[[1.0, 1.0]; 5], &[]] {
            assert!(GeneratedMeshes::default().prism(points, 1.0).is_none(), "{points:?}");
        }
        let many: Vec<[f64; 2]> = (0..200).map(|i| [f64::from(i), f64::from(i * i)]).collect();
        assert!(GeneratedMeshes::default().prism(&many, 1.0).is_none());
    }

    #[test]
    fn the_volume_of_an_ellipsoid_mesh_is_slightly_too_small() {
        let want = 4.0 / 3.0 * std::f64::consts::PI * 6.0;
        let got = volume(&ellipsoid(DVec3::new(1.0, 2.0, 3.0)));
        assert!(got > 0.9 * want && got < want, "{got} {want}");
    }
}
