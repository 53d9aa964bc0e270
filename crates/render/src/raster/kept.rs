//! Caches of shaders and sky colours, which a tile reuses in its next rows.

use super::Background;
use super::compiled::Compiled;
use super::lanes::{GROUPS, LANES, columns};
use super::setup::Setup;
use super::shade::{Shader, to_pixels};
use crate::simd::{Floats, Simd};
use crate::texture::Texture;

/// Number of shaders in the cache of a tile. A row often crosses several triangles, and the next
/// row usually crosses the same triangles.
const SHADERS: usize = 16;

/// Cache of the shaders of a tile.
pub(super) struct Shaders<'a> {
    parts: &'a [Setup],
    textures: &'a [Texture],
    /// First pixel of the tile.
    first: (usize, usize),
    kept: [Option<(i32, Shader<'a>)>; SHADERS],
}

impl<'a> Shaders<'a> {
    pub(super) fn new(parts: &'a [Setup], textures: &'a [Texture], first: (usize, usize)) -> Shaders<'a> {
        Shaders { parts, textures, first, kept: [const { None }; SHADERS] }
    }

    /// The shader of a triangle.
    #[inline(always)]
    pub(super) fn of(&mut self, id: i32) -> &mut Shader<'a> {
        let ((x0, y0), kept) = (self.first, &mut self.kept[id as usize % SHADERS]);
        let shader = || (id, Shader::new(self.parts, self.textures, id as u32, x0, y0));
        if kept.as_ref().is_none_or(|(of, _)| *of != id) {
            return &mut kept.insert(shader()).1;
        }
        &mut kept.get_or_insert_with(shader).1
    }
}

/// Cache of the background colours in the rows of a tile, as light and as bytes.
pub(super) struct SkyRows<'a, S: Simd, B: Background> {
    background: &'a B,
    /// First pixel of the tile.
    first: (usize, usize),
    /// For each group, the upper one of the two rows whose colours are cached, or `usize::MAX`.
    rows: [usize; GROUPS],
    colours: [[S::Floats; 3]; GROUPS],
    pixels: [[[u8; 4]; LANES]; GROUPS],
}

impl<'a, S: Compiled, B: Background> SkyRows<'a, S, B> {
    #[inline(always)]
    pub(super) fn new(background: &'a B, first: (usize, usize)) -> SkyRows<'a, S, B> {
        let black = S::Floats::splat(0.0);
        let (colours, pixels) = ([[black, black, black]; GROUPS], [[[0; 4]; LANES]; GROUPS]);
        SkyRows { background, first, rows: [usize::MAX; GROUPS], colours, pixels }
    }

    /// Linear colours at the pixels of a group. Two rows share the colours to save time, because
    /// the colour of the sky changes slowly.
    #[inline(always)]
    pub(super) fn colours(&mut self, row: usize, group: usize) -> [S::Floats; 3] {
        self.find(row, group);
        self.colours[group]
    }

    /// The same colours as bytes.
    #[inline(always)]
    pub(super) fn pixels(&mut self, row: usize, group: usize) -> [[u8; 4]; LANES] {
        self.find(row, group);
        self.pixels[group]
    }

    /// Computes the colours of a group if they are not cached.
    #[inline(always)]
    fn find(&mut self, row: usize, group: usize) {
        if self.rows[group] != row & !1 {
            S::compute_sky(self, row & !1, group);
        }
    }

    /// Computes the colours of a group in two rows. `row` is the upper one.
    #[inline(always)]
    pub(super) fn compute(&mut self, row: usize, group: usize) {
        let x = columns::<S>(group) + S::Floats::splat(self.first.0 as f32);
        self.colours[group] = self.background.colours::<S>(x, (self.first.1 + row) as f32 + 0.5);
        self.pixels[group] = to_pixels::<S>(self.colours[group]);
        self.rows[group] = row;
    }
}
