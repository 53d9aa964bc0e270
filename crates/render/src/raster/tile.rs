//! One tile: what is nearest at each pixel, then its colour.

use super::lanes::{LANES, columns};
use super::setup::{SUB, Setup, Triangle, number, numbered};
use super::shade::{Shader, to_pixels};
use super::{Background, TILE};
use crate::texture::Texture;
use wide::{f32x8, i32x8};

const GROUPS: usize = TILE / LANES;
/// No triangle.
const NOTHING: i32 = -1;

/// Room for one tile.
pub(super) struct Tile {
    /// 1/w of the nearest; 0 is nothing.
    nearest: [[f32x8; GROUPS]; TILE],
    /// Which triangle it is.
    who: [[i32x8; GROUPS]; TILE],
    colour: [[u8; 4]; TILE * TILE],
}

/// A triangle as one tile sees it: values at its first pixel.
struct InTile {
    edges: [i32; 3],
    steps: [[i32; 2]; 3],
    nearness: [f32; 3],
    rows: std::ops::Range<usize>,
    groups: std::ops::Range<usize>,
}

impl InTile {
    /// `None` if it misses the tile.
    fn of(triangle: &Triangle, x0: usize, y0: usize) -> Option<InTile> {
        let reach = TILE as i64 - 1;
        let mut edges = [0; 3];
        for (value, edge) in edges.iter_mut().zip(&triangle.edges) {
            let centre = |pixel: usize| pixel as i64 * i64::from(SUB) + i64::from(SUB / 2);
            let exact = i64::from(edge.a) * centre(x0) + i64::from(edge.b) * centre(y0) + edge.c;
            // Whole parts of a pixel's step: from pixel to pixel it changes by exactly a and b.
            let first = exact.div_euclid(i64::from(SUB));
            let best = first + reach * i64::from(edge.a.max(0)) + reach * i64::from(edge.b.max(0));
            if best < 0 {
                return None;
            }
            // Farther off than a tile can reach it decides nothing more.
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
        Some(InTile {
            edges,
            steps: triangle.edges.map(|e| [e.a, e.b]),
            nearness: [base as f32, plane.a as f32, plane.b as f32],
            rows: top..bottom,
            groups: left / LANES..right.div_ceil(LANES),
        })
    }

    /// Which of eight pixels it covers, and how near it is there.
    #[inline]
    fn at(&self, group: usize, row: usize) -> (i32x8, f32x8) {
        let x = i32x8::from([0, 1, 2, 3, 4, 5, 6, 7]) + i32x8::splat((group * LANES) as i32);
        let y = row as i32;
        let mut outside = i32x8::splat(0);
        for (first, [a, b]) in self.edges.iter().zip(&self.steps) {
            // The sign bit says outside.
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
            who: [[i32x8::splat(NOTHING); GROUPS]; TILE],
            colour: [[0; 4]; TILE * TILE],
        }
    }

    /// Draws the tile whose first pixel this is, so far as it is in the picture.
    pub(super) fn draw(
        &mut self,
        parts: &[Setup],
        textures: &[Texture],
        (x0, y0): (usize, usize),
        size: (usize, usize),
        background: &Background<'_>,
    ) {
        self.nearest = [[f32x8::ZERO; GROUPS]; TILE];
        self.who = [[i32x8::splat(NOTHING); GROUPS]; TILE];
        let tile = |setup: &Setup| y0 / TILE * setup.tiles_across + x0 / TILE;
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.solid[tile(setup)] {
                self.find(&setup.triangles[index as usize], number(part, index), x0, y0);
            }
        }
        self.paint(parts, textures, (x0, y0), size, background);
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.clear[tile(setup)] {
                self.mix(parts, textures, number(part, index), x0, y0);
            }
        }
    }

    fn find(&mut self, triangle: &Triangle, index: u32, x0: usize, y0: usize) {
        let Some(seen) = InTile::of(triangle, x0, y0) else { return };
        for row in seen.rows.clone() {
            for group in seen.groups.clone() {
                let (inside, near) = seen.at(group, row);
                let old = self.nearest[row][group];
                let nearer: f32x8 = near.simd_gt(old);
                let wins = inside & bits_of(nearer);
                if !wins.any() {
                    continue;
                }
                self.nearest[row][group] = floats_of(wins).bitselect(near, old);
                self.who[row][group] = wins.bitselect(i32x8::splat(index as i32), self.who[row][group]);
            }
        }
    }

    /// Every pixel once, in runs of the same triangle.
    fn paint(
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
                let who = self.who[row][group].to_array();
                let at = row * TILE + group * LANES;
                let mut done = 0u32;
                while done != 0xff {
                    let lane = (!done).trailing_zeros() as usize;
                    let index = who[lane];
                    let same = self.who[row][group].simd_eq(i32x8::splat(index)).to_bitmask();
                    done |= same;
                    if index == NOTHING {
                        // Two rows share their sky: it changes slowly.
                        let y = row & !1;
                        if sky_row[group] != Some(y) {
                            let x = columns(group) + f32x8::splat(x0 as f32);
                            sky[group] = to_pixels(background(x, (y0 + y) as f32 + 0.5));
                            sky_row[group] = Some(y);
                        }
                        self.put(at, same, &sky[group]);
                        continue;
                    }
                    if shader.as_ref().is_none_or(|(i, _)| *i != index) {
                        shader = Some((index, Shader::new(parts, textures, index as u32, x0, y0)));
                    }
                    let Some((_, shader)) = &shader else { continue };
                    let colours = shader.solid(group, row, same);
                    self.put(at, same, &colours);
                }
            }
        }
    }

    fn put(&mut self, at: usize, mask: u32, colours: &[[u8; 4]; LANES]) {
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

    /// Mixes in a triangle that can be seen through.
    fn mix(&mut self, parts: &[Setup], textures: &[Texture], index: u32, x0: usize, y0: usize) {
        let Some(seen) = InTile::of(numbered(parts, index).0, x0, y0) else { return };
        let shader = Shader::new(parts, textures, index, x0, y0);
        for row in seen.rows.clone() {
            for group in seen.groups.clone() {
                let (inside, near) = seen.at(group, row);
                let nearer: f32x8 = near.simd_gt(self.nearest[row][group]);
                let mask = (inside & bits_of(nearer)).to_bitmask();
                if mask == 0 {
                    continue;
                }
                let at = row * TILE + group * LANES;
                shader.mixed(group, row, mask, &mut self.colour[at..at + LANES]);
            }
        }
    }

    pub(super) fn colours(&self, row: usize, width: usize) -> &[[u8; 4]] {
        &self.colour[row * TILE..row * TILE + width]
    }

    /// Distance along the view axis; infinite where nothing is.
    pub(super) fn depths(&self, row: usize, to: &mut [f32]) {
        for (x, to) in to.iter_mut().enumerate() {
            *to = 1.0 / self.nearest[row][x / LANES].to_array()[x % LANES];
        }
    }

    pub(super) fn labels(&self, parts: &[Setup], row: usize, to: &mut [u16]) {
        for (x, to) in to.iter_mut().enumerate() {
            let index = self.who[row][x / LANES].to_array()[x % LANES];
            *to = if index == NOTHING { 0 } else { numbered(parts, index as u32).1.label };
        }
    }
}

/// The same bits, seen as integers.
fn bits_of(mask: f32x8) -> i32x8 {
    bytemuck::cast(mask)
}

/// The same bits, seen as numbers.
fn floats_of(mask: i32x8) -> f32x8 {
    bytemuck::cast(mask)
}
