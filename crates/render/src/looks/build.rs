//! Builds meshes from faces, and computes smooth normals.

use chicane_world::Pose;
use chicane_world::scene::{Group, Mesh};
use glam::{DVec2, DVec3};
use std::collections::BTreeMap;

/// A corner of a face: its position and its texture coordinates.
pub(super) type Corner = (DVec3, DVec2);

/// The bits of the position, the normal and the texture coordinates of a vertex. Vertices with
/// equal bits are stored once.
type Bits = ([u32; 3], [u32; 3], [u32; 2]);

/// Collects the faces of a mesh.
#[derive(Default)]
pub(super) struct MeshBuilder {
    /// Corners and material index of each triangle.
    triangles: Vec<([Corner; 3], usize)>,
}

impl MeshBuilder {
    /// Adds a triangle with corners counter-clockwise seen from outside. A triangle without area is
    /// dropped.
    pub(super) fn triangle(&mut self, material: usize, corners: [Corner; 3]) {
        let [a, b, c] = corners.map(|(p, _)| p);
        // The mesh stores f32, so the area is computed from the rounded positions.
        let [a, b, c] = [a, b, c].map(|p| p.as_vec3().as_dvec3());
        if (b - a).cross(c - a).length() > 1e-12 {
            self.triangles.push((corners, material));
        }
    }

    /// Adds a quad with corners counter-clockwise seen from outside.
    pub(super) fn quad(&mut self, material: usize, [a, b, c, d]: [Corner; 4]) {
        self.triangle(material, [a, b, c]);
        self.triangle(material, [a, c, d]);
    }

    /// Adds a flat polygon as a triangle fan around its centre.
    pub(super) fn fan(&mut self, material: usize, ring: &[DVec3]) {
        let middle = ring.iter().sum::<DVec3>() / ring.len() as f64;
        for (i, &a) in ring.iter().enumerate() {
            let b = ring[(i + 1) % ring.len()];
            self.triangle(material, [middle, a, b].map(|p| (p, DVec2::ZERO)));
        }
    }

    /// Like [`MeshBuilder::fan`], but with the opposite winding, so that the polygon faces the
    /// other way.
    pub(super) fn fan_reversed(&mut self, material: usize, ring: &[DVec3]) {
        self.fan(material, &ring.iter().rev().copied().collect::<Vec<_>>());
    }

    /// Adds a skin: quads between consecutive rings. All rings have the same number of corners.
    /// `material(ring, side)` gives the material of each quad.
    pub(super) fn skin(&mut self, rings: &[Vec<DVec3>], material: impl Fn(usize, usize) -> usize) {
        for (i, pair) in rings.windows(2).enumerate() {
            let (low, high) = (&pair[0], &pair[1]);
            for j in 0..low.len() {
                let k = (j + 1) % low.len();
                self.quad(material(i, j), [low[j], low[k], high[k], high[j]].map(|p| (p, DVec2::ZERO)));
            }
        }
    }

    /// Adds another mesh at a pose, with one material for all its triangles.
    pub(super) fn mesh(&mut self, material: usize, pose: &Pose, mesh: &Mesh) {
        let corner = |i: u32| {
            let (p, uv) = (mesh.positions[i as usize], mesh.uvs[i as usize]);
            (pose.point(DVec3::from_array(p.map(f64::from))), DVec2::from_array(uv.map(f64::from)))
        };
        for t in mesh.groups.iter().flat_map(|g| g.indices.chunks_exact(3)) {
            self.triangle(material, [corner(t[0]), corner(t[1]), corner(t[2])]);
        }
    }

    /// Returns the mesh. Faces share a smooth normal at a common corner if the angle between their
    /// normals is at most `crease` radians.
    pub(super) fn finish(self, crease: f64) -> Mesh {
        let least = libm::cos(crease);
        let faces: Vec<DVec3> = self.triangles.iter().map(|(t, _)| area(t)).collect();
        let mut around: BTreeMap<[i64; 3], Vec<usize>> = BTreeMap::new();
        for (i, (corners, _)) in self.triangles.iter().enumerate() {
            for (p, _) in corners {
                around.entry(quantised(*p)).or_default().push(i);
            }
        }
        let mut mesh = Mesh::default();
        let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        let mut known: BTreeMap<Bits, u32> = BTreeMap::new();
        for (i, (corners, material)) in self.triangles.iter().enumerate() {
            let own = faces[i].normalize_or(DVec3::Z);
            for (p, uv) in corners {
                let near = around.get(&quantised(*p)).map_or(&[] as &[usize], Vec::as_slice);
                let smooth = near.iter().map(|&j| faces[j]);
                let sum: DVec3 = smooth.filter(|f| f.normalize_or(DVec3::Z).dot(own) >= least).sum();
                let (position, uv) = (p.as_vec3().to_array(), uv.as_vec2().to_array());
                let normal = sum.normalize_or(own).as_vec3().to_array();
                let key = (position.map(f32::to_bits), normal.map(f32::to_bits), uv.map(f32::to_bits));
                let index = *known.entry(key).or_insert_with(|| {
                    mesh.positions.push(position);
                    mesh.normals.push(normal);
                    mesh.uvs.push(uv);
                    mesh.positions.len() as u32 - 1
                });
                groups.entry(*material).or_default().push(index);
            }
        }
        mesh.groups = groups.into_iter().map(|(material, indices)| Group { material, indices }).collect();
        mesh
    }
}

/// A vector along the normal of a triangle. Its length is twice the area of the triangle.
fn area(corners: &[Corner; 3]) -> DVec3 {
    let [a, b, c] = corners.map(|(p, _)| p);
    (b - a).cross(c - a)
}

/// A position in whole micrometres. Corners at the same place have equal values, despite rounding
/// errors.
fn quantised(p: DVec3) -> [i64; 3] {
    (p * 1e6).to_array().map(|v| v.round() as i64)
}

/// A ring of `n` corners around the z axis, counter-clockwise seen from above.
pub(super) fn ring(n: usize, radius: f64, z: f64) -> Vec<DVec3> {
    (0..n)
        .map(|i| {
            let (s, c) = libm::sincos(std::f64::consts::TAU * i as f64 / n as f64);
            DVec3::new(radius * c, radius * s, z)
        })
        .collect()
}
