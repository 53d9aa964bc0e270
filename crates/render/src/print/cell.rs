//! Draws one cell. A cell is a range of columns of a strip.

use super::Print;
use super::floor::Patch;
use crate::Instructions;
use crate::raster::{self, Background, Corner, Projection, RenderTarget, Setup, TileBuffers};
use crate::simd::{Floats, Simd};
use glam::{Vec2, Vec3};
use std::ops::Range;

/// Maximum width of a cell, samples.
const ACROSS: usize = 1024;
/// Minimum height of a corner, m. Lower corners are raised to this height, so that their distance
/// from the camera is limited.
const LOWEST_M: f32 = -0.5;

/// The columns of each cell of a strip.
pub(super) fn columns(print: &Print) -> Vec<Range<usize>> {
    let step = ACROSS / print.samples;
    (0..print.width).step_by(step).map(|x| x..(x + step).min(print.width)).collect()
}

/// Reusable buffers for drawing cells.
#[derive(Default)]
pub(super) struct CellBuffers {
    setup: Setup,
    samples: Vec<[u8; 4]>,
}

impl CellBuffers {
    /// Draws a cell and returns three bytes per pixel, row by row.
    pub(super) fn draw(
        &mut self,
        print: &Print,
        patches: &[&Patch],
        columns: Range<usize>,
        rows: Range<usize>,
    ) -> Vec<u8> {
        let n = print.samples;
        let (width, height) = (columns.len() * n, rows.len() * n);
        self.fill(
            print,
            patches,
            &columns,
            rows.start,
            Projection { focal: 1.0, centre: Vec2::ZERO, width, height },
        );
        self.samples.clear();
        self.samples.resize(width * height, [0; 4]);
        let colour = &mut self.samples;
        let target = RenderTarget { width, height, colour, depth: None, labels: None, needed: None };
        let (parts, textures) = (std::slice::from_ref(&self.setup), &print.floor.textures);
        raster::draw(
            parts,
            textures,
            &Paper,
            Instructions::best().checked(),
            &TileBuffers::default(),
            target,
        );
        let mut bytes = Vec::with_capacity(columns.len() * rows.len() * 3);
        if n == 1 {
            self.samples.iter().for_each(|p| bytes.extend_from_slice(&p[..3]));
            return bytes;
        }
        for band in self.samples.chunks_exact(width * n) {
            for column in 0..columns.len() {
                let square = band.chunks_exact(width).flat_map(|row| &row[column * n..(column + 1) * n]);
                bytes.extend_from_slice(&mean(square));
            }
        }
        bytes
    }

    /// Hands all triangles that may be in the cell to the rasteriser's setup.
    fn fill(
        &mut self,
        print: &Print,
        patches: &[&Patch],
        columns: &Range<usize>,
        first_row: usize,
        projection: Projection,
    ) {
        self.setup.clear(&projection, 1);
        let by_metre = print.pixels_per_metre();
        let left = print.floor.min.x + (print.left + columns.start) as f64 / by_metre;
        let right = print.floor.min.x + (print.left + columns.end) as f64 / by_metre;
        for patch in patches.iter().filter(|p| p.max.x >= left && p.min.x <= right) {
            let surface = self.setup.surface(patch.surface);
            let n = print.samples as f64;
            let corners = patch.corners.iter().map(|corner| {
                let [x, y] = print.pixel_of(corner.at.x, corner.at.y);
                let (x, y) = ((x - columns.start as f64) * n, (y - first_row as f64) * n);
                // A higher surface must be nearer to the camera, so that it covers lower surfaces.
                // x and y are multiplied by z, because the projection divides them by z. The size
                // in the print therefore does not depend on the height.
                let z = 1.0 - corner.height.max(LOWEST_M);
                let at = Vec3::new(x as f32 * z, y as f32 * z, z);
                Corner { at, uv: corner.uv, light: patch.colour }
            });
            self.setup.mesh(&projection, surface, corners, (&patch.triangles, &[]), false);
        }
    }
}

/// The background of a print: white paper.
struct Paper;

impl Background for Paper {
    #[inline(always)]
    fn colours<S: Simd>(&self, _: S::Floats, _: f32) -> [S::Floats; 3] {
        [S::Floats::splat(1.0); 3]
    }
}

/// The mean of some colours, computed in linear light.
fn mean<'a>(samples: impl Iterator<Item = &'a [u8; 4]>) -> [u8; 3] {
    let (mut sum, mut n) = ([0u32; 3], 0u32);
    for sample in samples {
        n += 1;
        for (s, v) in sum.iter_mut().zip(sample) {
            *s += u32::from(*v) * u32::from(*v);
        }
    }
    sum.map(|s| ((s as f32 / n.max(1) as f32).sqrt() + 0.5) as u8)
}
