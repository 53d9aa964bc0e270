//! Caches of shaders and sky colours, which a tile reuses in its next rows.

use super::Background;
use super::lanes::{GROUPS, columns};
use super::setup::Setup;
use super::shade::Shader;
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

/// Cache of the background colours in the rows of a tile.
pub(super) struct SkyRows<'a, S: Simd, B: Background> {
    background: &'a B,
    /// First pixel of the tile.
    first: (usize, usize),
    /// For each group, the row whose colours are cached.
    rows: [Option<usize>; GROUPS],
    colours: [[S::Floats; 3]; GROUPS],
}

impl<'a, S: Simd, B: Background> SkyRows<'a, S, B> {
    #[inline(always)]
    pub(super) fn new(background: &'a B, first: (usize, usize)) -> SkyRows<'a, S, B> {
        let black = S::Floats::splat(0.0);
        SkyRows { background, first, rows: [None; GROUPS], colours: [[black, black, black]; GROUPS] }
    }

    /// Linear colours at the pixels of a group. Two rows share the colours to save time, because
    /// the colour of the sky changes slowly.
    #[inline(always)]
    pub(super) fn colours(&mut self, row: usize, group: usize) -> [S::Floats; 3] {
        let y = row & !1;
        if self.rows[group] != Some(y) {
            let x = columns::<S>(group) + S::Floats::splat(self.first.0 as f32);
            self.colours[group] = self.background.colours::<S>(x, (self.first.1 + y) as f32 + 0.5);
            self.rows[group] = Some(y);
        }
        self.colours[group]
    }
}
