//! The flat surfaces on the ground, as small groups of triangles. Their coordinates are in metres.

use super::Print;
use crate::raster::Surface;
use crate::stage::{Chunk, Paint, StageBuilder};
use crate::texture::Texture;
use chicane_world::World;
use chicane_world::scene::Owner;
use glam::{DAffine3, DVec2, DVec3, Vec2, Vec3};
use std::collections::BTreeMap;

/// Maximum height of a flat triangle above the ground, m.
const NEAR_M: f64 = 0.05;
/// Minimum z component of the unit normal of a flat triangle.
const UPRIGHT: f64 = 0.7;
/// Maximum number of triangles in a patch.
const PATCH: usize = 32;

/// All flat triangles of a world, and the textures that they use.
pub(super) struct Floor {
    pub(super) textures: Vec<Texture>,
    /// The opaque patches, followed by the transparent patches from the lowest to the highest.
    patches: Vec<Patch>,
    /// Bounds of the print in the world, m.
    pub(super) min: DVec2,
    pub(super) max: DVec2,
}

/// Consecutive triangles with the same paint.
pub(super) struct Patch {
    pub(super) corners: Vec<FlatCorner>,
    /// Indices of the corners, counter-clockwise seen from above.
    pub(super) triangles: Vec<[u16; 3]>,
    pub(super) surface: Surface,
    /// Colour of the surface, linear RGB.
    pub(super) colour: Vec3,
    /// Bounds in the world, m.
    pub(super) min: DVec2,
    pub(super) max: DVec2,
    /// Height of the highest corner above the ground, m; 0 if all corners are below the ground.
    height: f64,
}

/// A corner of a flat triangle.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlatCorner {
    /// Position in the world, m.
    pub(super) at: DVec2,
    /// Height above the ground, m.
    pub(super) height: f32,
    pub(super) uv: Vec2,
}

impl Floor {
    /// Finds the flat triangles of the track. If the track has no flat triangles, finds the flat
    /// triangles of the scenery. Returns `None` if the scenery has no flat triangles either.
    pub(super) fn new(world: &World) -> Option<Floor> {
        Floor::of(world, Owner::Track).or_else(|| Floor::of(world, Owner::Scenery))
    }

    fn of(world: &World, owner: Owner) -> Option<Floor> {
        let mut builder = StageBuilder::default();
        builder.add_scene(&world.scene, |i| i.owner == owner);
        let mut patches = Vec::new();
        for item in &builder.items {
            for chunk in &builder.meshes[item.mesh].chunks {
                let paint = &builder.paints[item.paint.unwrap_or(chunk.paint) as usize];
                let flat = ChunkOnGround {
                    to_world: &item.local,
                    ground_z: world.ground.z,
                    paint,
                    opacity: item.opacity,
                };
                flat.patches(chunk, &mut patches);
            }
        }
        patches.sort_by(|a, b| {
            let order = |p: &Patch| if p.is_clear() { p.height } else { f64::NEG_INFINITY };
            order(a).total_cmp(&order(b))
        });
        let first = patches.first()?;
        let round = patches.iter().fold((first.min, first.max), |(a, b), p| (a.min(p.min), b.max(p.max)));
        let known = world.ground.bounds.filter(|b| b.min.is_finite() && b.max.is_finite());
        let (min, max) = known.map_or(round, |b| (b.min, b.max));
        Some(Floor { textures: builder.textures, patches, min, max })
    }

    /// The patches that may be visible in these rows of a print.
    pub(super) fn between_rows(&self, print: &Print, first: usize, rows: usize) -> Vec<&Patch> {
        let scale = print.pixels_per_metre();
        let first = print.top + first;
        let (high, low) = (self.max.y - first as f64 / scale, self.max.y - (first + rows) as f64 / scale);
        self.patches.iter().filter(|p| p.max.y >= low && p.min.y <= high).collect()
    }
}

impl Patch {
    fn is_clear(&self) -> bool {
        self.surface.blended || self.surface.opacity < 1.0
    }
}

/// The pose and the material of a chunk that may contain flat triangles.
struct ChunkOnGround<'a> {
    to_world: &'a DAffine3,
    ground_z: f64,
    paint: &'a Paint,
    opacity: f32,
}

impl ChunkOnGround<'_> {
    fn patches(&self, chunk: &Chunk, to: &mut Vec<Patch>) {
        let points: Vec<DVec3> =
            chunk.positions.iter().map(|p| self.to_world.transform_point3(p.as_dvec3())).collect();
        let mirrored = self.to_world.matrix3.determinant() < 0.0;
        let turned = |[a, b, c]: [u16; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        let flat: Vec<[u16; 3]> =
            chunk.triangles.iter().map(|t| turned(*t)).filter(|t| self.is_flat(&points, t)).collect();
        to.extend(flat.chunks(PATCH).map(|some| self.patch(chunk, &points, some)));
    }

    fn is_flat(&self, points: &[DVec3], triangle: &[u16; 3]) -> bool {
        let [a, b, c] = triangle.map(|i| points[usize::from(i)]);
        let normal = (b - a).cross(c - a);
        let highest = a.z.max(b.z).max(c.z);
        // A triangle without area has a zero normal and fails the comparison.
        normal.is_finite() && normal.z > UPRIGHT * normal.length() && highest <= self.ground_z + NEAR_M
    }

    fn patch(&self, chunk: &Chunk, points: &[DVec3], triangles: &[[u16; 3]]) -> Patch {
        let mut own: BTreeMap<u16, u16> = BTreeMap::new();
        let mut patch = Patch {
            corners: Vec::new(),
            triangles: Vec::with_capacity(triangles.len()),
            surface: Surface {
                texture: self.paint.texture,
                emissive: self.paint.emissive.to_array(),
                opacity: self.paint.opacity * self.opacity,
                blended: self.paint.blended,
                label: 0,
            },
            colour: self.paint.colour,
            min: DVec2::INFINITY,
            max: DVec2::NEG_INFINITY,
            height: 0.0,
        };
        for triangle in triangles {
            let corners = triangle.map(|i| {
                *own.entry(i).or_insert_with(|| {
                    let (point, uv) = (points[usize::from(i)], chunk.uvs[usize::from(i)]);
                    let height = point.z - self.ground_z;
                    patch.min = patch.min.min(point.truncate());
                    patch.max = patch.max.max(point.truncate());
                    patch.height = patch.height.max(height);
                    patch.corners.push(FlatCorner { at: point.truncate(), height: height as f32, uv });
                    (patch.corners.len() - 1) as u16
                })
            });
            patch.triangles.push(corners);
        }
        patch
    }
}
