//! Draws one tile: finds the nearest opaque triangle at each pixel, shades the pixels, and blends
//! transparent triangles over them.

use super::lanes::{LANES, columns};
use super::setup::{SUBPIXELS, Setup, Triangle, triangle_by_id, triangle_id};
use super::shade::{Shader, to_pixels};
use super::{Background, TILE};
use crate::texture::Texture;
use wide::{f32x8, i32x8};

const GROUPS: usize = TILE / LANES;
/// Triangle id of pixels without a triangle.
const NOTHING: i32 = -1;

/// The buffers of one tile.
pub(super) struct Tile {
    /// 1/w of the nearest opaque triangle at each pixel; 0 where there is no triangle.
    nearest: [[f32x8; GROUPS]; TILE],
    /// Id of the nearest opaque triangle at each pixel, or [`NOTHING`].
    triangle_ids: [[i32x8; GROUPS]; TILE],
    colour: [[u8; 4]; TILE * TILE],
}

/// A triangle prepared for one tile.
struct TileTriangle {
    /// Values of the edge functions at the first pixel of the tile, divided by `SUBPIXELS`.
    edges: [i32; 3],
    /// Change of each edge function per column and per row.
    steps: [[i32; 2]; 3],
    /// 1/w at the first pixel of the tile, and the change of 1/w per column and per row.
    nearness: [f32; 3],
    /// Rows of the tile that the triangle may cover.
    rows: std::ops::Range<usize>,
    /// Groups of pixels in a row that the triangle may cover.
    groups: std::ops::Range<usize>,
}

impl TileTriangle {
    /// Prepares a triangle for the tile whose first pixel is (x0, y0). Returns `None` if the
    /// triangle does not touch the tile.
    fn of(triangle: &Triangle, x0: usize, y0: usize) -> Option<TileTriangle> {
        let reach = TILE as i64 - 1;
        let mut edges = [0; 3];
        for (value, edge) in edges.iter_mut().zip(&triangle.edges) {
            let centre = |pixel: usize| pixel as i64 * i64::from(SUBPIXELS) + i64::from(SUBPIXELS / 2);
            let exact = i64::from(edge.a) * centre(x0) + i64::from(edge.b) * centre(y0) + edge.c;
            // One pixel is `SUBPIXELS` units, so the quotient changes by exactly `edge.a` per
            // column and `edge.b` per row. Rounding down keeps the sign.
            let first = exact.div_euclid(i64::from(SUBPIXELS));
            let best = first + reach * i64::from(edge.a.max(0)) + reach * i64::from(edge.b.max(0));
            if best < 0 {
                return None;
            }
            // Clamp to 32 bits: larger values cannot change their sign inside a tile.
            *value = first.clamp(-(1 << 29), 1 << 29) as i32;
        }
        let within = |[low, high]: [i32; 2], first: usize| {
            let low = (low - first as i32).clamp(0, reach as i32) as usize;
            let high = (high - first as i32).clamp(0, reach as i32) as usize;
            (low, high + 1)
        };
        let (top, bottom) = within(triangle.rows, y0);
        let (left, right) = within(triangle.columns, x0);
        let plane = &triangle.planes[0];
        let base = plane.a * x0 as f64 + plane.b * y0 as f64 + plane.c;
        Some(TileTriangle {
            edges,
            steps: triangle.edges.map(|e| [e.a, e.b]),
            nearness: [base as f32, plane.a as f32, plane.b as f32],
            rows: top..bottom,
            groups: left / LANES..right.div_ceil(LANES),
        })
    }

    /// Returns a mask of the pixels of a group that the triangle covers, and 1/w of the triangle at
    /// each pixel.
    #[inline]
    fn at(&self, group: usize, row: usize) -> (i32x8, f32x8) {
        let x = i32x8::from([0, 1, 2, 3, 4, 5, 6, 7]) + i32x8::splat((group * LANES) as i32);
        let y = row as i32;
        let mut outside = i32x8::splat(0);
        for (first, [a, b]) in self.edges.iter().zip(&self.steps) {
            // A pixel is outside of the triangle if the value of any edge is negative. The bitwise
            // OR combines the sign bits of the three edges.
            outside |= i32x8::splat(first + b * y) + x * i32x8::splat(*a);
        }
        let inside = outside.simd_gt(i32x8::splat(-1));
        let [base, a, b] = self.nearness;
        let near = f32x8::splat(base + b * y as f32) + f32x8::splat(a) * columns(group);
        (inside, near)
    }
}

impl Tile {
    pub(super) fn new() -> Tile {
        Tile {
            nearest: [[f32x8::ZERO; GROUPS]; TILE],
            triangle_ids: [[i32x8::splat(NOTHING); GROUPS]; TILE],
            colour: [[0; 4]; TILE * TILE],
        }
    }

    /// Draws the tile whose first pixel is (x0, y0). `size` is the visible width and height of the
    /// tile. At the right and the lower border of the picture they are smaller than a tile.
    pub(super) fn draw(
        &mut self,
        parts: &[Setup],
        textures: &[Texture],
        (x0, y0): (usize, usize),
        size: (usize, usize),
        background: &Background<'_>,
    ) {
        self.nearest = [[f32x8::ZERO; GROUPS]; TILE];
        self.triangle_ids = [[i32x8::splat(NOTHING); GROUPS]; TILE];
        let tile = |setup: &Setup| y0 / TILE * setup.tiles_across + x0 / TILE;
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.opaque[tile(setup)] {
                self.update_nearest(&setup.triangles[index as usize], triangle_id(part, index), x0, y0);
            }
        }
        self.shade(parts, textures, (x0, y0), size, background);
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.transparent[tile(setup)] {
                self.blend(parts, textures, triangle_id(part, index), x0, y0);
            }
        }
    }

    /// Stores an opaque triangle at the pixels where it is nearer than all triangles that were
    /// stored before.
    fn update_nearest(&mut self, triangle: &Triangle, id: u32, x0: usize, y0: usize) {
        let Some(triangle) = TileTriangle::of(triangle, x0, y0) else { return };
        for row in triangle.rows.clone() {
            for group in triangle.groups.clone() {
                let (inside, near) = triangle.at(group, row);
                let old = self.nearest[row][group];
                let nearer: f32x8 = near.simd_gt(old);
                let wins = inside & bits_of(nearer);
                if !wins.any() {
                    continue;
                }
                self.nearest[row][group] = floats_of(wins).bitselect(near, old);
                self.triangle_ids[row][group] =
                    wins.bitselect(i32x8::splat(id as i32), self.triangle_ids[row][group]);
            }
        }
    }

    /// Shades every pixel once. Pixels of a group with the same triangle are shaded together.
    fn shade(
        &mut self,
        parts: &[Setup],
        textures: &[Texture],
        (x0, y0): (usize, usize),
        (width, height): (usize, usize),
        background: &Background<'_>,
    ) {
        let mut shader: Option<(i32, Shader<'_>)> = None;
        let (mut sky, mut sky_row) = ([[[0u8; 4]; LANES]; GROUPS], [None; GROUPS]);
        for row in 0..height {
            for group in 0..width.div_ceil(LANES) {
                let triangle_ids = self.triangle_ids[row][group].to_array();
                let at = row * TILE + group * LANES;
                let mut done = 0u32;
                while done != 0xff {
                    let lane = (!done).trailing_zeros() as usize;
                    let id = triangle_ids[lane];
                    let same = self.triangle_ids[row][group].simd_eq(i32x8::splat(id)).to_bitmask();
                    done |= same;
                    if id == NOTHING {
                        // Two rows share the colour of the sky to save time, because this colour
                        // changes slowly.
                        let y = row & !1;
                        if sky_row[group] != Some(y) {
                            let x = columns(group) + f32x8::splat(x0 as f32);
                            sky[group] = to_pixels(background(x, (y0 + y) as f32 + 0.5));
                            sky_row[group] = Some(y);
                        }
                        self.write_pixels(at, same, &sky[group]);
                        continue;
                    }
                    if shader.as_ref().is_none_or(|(i, _)| *i != id) {
                        shader = Some((id, Shader::new(parts, textures, id as u32, x0, y0)));
                    }
                    let Some((_, shader)) = &shader else { continue };
                    let colours = shader.colours(group, row, same);
                    self.write_pixels(at, same, &colours);
                }
            }
        }
    }

    /// Writes the colours of the pixels in the mask.
    fn write_pixels(&mut self, at: usize, mask: u32, colours: &[[u8; 4]; LANES]) {
        let to = &mut self.colour[at..at + LANES];
        if mask == 0xff {
            to.copy_from_slice(colours);
            return;
        }
        for (l, (to, colour)) in to.iter_mut().zip(colours).enumerate() {
            if mask >> l & 1 == 1 {
                *to = *colour;
            }
        }
    }

    /// Blends a transparent triangle over the pixels where no opaque triangle is nearer.
    fn blend(&mut self, parts: &[Setup], textures: &[Texture], id: u32, x0: usize, y0: usize) {
        let Some(triangle) = TileTriangle::of(triangle_by_id(parts, id).0, x0, y0) else { return };
        let shader = Shader::new(parts, textures, id, x0, y0);
        for row in triangle.rows.clone() {
            for group in triangle.groups.clone() {
                let (inside, near) = triangle.at(group, row);
                let nearer: f32x8 = near.simd_gt(self.nearest[row][group]);
                let mask = (inside & bits_of(nearer)).to_bitmask();
                if mask == 0 {
                    continue;
                }
                let at = row * TILE + group * LANES;
                shader.blend_into(group, row, mask, &mut self.colour[at..at + LANES]);
            }
        }
    }

    /// The first `width` colours of a row.
    pub(super) fn colours(&self, row: usize, width: usize) -> &[[u8; 4]] {
        &self.colour[row * TILE..row * TILE + width]
    }

    /// Writes the distance along the view axis for each pixel of a row. The distance is infinite
    /// where there is no triangle.
    pub(super) fn depths(&self, row: usize, to: &mut [f32]) {
        for (x, to) in to.iter_mut().enumerate() {
            *to = 1.0 / self.nearest[row][x / LANES].to_array()[x % LANES];
        }
    }

    /// Writes the label of each pixel of a row. The label is 0 where there is no triangle.
    pub(super) fn labels(&self, parts: &[Setup], row: usize, to: &mut [u16]) {
        for (x, to) in to.iter_mut().enumerate() {
            let id = self.triangle_ids[row][x / LANES].to_array()[x % LANES];
            *to = if id == NOTHING { 0 } else { triangle_by_id(parts, id as u32).1.label };
        }
    }
}

/// Reinterprets the bits of a mask as integers.
fn bits_of(mask: f32x8) -> i32x8 {
    bytemuck::cast(mask)
}

/// Reinterprets the bits of a mask as floats.
fn floats_of(mask: i32x8) -> f32x8 {
    bytemuck::cast(mask)
}
