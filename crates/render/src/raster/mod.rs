//! Triangles to pixels.
//!
//! Theory of operation. Triangles are clipped, projected and snapped to 1/256 of a pixel
//! (`setup`), then sorted into tiles of 32×32 pixels, by several threads in parts of their own. Each tile is drawn by itself (`tile`): first which
//! triangle is nearest at each pixel, by 1/w; then every pixel is shaded once (`shade`); then what can be
//! seen through is mixed in, in the order it was submitted. Edges are exact in integers, so that
//! neighbouring triangles share no pixel and leave none out. All else is single precision without fused
//! or approximate operations: the same bits on every machine, whatever the number of threads.

mod lanes;
mod setup;
mod shade;
mod tile;

pub(crate) use setup::{Corner, Eye, NEAR, Setup, Surface};

use crate::texture::Texture;
use rayon::prelude::*;
use tile::Tile;
use wide::f32x8;

/// Pixels along each side of a tile.
pub(crate) const TILE: usize = 32;

/// What a frame is drawn into.
pub(crate) struct Target<'a> {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Red, green, blue, unused: `width * height` of them.
    pub(crate) colour: &'a mut [[u8; 4]],
    /// Distance along the view axis, where asked for.
    pub(crate) depth: Option<&'a mut [f32]>,
    /// What is seen, where asked for.
    pub(crate) labels: Option<&'a mut [u16]>,
}

/// The linear colour of eight pixels where nothing is, by columns and row.
pub(crate) type Background<'a> = dyn Fn(f32x8, f32) -> [f32x8; 3] + Sync + 'a;

/// Draws what was set up, in parts that follow each other.
pub(crate) fn draw(parts: &[Setup], textures: &[Texture], background: &Background<'_>, target: Target<'_>) {
    let Target { width, height, colour, depth, labels } = target;
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
