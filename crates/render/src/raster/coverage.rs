//! Which pixels and samples of a tile a triangle covers.

use super::TILE;
use super::lanes::{LANES, columns};
use super::samples::{OFFSETS, SAMPLES, change, margin};
use super::setup::{SUBPIXELS, Triangle};
use crate::simd::{Floats, Ints, Simd};

/// A triangle prepared for one tile.
pub(super) struct TileTriangle {
    /// Values of the edge functions at the centre of the first pixel of the tile, divided by
    /// `SUBPIXELS`.
    edges: [i32; 3],
    /// Exact values of the edge functions at that centre.
    exact: [i64; 3],
    /// Largest change of each edge function from the centre of a pixel to any of its samples,
    /// divided by `SUBPIXELS` and rounded up.
    margins: [i32; 3],
    /// Change of each edge function per column and per row.
    steps: [[i32; 2]; 3],
    /// 1/w at the first pixel of the tile, and the change of 1/w per column and per row; w is the
    /// distance along the view axis.
    nearness: [f32; 3],
    /// Rows of the tile that the triangle may cover.
    pub(super) rows: std::ops::Range<usize>,
    /// Groups of pixels in a row that the triangle may cover.
    pub(super) groups: std::ops::Range<usize>,
    /// Whether the triangle covers all samples of the tile.
    pub(super) is_whole: bool,
}

impl TileTriangle {
    /// Prepares a triangle for the tile whose first pixel is (x0, y0). Returns `None` if the
    /// triangle does not touch the tile.
    #[inline(always)]
    pub(super) fn of(triangle: &Triangle, x0: usize, y0: usize) -> Option<TileTriangle> {
        let reach = TILE as i64 - 1;
        let (mut edges, mut exact, mut is_whole) = ([0; 3], [0; 3], true);
        let margins = [0, 1, 2].map(|i: usize| margin(&triangle.edges[i]));
        for (i, edge) in triangle.edges.iter().enumerate() {
            let centre = |pixel: usize| pixel as i64 * i64::from(SUBPIXELS) + i64::from(SUBPIXELS / 2);
            exact[i] = i64::from(edge.a) * centre(x0) + i64::from(edge.b) * centre(y0) + edge.c;
            // One pixel is `SUBPIXELS` units, so the quotient changes by exactly `edge.a` per
            // column and `edge.b` per row. Rounding down keeps the sign.
            let first = exact[i].div_euclid(i64::from(SUBPIXELS));
            let best = first + reach * i64::from(edge.a.max(0)) + reach * i64::from(edge.b.max(0));
            if best + i64::from(margins[i]) < 0 {
                return None;
            }
            let worst = first + reach * i64::from(edge.a.min(0)) + reach * i64::from(edge.b.min(0));
            is_whole &= worst >= i64::from(margins[i]);
            edges[i] = clamped(first);
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
            exact,
            margins,
            steps: triangle.edges.map(|e| [e.a, e.b]),
            nearness: [base as f32, plane.a as f32, plane.b as f32],
            rows: top..bottom,
            groups: left / LANES..right.div_ceil(LANES),
            is_whole,
        })
    }

    /// Values of the edge functions at the pixels of a group, relative to the first pixel.
    #[inline(always)]
    pub(super) fn slopes<S: Simd>(&self) -> [S::Ints; 3] {
        [slope::<S>(self.steps[0][0]), slope::<S>(self.steps[1][0]), slope::<S>(self.steps[2][0])]
    }

    /// Change of each edge function from a group to the next one.
    #[inline(always)]
    pub(super) fn strides<S: Simd>(&self) -> [S::Ints; 3] {
        [self.stride::<S>(0), self.stride::<S>(1), self.stride::<S>(2)]
    }

    #[inline(always)]
    fn stride<S: Simd>(&self, edge: usize) -> S::Ints {
        S::Ints::splat(self.steps[edge][0].wrapping_mul(LANES as i32))
    }

    /// Values of the edge functions at the centres of the pixels of the first group in the first row
    /// that the triangle may cover.
    #[inline(always)]
    pub(super) fn first_row<S: Simd>(&self, slopes: &[S::Ints; 3]) -> [S::Ints; 3] {
        self.at::<S>(&self.edges, slopes, self.groups.start, self.rows.start)
    }

    /// Change of each edge function from a row to the next one.
    #[inline(always)]
    pub(super) fn row_strides<S: Simd>(&self) -> [S::Ints; 3] {
        let [a, b, c] = self.steps;
        [S::Ints::splat(a[1]), S::Ints::splat(b[1]), S::Ints::splat(c[1])]
    }

    /// Values of the edge functions at the pixels of a group, from their values at the first pixel
    /// of the tile.
    #[inline(always)]
    fn at<S: Simd>(&self, first: &[i32; 3], slopes: &[S::Ints; 3], group: usize, row: usize) -> [S::Ints; 3] {
        [
            self.edge::<S>(first[0], slopes, 0, group, row),
            self.edge::<S>(first[1], slopes, 1, group, row),
            self.edge::<S>(first[2], slopes, 2, group, row),
        ]
    }

    #[inline(always)]
    fn edge<S: Simd>(
        &self,
        first: i32,
        slopes: &[S::Ints; 3],
        edge: usize,
        group: usize,
        row: usize,
    ) -> S::Ints {
        let [a, b] = self.steps[edge];
        let (x, y) = ((group * LANES) as i32, row as i32);
        S::Ints::splat(first.wrapping_add(a.wrapping_mul(x)).wrapping_add(b.wrapping_mul(y))) + slopes[edge]
    }

    /// Values of the edge functions at the samples of the first pixel of the tile.
    pub(super) fn sample_edges(&self, triangle: &Triangle) -> [[i32; 3]; SAMPLES] {
        OFFSETS.map(|offset| {
            [0, 1, 2].map(|i: usize| {
                let exact = self.exact[i] + change(&triangle.edges[i], offset);
                clamped(exact.div_euclid(i64::from(SUBPIXELS)))
            })
        })
    }

    /// A mask of the pixels whose sample is inside of the triangle. `first` is the entry of
    /// [`Self::sample_edges`] for the sample.
    #[inline(always)]
    pub(super) fn inside_at<S: Simd>(
        &self,
        first: &[i32; 3],
        slopes: &[S::Ints; 3],
        group: usize,
        row: usize,
    ) -> S::Ints {
        inside::<S>(&self.at::<S>(first, slopes, group, row))
    }

    /// The margins as vectors.
    #[inline(always)]
    pub(super) fn margins<S: Simd>(&self) -> [S::Ints; 3] {
        let [a, b, c] = self.margins;
        [S::Ints::splat(a), S::Ints::splat(b), S::Ints::splat(c)]
    }

    /// 1/w of the triangle at the centres of the pixels of a group.
    #[inline(always)]
    pub(super) fn near<S: Simd>(&self, group: usize, row: usize) -> S::Floats {
        let [base, a, b] = self.nearness;
        S::Floats::splat(base + b * row as f32) + S::Floats::splat(a) * columns::<S>(group)
    }

    /// Change of 1/w from the centre of a pixel to a sample.
    pub(super) fn near_change(&self, sample: usize) -> f32 {
        near_change(self.nearness[1], self.nearness[2], sample)
    }
}

/// Change of 1/w from the centre of a pixel to a sample. `a` and `b` are the change per column and
/// per row.
pub(super) fn near_change(a: f32, b: f32, sample: usize) -> f32 {
    let [x, y] = OFFSETS[sample];
    (a * x as f32 + b * y as f32) * (1.0 / SUBPIXELS as f32)
}

/// Clamps an edge function to 32 bits. Larger values cannot change their sign inside a tile.
fn clamped(value: i64) -> i32 {
    value.clamp(-(1 << 29), 1 << 29) as i32
}

/// Returns a mask of the pixels with at least one sample that may be inside of a triangle.
#[inline(always)]
pub(super) fn touched<S: Simd>(edges: &[S::Ints; 3], margins: &[S::Ints; 3]) -> S::Ints {
    ((edges[0] + margins[0]) | (edges[1] + margins[1]) | (edges[2] + margins[2])).not_negative()
}

/// Returns a mask of the pixels whose samples are all inside of a triangle.
#[inline(always)]
pub(super) fn covered<S: Simd>(edges: &[S::Ints; 3], margins: &[S::Ints; 3]) -> S::Ints {
    ((edges[0] - margins[0]) | (edges[1] - margins[1]) | (edges[2] - margins[2])).not_negative()
}

/// Returns a mask of the pixels inside of a triangle, from the values of its edge functions.
#[inline(always)]
pub(super) fn inside<S: Simd>(edges: &[S::Ints; 3]) -> S::Ints {
    // A pixel is outside of the triangle if the value of any edge is negative. The bitwise OR
    // combines the sign bits of the three edges.
    (edges[0] | edges[1] | edges[2]).not_negative()
}

/// The values of the edge functions at the next group or row. `strides` are their changes.
#[inline(always)]
pub(super) fn next<S: Simd>(edges: [S::Ints; 3], strides: &[S::Ints; 3]) -> [S::Ints; 3] {
    [edges[0] + strides[0], edges[1] + strides[1], edges[2] + strides[2]]
}

/// The first eight multiples of a number, from 0 on.
#[inline(always)]
fn slope<S: Simd>(a: i32) -> S::Ints {
    // Each lane adds the multiples by the powers of two that its number consists of.
    let (one, two, four) = (S::Ints::splat(a), S::Ints::splat(2 * a), S::Ints::splat(4 * a));
    (one & S::Ints::from_array([0, -1, 0, -1, 0, -1, 0, -1]))
        + (two & S::Ints::from_array([0, 0, -1, -1, 0, 0, -1, -1]))
        + (four & S::Ints::from_array([0, 0, 0, 0, -1, -1, -1, -1]))
}
