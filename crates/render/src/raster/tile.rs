//! Draws one tile: finds the nearest opaque triangle at each pixel, shades the pixels, and blends
//! transparent triangles over them.

use super::lanes::{LANES, columns};
use super::setup::{SUBPIXELS, Setup, Triangle, triangle_by_id, triangle_id};
use super::shade::{Shader, to_pixels};
use super::{Background, TILE};
use crate::simd::{Floats, Ints, Simd};
use crate::texture::Texture;

const GROUPS: usize = TILE / LANES;
/// Number of shaders that a tile keeps. A row often crosses several triangles, and the next row
/// crosses the same ones.
const SHADERS: usize = 16;
/// Triangle id of pixels without a triangle.
const NOTHING: i32 = -1;

/// The values of a group, aligned so that a vector is loaded at once.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
struct Group<T>([T; LANES]);

/// The buffers of one tile.
pub(super) struct Tile {
    /// 1/w of the nearest opaque triangle at each pixel; 0 where there is no triangle.
    nearest: [[Group<f32>; GROUPS]; TILE],
    /// Id of the nearest opaque triangle at each pixel, or [`NOTHING`].
    triangle_ids: [[Group<i32>; GROUPS]; TILE],
    colour: [Group<[u8; 4]>; TILE * GROUPS],
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

    /// Values of the edge functions at the pixels of a group, relative to the first pixel.
    #[inline(always)]
    fn slopes<S: Simd>(&self) -> [S::Ints; 3] {
        [slope::<S>(self.steps[0][0]), slope::<S>(self.steps[1][0]), slope::<S>(self.steps[2][0])]
    }

    /// Change of each edge function from a group to the next one.
    #[inline(always)]
    fn strides<S: Simd>(&self) -> [S::Ints; 3] {
        [self.stride::<S>(0), self.stride::<S>(1), self.stride::<S>(2)]
    }

    #[inline(always)]
    fn stride<S: Simd>(&self, edge: usize) -> S::Ints {
        S::Ints::splat(self.steps[edge][0].wrapping_mul(LANES as i32))
    }

    /// Values of the edge functions at the pixels of the first group of a row.
    #[inline(always)]
    fn row<S: Simd>(&self, slopes: &[S::Ints; 3], row: usize) -> [S::Ints; 3] {
        [self.edge::<S>(slopes, 0, row), self.edge::<S>(slopes, 1, row), self.edge::<S>(slopes, 2, row)]
    }

    #[inline(always)]
    fn edge<S: Simd>(&self, slopes: &[S::Ints; 3], edge: usize, row: usize) -> S::Ints {
        let [a, b] = self.steps[edge];
        let (x, y) = ((self.groups.start * LANES) as i32, row as i32);
        let first = self.edges[edge].wrapping_add(a.wrapping_mul(x)).wrapping_add(b.wrapping_mul(y));
        S::Ints::splat(first) + slopes[edge]
    }

    /// 1/w of the triangle at the pixels of a group.
    #[inline(always)]
    fn near<S: Simd>(&self, group: usize, row: usize) -> S::Floats {
        let [base, a, b] = self.nearness;
        S::Floats::splat(base + b * row as f32) + S::Floats::splat(a) * columns::<S>(group)
    }
}

/// Returns a mask of the pixels inside of a triangle, from the values of its edge functions.
#[inline(always)]
fn inside<S: Simd>(edges: &[S::Ints; 3]) -> S::Ints {
    // A pixel is outside of the triangle if the value of any edge is negative. The bitwise OR
    // combines the sign bits of the three edges.
    (edges[0] | edges[1] | edges[2]).not_negative()
}

/// The values of the edge functions at the next group.
#[inline(always)]
fn next_group<S: Simd>(edges: [S::Ints; 3], strides: &[S::Ints; 3]) -> [S::Ints; 3] {
    [edges[0] + strides[0], edges[1] + strides[1], edges[2] + strides[2]]
}

/// The first eight multiples of a number, from 0 on.
#[inline(always)]
fn slope<S: Simd>(a: i32) -> S::Ints {
    S::Ints::from_array([0, a, 2 * a, 3 * a, 4 * a, 5 * a, 6 * a, 7 * a])
}

impl Tile {
    pub(super) fn new() -> Tile {
        Tile {
            nearest: [[Group([0.0; LANES]); GROUPS]; TILE],
            triangle_ids: [[Group([NOTHING; LANES]); GROUPS]; TILE],
            colour: [Group([[0; 4]; LANES]); TILE * GROUPS],
        }
    }

    /// Draws the tile whose first pixel is (x0, y0). `size` is the visible width and height of the
    /// tile. At the right and the lower border of the picture they are smaller than a tile.
    /// `needed` has a bit for each group of each row that has to be shaded.
    #[inline(always)]
    pub(super) fn draw<S: Simd>(
        &mut self,
        parts: &[Setup],
        textures: &[Texture],
        (x0, y0): (usize, usize),
        size: (usize, usize),
        needed: &[u8; TILE],
        background: &impl Background,
    ) {
        self.nearest = [[Group([0.0; LANES]); GROUPS]; TILE];
        self.triangle_ids = [[Group([NOTHING; LANES]); GROUPS]; TILE];
        let tile = |setup: &Setup| y0 / TILE * setup.tiles_across + x0 / TILE;
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.opaque[tile(setup)] {
                self.update_nearest::<S>(&setup.triangles[index as usize], triangle_id(part, index), x0, y0);
            }
        }
        self.shade::<S>(parts, textures, (x0, y0), size, needed, background);
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.transparent[tile(setup)] {
                self.blend::<S>(parts, textures, triangle_id(part, index), x0, y0);
            }
        }
    }

    /// Stores an opaque triangle at the pixels where it is nearer than all triangles that were
    /// stored before.
    #[inline(always)]
    fn update_nearest<S: Simd>(&mut self, triangle: &Triangle, id: u32, x0: usize, y0: usize) {
        let Some(triangle) = TileTriangle::of(triangle, x0, y0) else { return };
        let (slopes, strides) = (triangle.slopes::<S>(), triangle.strides::<S>());
        let id = S::Ints::splat(id as i32);
        for row in triangle.rows.clone() {
            let mut edges = triangle.row::<S>(&slopes, row);
            for group in triangle.groups.clone() {
                let (inside, near) = (inside::<S>(&edges), triangle.near::<S>(group, row));
                edges = next_group::<S>(edges, &strides);
                let nearest = &mut self.nearest[row][group].0;
                let old = S::Floats::from_array(*nearest);
                let wins = inside & near.greater(old);
                if wins.signs() == 0 {
                    continue;
                }
                *nearest = near.select(wins, old).to_array();
                let ids = &mut self.triangle_ids[row][group].0;
                *ids = id.select(wins, S::Ints::from_array(*ids)).to_array();
            }
        }
    }

    /// Shades every needed pixel once. Pixels of a group with the same triangle are shaded together.
    #[inline(always)]
    fn shade<S: Simd>(
        &mut self,
        parts: &[Setup],
        textures: &[Texture],
        (x0, y0): (usize, usize),
        (width, height): (usize, usize),
        needed: &[u8; TILE],
        background: &impl Background,
    ) {
        let mut shaders: [Option<(i32, Shader<'_>)>; SHADERS] = [const { None }; SHADERS];
        let (mut sky, mut sky_row) = ([[[0u8; 4]; LANES]; GROUPS], [None; GROUPS]);
        for (row, needed) in needed.iter().enumerate().take(height) {
            for group in (0..width.div_ceil(LANES)).filter(|group| needed >> group & 1 == 1) {
                let triangle_ids = self.triangle_ids[row][group].0;
                let at = row * TILE + group * LANES;
                let mut done = 0u32;
                while done != 0xff {
                    let lane = (!done).trailing_zeros() as usize;
                    let id = triangle_ids[lane];
                    let is_same = S::Ints::from_array(triangle_ids).equal(S::Ints::splat(id));
                    let same = is_same.signs();
                    done |= same;
                    if id == NOTHING {
                        // Two rows share the colour of the sky to save time, because this colour
                        // changes slowly.
                        let y = row & !1;
                        if sky_row[group] != Some(y) {
                            let x = columns::<S>(group) + S::Floats::splat(x0 as f32);
                            let colours = background.colours::<S>(x, (y0 + y) as f32 + 0.5);
                            sky[group] = to_pixels::<S>(colours);
                            sky_row[group] = Some(y);
                        }
                        self.write_pixels::<S>(at, is_same, &sky[group]);
                        continue;
                    }
                    let shader = &mut shaders[id as usize % SHADERS];
                    if shader.as_ref().is_none_or(|(i, _)| *i != id) {
                        *shader = Some((id, Shader::new(parts, textures, id as u32, x0, y0)));
                    }
                    let Some((_, shader)) = shader else { continue };
                    let colours = shader.colours::<S>(group, row, same);
                    self.write_pixels::<S>(at, is_same, &colours);
                }
            }
        }
    }

    /// Writes the colours of the pixels in the mask.
    #[inline(always)]
    fn write_pixels<S: Simd>(&mut self, at: usize, mask: S::Ints, colours: &[[u8; 4]; LANES]) {
        let to = &mut self.colour[at / LANES].0;
        let (old, new) =
            (S::Ints::from_array(bytemuck::cast(*to)), S::Ints::from_array(bytemuck::cast(*colours)));
        *to = bytemuck::cast(new.select(mask, old).to_array());
    }

    /// Blends a transparent triangle over the pixels where no opaque triangle is nearer.
    #[inline(always)]
    fn blend<S: Simd>(&mut self, parts: &[Setup], textures: &[Texture], id: u32, x0: usize, y0: usize) {
        let Some(triangle) = TileTriangle::of(triangle_by_id(parts, id).0, x0, y0) else { return };
        let mut shader = Shader::new(parts, textures, id, x0, y0);
        let (slopes, strides) = (triangle.slopes::<S>(), triangle.strides::<S>());
        for row in triangle.rows.clone() {
            let mut edges = triangle.row::<S>(&slopes, row);
            for group in triangle.groups.clone() {
                let (inside, near) = (inside::<S>(&edges), triangle.near::<S>(group, row));
                edges = next_group::<S>(edges, &strides);
                let nearest = S::Floats::from_array(self.nearest[row][group].0);
                let mask = (inside & near.greater(nearest)).signs();
                if mask == 0 {
                    continue;
                }
                let at = row * TILE + group * LANES;
                shader.blend_into::<S>(group, row, mask, &mut self.colour[at / LANES].0);
            }
        }
    }

    /// Copies the first colours of a row.
    #[inline(always)]
    pub(super) fn copy_colours(&self, row: usize, to: &mut [[u8; 4]]) {
        let groups = &self.colour[row * GROUPS..(row + 1) * GROUPS];
        for (to, group) in to.chunks_mut(LANES).zip(groups) {
            match to.as_mut_array::<LANES>() {
                Some(to) => *to = group.0,
                None => to.copy_from_slice(&group.0[..to.len()]),
            }
        }
    }

    /// Writes the distance along the view axis for each pixel of a row. The distance is infinite
    /// where there is no triangle.
    pub(super) fn depths(&self, row: usize, to: &mut [f32]) {
        for (x, to) in to.iter_mut().enumerate() {
            *to = 1.0 / self.nearest[row][x / LANES].0[x % LANES];
        }
    }

    /// Writes the label of each pixel of a row. The label is 0 where there is no triangle.
    pub(super) fn labels(&self, parts: &[Setup], row: usize, to: &mut [u16]) {
        for (x, to) in to.iter_mut().enumerate() {
            let id = self.triangle_ids[row][x / LANES].0[x % LANES];
            *to = if id == NOTHING { 0 } else { triangle_by_id(parts, id as u32).1.label };
        }
    }
}
