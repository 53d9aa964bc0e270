//! The rasteriser: draws triangles into pixels.
//!
//! Theory of operation. `setup` clips and projects the triangles, snaps their corners to 1/256 of a
//! pixel, and sorts them into tiles of 32×32 pixels. Several threads do this in parallel. Each
//! thread has its own [`Setup`]. `tile` then draws each tile independently in three passes:
//!
//! 1. It finds the nearest opaque triangle at each pixel, by comparing 1/w.
//! 2. It shades every pixel once (`shade`).
//! 3. It blends the transparent triangles in the order in which they were submitted.
//!
//! Edge tests are exact, because they use integers. Neighbouring triangles therefore neither share
//! a pixel nor leave a gap. All other arithmetic is in floating point without fused or approximate
//! operations. The result therefore has the same bits on every machine and with any number of
//! threads.

mod lanes;
mod setup;
mod shade;
mod tile;

pub(crate) use setup::{Corner, NEAR, Projection, Setup, Surface};

use crate::texture::Texture;
use rayon::prelude::*;
use tile::Tile;
use wide::f32x8;

/// Pixels along each side of a tile.
pub(crate) const TILE: usize = 32;

/// The buffers that a frame is drawn into.
pub(crate) struct RenderTarget<'a> {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Red, green, blue and an unused byte per pixel: `width * height` pixels.
    pub(crate) colour: &'a mut [[u8; 4]],
    /// Distance along the view axis per pixel; `None` if the caller does not want distances.
    pub(crate) depth: Option<&'a mut [f32]>,
    /// Label of the nearest surface per pixel; `None` if the caller does not want labels.
    pub(crate) labels: Option<&'a mut [u16]>,
}

/// A function that gives the linear colour of the background at eight pixels. Its arguments are the
/// columns and the row of the pixels.
pub(crate) type Background<'a> = dyn Fn(f32x8, f32) -> [f32x8; 3] + Sync + 'a;

/// Draws the triangles of all setups. Transparent triangles are blended in the order of `parts`.
pub(crate) fn draw(
    parts: &[Setup],
    textures: &[Texture],
    background: &Background<'_>,
    target: RenderTarget<'_>,
) {
    let RenderTarget { width, height, colour, depth, labels } = target;
    if width == 0 || height == 0 {
        return;
    }
    let band = TILE * width;
    let none = || std::iter::repeat_with(|| None);
    let bands = colour.chunks_mut(band);
    let depths: Box<dyn Iterator<Item = Option<&mut [f32]>> + Send> = match depth {
        Some(depth) => Box::new(depth.chunks_mut(band).map(Some)),
        None => Box::new(none()),
    };
    let labels: Box<dyn Iterator<Item = Option<&mut [u16]>> + Send> = match labels {
        Some(labels) => Box::new(labels.chunks_mut(band).map(Some)),
        None => Box::new(std::iter::repeat_with(|| None)),
    };
    let rows: Vec<_> = bands.zip(depths).zip(labels).enumerate().collect();
    rows.into_par_iter().with_max_len(1).for_each(|(row, ((colour, mut depth), mut labels))| {
        let mut tile = Tile::new();
        for column in 0..width.div_ceil(TILE) {
            let (x0, y0) = (column * TILE, row * TILE);
            let (w, h) = (TILE.min(width - x0), TILE.min(height - y0));
            tile.draw(parts, textures, (x0, y0), (w, h), background);
            for y in 0..h {
                let to = y * width + x0..y * width + x0 + w;
                colour[to.clone()].copy_from_slice(tile.colours(y, w));
                if let Some(depth) = &mut depth {
                    tile.depths(y, &mut depth[to.clone()]);
                }
                if let Some(labels) = &mut labels {
                    tile.labels(parts, y, &mut labels[to]);
                }
            }
        }
    });
}
