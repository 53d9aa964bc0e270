//! Draws one tile: finds the nearest opaque triangle at each sample, shades the pixels, and blends
//! transparent triangles over them.
//!
//! A group of pixels without an edge stores the depth at the centre of each pixel. If a triangle
//! covers only a part of a pixel, the group is split: each sample then stores the depth of its
//! triangle at the sample. The depth at the centre would be too inaccurate, because two layers of a
//! road differ less in depth than two samples of a pixel.

use super::compiled::Compiled;
use super::coverage::{TileTriangle, covered, inside, near_change, next, touched};
use super::kept::{Shaders, SkyRows};
use super::lanes::{GROUPS, LANES};
use super::samples::SAMPLES;
use super::setup::{Setup, triangle_by_id, triangle_id};
use super::shade::{Shader, clamped, to_pixels};
use super::{Background, TILE};
use crate::simd::{Floats, Ints, Simd};
use crate::texture::Texture;

/// Triangle id of samples without a triangle.
const NOTHING: i32 = -1;

/// The values of a group, aligned so that one instruction loads them as a vector.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
struct Group<T>([T; LANES]);

/// A value for each pixel of a tile.
type Plane<T> = [[Group<T>; GROUPS]; TILE];

/// The buffers of one tile.
pub(super) struct Tile {
    /// 1/w of the nearest opaque triangle at each sample; 0 where there is no triangle. Only the
    /// first sample is valid in groups that are not split.
    nearest: [Plane<f32>; SAMPLES],
    /// Id of the nearest opaque triangle at each sample, or [`NOTHING`]. Only the first sample is
    /// valid in groups that are not split.
    triangle_ids: [Plane<i32>; SAMPLES],
    /// A bit for each group of each row: whether the group is split, because an edge crosses it. In
    /// a split group, the samples of a pixel may belong to different triangles.
    split: [u8; TILE],
    colour: [Group<[u8; 4]>; TILE * GROUPS],
}

/// Finds the index of the tile whose first pixel is (x0, y0) in the lists of a setup.
fn tile_index((x0, y0): (usize, usize)) -> impl Fn(&Setup) -> usize {
    move |setup| y0 / TILE * setup.tiles_across + x0 / TILE
}

impl Tile {
    pub(super) fn new() -> Tile {
        Tile {
            nearest: [[[Group([0.0; LANES]); GROUPS]; TILE]; SAMPLES],
            triangle_ids: [[[Group([NOTHING; LANES]); GROUPS]; TILE]; SAMPLES],
            split: [0; TILE],
            colour: [Group([[0; 4]; LANES]); TILE * GROUPS],
        }
    }

    /// Draws the tile whose first pixel is (x0, y0). `size` is the visible width and height of the
    /// tile. At the right and the lower border of the picture they can be smaller than a tile.
    /// `needed` has a bit for each group of each row that has to be shaded.
    #[inline(always)]
    pub(super) fn draw<S: Compiled>(
        &mut self,
        parts: &[Setup],
        textures: &[Texture],
        (x0, y0): (usize, usize),
        size: (usize, usize),
        needed: &[u8; TILE],
        background: &impl Background,
    ) {
        let tile = tile_index((x0, y0));
        let is_empty =
            |setup: &Setup| setup.opaque[tile(setup)].is_empty() && setup.transparent[tile(setup)].is_empty();
        if parts.iter().all(is_empty) {
            self.fill::<S>((x0, y0), size, needed, background);
            return;
        }
        self.clear();
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.opaque[tile(setup)] {
                S::update_nearest(self, parts, triangle_id(part, index), (x0, y0));
            }
        }
        self.shade::<S>(parts, textures, (x0, y0), size, needed, background);
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.transparent[tile(setup)] {
                self.blend::<S>(parts, textures, triangle_id(part, index), x0, y0);
            }
        }
    }

    /// Draws the background in the needed pixels.
    #[inline(always)]
    fn fill<S: Compiled>(
        &mut self,
        first: (usize, usize),
        (width, height): (usize, usize),
        needed: &[u8; TILE],
        background: &impl Background,
    ) {
        let mut sky = SkyRows::<S, _>::new(background, first);
        for (row, needed) in needed.iter().enumerate().take(height) {
            for group in (0..width.div_ceil(LANES)).filter(|group| needed >> group & 1 == 1) {
                self.colour[row * GROUPS + group].0 = sky.pixels(row, group);
            }
        }
    }

    /// Finds the nearest opaque triangle at the centre of each pixel, for [`Self::depths`] and
    /// [`Self::labels`]. The colours stay as they are.
    #[inline(always)]
    pub(super) fn find_centres<S: Simd>(&mut self, parts: &[Setup], first: (usize, usize)) {
        self.clear();
        let tile = tile_index(first);
        for (part, setup) in parts.iter().enumerate() {
            for &index in &setup.opaque[tile(setup)] {
                let triangle = &setup.triangles[index as usize];
                let Some(triangle) = TileTriangle::of(triangle, first.0, first.1) else { continue };
                let (strides, row_strides) = (triangle.strides::<S>(), triangle.row_strides::<S>());
                let mut row_edges = triangle.first_row::<S>(&triangle.slopes::<S>());
                for row in triangle.rows.clone() {
                    let mut edges = row_edges;
                    row_edges = next::<S>(row_edges, &row_strides);
                    for group in triangle.groups.clone() {
                        let inside = inside::<S>(&edges);
                        edges = next::<S>(edges, &strides);
                        if inside.signs() != 0 {
                            let near = triangle.near::<S>(group, row);
                            self.store::<S>(0, (row, group), inside, near, triangle_id(part, index));
                        }
                    }
                }
            }
        }
    }

    fn clear(&mut self) {
        self.nearest[0] = [[Group([0.0; LANES]); GROUPS]; TILE];
        self.triangle_ids[0] = [[Group([NOTHING; LANES]); GROUPS]; TILE];
        self.split = [0; TILE];
    }

    /// Stores a triangle at a sample of the pixels in the mask where it is nearer than the triangle
    /// that was stored before.
    #[inline(always)]
    fn store<S: Simd>(
        &mut self,
        sample: usize,
        (row, group): (usize, usize),
        mask: S::Ints,
        near: S::Floats,
        id: u32,
    ) {
        let nearest = &mut self.nearest[sample][row][group].0;
        let old = S::Floats::from_array(*nearest);
        let wins = mask & near.greater(old);
        if wins.signs() == 0 {
            return;
        }
        *nearest = near.select(wins, old).to_array();
        let ids = &mut self.triangle_ids[sample][row][group].0;
        *ids = S::Ints::splat(id as i32).select(wins, S::Ints::from_array(*ids)).to_array();
    }

    /// Stores an opaque triangle at the samples where it is nearer than all triangles that were
    /// stored before.
    #[inline(always)]
    pub(super) fn update_nearest<S: Simd>(&mut self, parts: &[Setup], id: u32, (x0, y0): (usize, usize)) {
        let whole = triangle_by_id(parts, id).0;
        let Some(triangle) = TileTriangle::of(whole, x0, y0) else { return };
        if triangle.is_whole {
            return self.update_whole::<S>(&triangle, id);
        }
        let (slopes, strides) = (triangle.slopes::<S>(), triangle.strides::<S>());
        let (margins, row_strides) = (triangle.margins::<S>(), triangle.row_strides::<S>());
        let mut sample_edges = None;
        let mut next_row = triangle.first_row::<S>(&slopes);
        for row in triangle.rows.clone() {
            let mut next_group = next_row;
            next_row = next::<S>(next_row, &row_strides);
            let mut is_inside = false;
            for group in triangle.groups.clone() {
                let edges = next_group;
                next_group = next::<S>(edges, &strides);
                let touched = touched::<S>(&edges, &margins);
                if touched.signs() == 0 {
                    // Triangles are convex. If an earlier group of the row was touched, no later
                    // group of the row is touched.
                    if is_inside {
                        break;
                    }
                    continue;
                }
                is_inside = true;
                let near = triangle.near::<S>(group, row);
                let covered = covered::<S>(&edges, &margins);
                let has_edge = covered.signs() != touched.signs();
                let is_split = self.split[row] >> group & 1 == 1;
                if !is_split && !has_edge {
                    self.store::<S>(0, (row, group), covered, near, id);
                    continue;
                }
                let mut inside = [covered; SAMPLES];
                if has_edge {
                    let first = sample_edges.get_or_insert_with(|| triangle.sample_edges(whole));
                    let mut any = 0;
                    for (inside, first) in inside.iter_mut().zip(first) {
                        *inside = triangle.inside_at::<S>(first, &slopes, group, row);
                        any |= inside.signs();
                    }
                    if any == 0 {
                        continue;
                    }
                }
                if !is_split {
                    let nearest = self.sample_depths::<S>(parts, row, group);
                    let mut wins = 0;
                    for (sample, nearest) in nearest.iter().enumerate() {
                        let near = near + S::Floats::splat(triangle.near_change(sample));
                        wins |= (inside[sample] & near.greater(*nearest)).signs();
                    }
                    if wins == 0 {
                        continue;
                    }
                    self.split::<S>(row, group, &nearest);
                }
                for (sample, inside) in inside.into_iter().enumerate() {
                    let near = near + S::Floats::splat(triangle.near_change(sample));
                    self.store::<S>(sample, (row, group), inside, near, id);
                }
            }
        }
    }

    /// Does the same as [`Self::update_nearest`] for a triangle that covers the whole tile. Its edges
    /// need not be tested.
    #[inline(always)]
    fn update_whole<S: Simd>(&mut self, triangle: &TileTriangle, id: u32) {
        let all = S::Ints::splat(-1);
        for row in triangle.rows.clone() {
            for group in triangle.groups.clone() {
                let near = triangle.near::<S>(group, row);
                if self.split[row] >> group & 1 == 0 {
                    self.store::<S>(0, (row, group), all, near, id);
                    continue;
                }
                for sample in 0..SAMPLES {
                    let near = near + S::Floats::splat(triangle.near_change(sample));
                    self.store::<S>(sample, (row, group), all, near, id);
                }
            }
        }
    }

    /// 1/w at the samples of a group that is not split.
    #[inline(always)]
    fn sample_depths<S: Simd>(&self, parts: &[Setup], row: usize, group: usize) -> [S::Floats; SAMPLES] {
        let triangle_ids = self.triangle_ids[0][row][group];
        let centres = S::Floats::from_array(self.nearest[0][row][group].0);
        let mut nearest = [centres; SAMPLES];
        let mut done = 0u32;
        while done != 0xff {
            let id = triangle_ids.0[(!done).trailing_zeros() as usize];
            let is_same = S::Ints::from_array(triangle_ids.0).equal(S::Ints::splat(id));
            done |= is_same.signs();
            if id == NOTHING {
                continue;
            }
            let plane = &triangle_by_id(parts, id as u32).0.planes[0];
            for (sample, nearest) in nearest.iter_mut().enumerate() {
                let change = near_change(plane.a as f32, plane.b as f32, sample);
                *nearest = (centres + S::Floats::splat(change)).select(is_same, *nearest);
            }
        }
        nearest
    }

    /// Gives each sample of a group its own triangle and depth.
    #[inline(always)]
    fn split<S: Simd>(&mut self, row: usize, group: usize, nearest: &[S::Floats; SAMPLES]) {
        self.split[row] |= 1 << group;
        for (sample, nearest) in nearest.iter().enumerate() {
            self.nearest[sample][row][group] = Group(nearest.to_array());
            self.triangle_ids[sample][row][group] = self.triangle_ids[0][row][group];
        }
    }

    /// Shades the needed pixels. Pixels of a group with the same triangle are shaded together.
    #[inline(always)]
    fn shade<S: Compiled>(
        &mut self,
        parts: &[Setup],
        textures: &[Texture],
        (x0, y0): (usize, usize),
        (width, height): (usize, usize),
        needed: &[u8; TILE],
        background: &impl Background,
    ) {
        let mut shaders = Shaders::new(parts, textures, (x0, y0));
        let mut sky = SkyRows::new(background, (x0, y0));
        for (row, needed) in needed.iter().enumerate().take(height) {
            for group in (0..width.div_ceil(LANES)).filter(|group| needed >> group & 1 == 1) {
                if self.split[row] >> group & 1 == 1 {
                    self.shade_split::<S>(row, group, &mut shaders, &mut sky);
                } else {
                    self.shade_whole::<S>(row, group, &mut shaders, &mut sky);
                }
            }
        }
    }

    /// Shades a group without edges.
    #[inline(always)]
    fn shade_whole<'a, S: Compiled>(
        &mut self,
        row: usize,
        group: usize,
        shaders: &mut Shaders<'a>,
        sky: &mut SkyRows<'_, S, impl Background>,
    ) {
        let triangle_ids = S::Ints::from_array(self.triangle_ids[0][row][group].0);
        let mut done = 0u32;
        while done != 0xff {
            let id = self.triangle_ids[0][row][group].0[(!done).trailing_zeros() as usize];
            let is_same = triangle_ids.equal(S::Ints::splat(id));
            let same = is_same.signs();
            done |= same;
            let pixels = if id == NOTHING {
                sky.pixels(row, group)
            } else {
                to_pixels::<S>(S::shaded(shaders.of(id), group, row, same).0)
            };
            self.write_pixels::<S>(row * TILE + group * LANES, is_same, &pixels);
        }
    }

    /// Shades a group with edges. Each triangle is shaded once. The share of a triangle in the
    /// colour of a pixel is the fraction of the pixel's samples that belong to the triangle.
    #[inline(always)]
    fn shade_split<'a, S: Compiled>(
        &mut self,
        row: usize,
        group: usize,
        shaders: &mut Shaders<'a>,
        sky: &mut SkyRows<'_, S, impl Background>,
    ) {
        let zero = S::Floats::splat(0.0);
        let (mut sums, mut done) = ([zero, zero, zero], [0u32; SAMPLES]);
        while let Some(sample) = done.iter().position(|done| *done != 0xff) {
            let id = self.triangle_ids[sample][row][group].0[(!done[sample]).trailing_zeros() as usize];
            // A lane that is set in a mask is −1, so subtracting the masks counts the samples.
            let mut count = S::Ints::splat(0);
            for (sample, done) in done.iter_mut().enumerate() {
                let triangle_ids = S::Ints::from_array(self.triangle_ids[sample][row][group].0);
                let is_same = triangle_ids.equal(S::Ints::splat(id));
                *done |= is_same.signs();
                count = count - is_same;
            }
            let share = count.floats() * S::Floats::splat(1.0 / SAMPLES as f32);
            let has_share = share.greater(zero);
            let [r, g, b] = if id == NOTHING {
                sky.colours(row, group)
            } else {
                S::shaded(shaders.of(id), group, row, has_share.signs()).0
            };
            // In pixels without a share, the colour may be NaN. It is replaced by zero.
            sums[0] = sums[0] + (clamped::<S>(r) * share).select(has_share, zero);
            sums[1] = sums[1] + (clamped::<S>(g) * share).select(has_share, zero);
            sums[2] = sums[2] + (clamped::<S>(b) * share).select(has_share, zero);
        }
        self.write_pixels::<S>(row * TILE + group * LANES, S::Ints::splat(-1), &to_pixels::<S>(sums));
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
    fn blend<S: Compiled>(&mut self, parts: &[Setup], textures: &[Texture], id: u32, x0: usize, y0: usize) {
        let Some(triangle) = TileTriangle::of(triangle_by_id(parts, id).0, x0, y0) else { return };
        let mut shader = Shader::new(parts, textures, id, x0, y0);
        let (strides, row_strides) = (triangle.strides::<S>(), triangle.row_strides::<S>());
        let mut row_edges = triangle.first_row::<S>(&triangle.slopes::<S>());
        for row in triangle.rows.clone() {
            let mut edges = row_edges;
            row_edges = next::<S>(row_edges, &row_strides);
            for group in triangle.groups.clone() {
                let (inside, near) = (inside::<S>(&edges), triangle.near::<S>(group, row));
                edges = next::<S>(edges, &strides);
                if inside.signs() == 0 {
                    continue;
                }
                let visible = self.visible::<S>(&triangle, row, group, near);
                let mask = (inside & visible.greater(S::Floats::splat(0.0))).signs();
                if mask == 0 {
                    continue;
                }
                let at = row * TILE + group * LANES;
                shader.blend_into::<S>(group, row, mask, visible, &mut self.colour[at / LANES].0);
            }
        }
    }

    /// The share of each pixel of a group in which no opaque triangle is nearer. `near` is 1/w of
    /// the transparent triangle at the centres of the pixels.
    #[inline(always)]
    fn visible<S: Simd>(
        &self,
        triangle: &TileTriangle,
        row: usize,
        group: usize,
        near: S::Floats,
    ) -> S::Floats {
        // A lane that is set in a mask is −1, so subtracting the masks counts the samples.
        let mut count = S::Ints::splat(0);
        if self.split[row] >> group & 1 == 0 {
            count = count - near.greater(S::Floats::from_array(self.nearest[0][row][group].0));
            return count.floats();
        }
        for (sample, nearest) in self.nearest.iter().enumerate() {
            let near = near + S::Floats::splat(triangle.near_change(sample));
            count = count - near.greater(S::Floats::from_array(nearest[row][group].0));
        }
        count.floats() * S::Floats::splat(1.0 / SAMPLES as f32)
    }

    /// Copies as many colours of a row as `to` has room for.
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

    /// Writes the distance along the view axis at the centre of each pixel of a row. The distance
    /// is infinite where there is no triangle.
    pub(super) fn depths(&self, row: usize, to: &mut [f32]) {
        for (x, to) in to.iter_mut().enumerate() {
            *to = 1.0 / self.nearest[0][row][x / LANES].0[x % LANES];
        }
    }

    /// Writes the label at the centre of each pixel of a row. The label is 0 where there is no
    /// triangle.
    pub(super) fn labels(&self, parts: &[Setup], row: usize, to: &mut [u16]) {
        for (x, to) in to.iter_mut().enumerate() {
            let id = self.triangle_ids[0][row][x / LANES].0[x % LANES];
            *to = if id == NOTHING { 0 } else { triangle_by_id(parts, id as u32).1.label };
        }
    }
}
