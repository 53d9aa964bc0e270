//! Splits meshes into chunks. The renderer skips every chunk that is outside of the picture.

use crate::raster::InnerEdges;
use chicane_world::scene::Mesh;
use glam::{Vec2, Vec3, Vec3A};
use std::collections::BTreeMap;

/// Maximum number of triangles in a chunk.
const MAX_TRIANGLES: usize = 96;
/// Two triangles count as lying in one plane if the cosine of the angle between their normals is
/// greater than this.
const FLAT: f32 = 0.9999;

/// A mesh prepared for drawing.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkedMesh {
    pub(crate) chunks: Vec<Chunk>,
}

/// Consecutive triangles of a mesh that have the same paint.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) positions: Vec<Vec3A>,
    pub(crate) normals: Vec<Vec3A>,
    pub(crate) uvs: Vec<Vec2>,
    pub(crate) triangles: Vec<[u16; 3]>,
    /// The inner edges of each triangle.
    pub(crate) inner: Vec<InnerEdges>,
    /// Index in [`super::Stage::paints`].
    pub(crate) paint: u32,
    /// Centre of the bounding box and of the bounding sphere.
    pub(crate) centre: Vec3A,
    /// Half the size of the bounding box, m.
    pub(crate) half: Vec3A,
    /// Radius of the bounding sphere, m.
    pub(crate) radius: f32,
}

impl ChunkedMesh {
    /// Splits a mesh into chunks. Takes at most `room` triangles. Triangles are dropped if a
    /// position is not finite, an index is out of range, or two corners are equal.
    pub(crate) fn new(mesh: &Mesh, room: usize, paint_of: impl Fn(usize) -> u32) -> ChunkedMesh {
        let mut chunks = Vec::new();
        let mut left = room;
        for group in &mesh.groups {
            let paint = paint_of(group.material);
            let (triangles, _) = group.indices.as_chunks::<3>();
            let good: Vec<[u32; 3]> =
                triangles.iter().copied().filter(|t| is_good(mesh, t)).take(left).collect();
            left -= good.len();
            let inner = inner_edges(mesh, &good);
            let parts = good.chunks(MAX_TRIANGLES).zip(inner.chunks(MAX_TRIANGLES));
            chunks.extend(parts.map(|(some, inner)| Chunk::new(mesh, some, inner, paint)));
        }
        ChunkedMesh { chunks }
    }

    pub(crate) fn triangles(&self) -> usize {
        self.chunks.iter().map(|c| c.triangles.len()).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.chunks.iter().map(|c| c.positions.len() * 40 + c.triangles.len() * 7).sum()
    }
}

/// Finds the inner edges of each triangle. At an inner edge, exactly two triangles meet, and these
/// two triangles lie in one plane and face the same side.
fn inner_edges(mesh: &Mesh, triangles: &[[u32; 3]]) -> Vec<InnerEdges> {
    let position = |i: u32| Vec3::from_array(mesh.positions[i as usize]);
    // Positions are compared, because corners with the same position can differ in their normals.
    // Adding 0 turns −0 into 0.
    let key = |i: u32| mesh.positions[i as usize].map(|v| (v + 0.0).to_bits());
    let normal = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(position);
        (b - a).cross(c - a).normalize_or_zero()
    };
    let mut edges = Vec::with_capacity(3 * triangles.len());
    for (number, triangle) in triangles.iter().enumerate() {
        for edge in 0..3 {
            let (from, to) = (key(triangle[edge]), key(triangle[(edge + 1) % 3]));
            edges.push((from.min(to), from.max(to), from < to, number, edge));
        }
    }
    edges.sort_unstable();
    let mut inner = vec![[false; 3]; triangles.len()];
    for shared in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let [(.., ahead, one, first), (.., back, other, second)] = shared else { continue };
        let is_flat = normal(&triangles[*one]).dot(normal(&triangles[*other])) > FLAT;
        if ahead != back && is_flat {
            inner[*one][*first] = true;
            inner[*other][*second] = true;
        }
    }
    inner.into_iter().map(InnerEdges::new).collect()
}

/// Whether a triangle has three different corners with finite positions.
fn is_good(mesh: &Mesh, triangle: &[u32; 3]) -> bool {
    let corner = |i: u32| mesh.positions.get(i as usize).filter(|p| p.iter().all(|v| v.is_finite()));
    match triangle.map(corner) {
        [Some(a), Some(b), Some(c)] => a != b && b != c && c != a,
        _ => false,
    }
}

impl Chunk {
    fn new(mesh: &Mesh, triangles: &[[u32; 3]], inner: &[InnerEdges], paint: u32) -> Chunk {
        let mut chunk = Chunk {
            positions: Vec::new(),
            normals: Vec::new(),
            uvs: Vec::new(),
            triangles: Vec::with_capacity(triangles.len()),
            inner: inner.to_vec(),
            paint,
            centre: Vec3A::ZERO,
            half: Vec3A::ZERO,
            radius: 0.0,
        };
        let mut own: BTreeMap<u32, u16> = BTreeMap::new();
        for triangle in triangles {
            let corners = triangle.map(|i| {
                *own.entry(i).or_insert_with(|| {
                    chunk.positions.push(Vec3A::from_array(mesh.positions[i as usize]));
                    let normal = mesh.normals.get(i as usize).map(|n| Vec3A::from_array(*n));
                    let normal = normal.filter(|n| n.is_finite() && n.length_squared() > 1e-12);
                    chunk.normals.push(normal.unwrap_or(Vec3A::ZERO));
                    let uv = mesh.uvs.get(i as usize).map(|uv| Vec2::from_array(*uv));
                    chunk.uvs.push(uv.filter(|uv| uv.is_finite()).unwrap_or(Vec2::ZERO));
                    (chunk.positions.len() - 1) as u16
                })
            });
            chunk.triangles.push(corners);
        }
        chunk.flat_normals();
        let (low, high) = chunk
            .positions
            .iter()
            .fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
        chunk.centre = (low + high) * 0.5;
        chunk.half = (high - low) * 0.5;
        chunk.radius = chunk.positions.iter().map(|p| p.distance(chunk.centre)).fold(0.0, f32::max);
        chunk
    }

    /// Gives corners without a normal the flat normal of the first triangle that uses them.
    fn flat_normals(&mut self) {
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|i| Vec3::from(self.positions[i as usize]));
            let flat = Vec3A::from((b - a).cross(c - a).normalize_or(Vec3::Z));
            for i in *triangle {
                let normal = &mut self.normals[i as usize];
                if *normal == Vec3A::ZERO {
                    *normal = flat;
                }
            }
        }
    }
}
