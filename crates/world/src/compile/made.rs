//! Meshes that no file brings: polygons with a height, and ellipsoids that never move.

use crate::scene::{Group, Mesh};
use crate::world::TriangleMesh;
use glam::{DVec2, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Corners of one polygon, and of all: cutting it up takes their cube.
const MAX_POINTS: usize = 128;
const MAX_ALL_POINTS: usize = 100_000;
/// Steps round and along half of an ellipsoid.
const STEPS: usize = 16;

/// Meshes that were made, by what they are made of.
#[derive(Default)]
pub(super) struct Made {
    prisms: BTreeMap<Vec<u64>, Option<Arc<TriangleMesh>>>,
    points: usize,
}

impl Made {
    /// A polygon with its height above it; `None` if it crosses itself, has no area or too many
    /// corners.
    pub(super) fn prism(&mut self, points: &[[f64; 2]], height: f64) -> Option<Arc<TriangleMesh>> {
        let key = key_of(points, height);
        if let Some(known) = self.prisms.get(&key) {
            return known.clone();
        }
        self.points += points.len();
        let fits = points.len() <= MAX_POINTS && self.points <= MAX_ALL_POINTS;
        let made = if fits { extruded(points, height).map(Arc::new) } else { None };
        self.prisms.insert(key, made.clone());
        made
    }
}

/// What tells one polygon from another.
pub(super) fn key_of(points: &[[f64; 2]], height: f64) -> Vec<u64> {
    points.iter().flatten().chain([&height]).map(|x| x.to_bits()).collect()
}

/// A mesh to look at: every triangle with a normal of its own, pictures by the metre.
pub(super) fn flat(from: &TriangleMesh, material: usize) -> Mesh {
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
    let caps = cut_up(&ring)?;
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

/// Cuts a counter-clockwise polygon up, ear by ear.
fn cut_up(ring: &[DVec2]) -> Option<Vec<[u32; 3]>> {
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

/// An ellipsoid of these half axes, closed.
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

    /// The volume inside, which is right only if the mesh is closed and faces outwards.
    fn volume(mesh: &TriangleMesh) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        mesh.triangles.iter().map(of).sum()
    }

    #[test]
    fn polygons_of_every_kind_enclose_their_volume() {
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
    fn what_is_no_polygon() {
        let crossed = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        let flat = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]];
        for points in [crossed.as_slice(), &flat, &[[1.0, 1.0]; 5], &[]] {
            assert!(Made::default().prism(points, 1.0).is_none(), "{points:?}");
        }
        let many: Vec<[f64; 2]> = (0..200).map(|i| [f64::from(i), f64::from(i * i)]).collect();
        assert!(Made::default().prism(&many, 1.0).is_none());
    }

    #[test]
    fn an_ellipsoid_is_nearly_as_large_as_it_should_be() {
        let want = 4.0 / 3.0 * std::f64::consts::PI * 6.0;
        let got = volume(&ellipsoid(DVec3::new(1.0, 2.0, 3.0)));
        assert!(got > 0.9 * want && got < want, "{got} {want}");
    }
}
