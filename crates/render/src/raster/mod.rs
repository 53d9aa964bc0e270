//! The rasteriser: draws triangles into pixels.
//!
//! Theory of operation. `setup` clips and projects the triangles, snaps their corners to 1/256 of a
//! pixel, and sorts them into tiles of 32×32 pixels. The triangles of a picture are divided between
//! several [`Setup`]s, which work in parallel. `tile` then draws each tile independently in three
//! passes:
//!
//! 1. It finds the nearest opaque triangle at four samples of each pixel, by comparing 1/w, where w
//!    is the distance along the view axis.
//! 2. It shades every triangle once per pixel (`shade`). The colour of a pixel at an edge is the
//!    mean colour of the triangles at the samples of the pixel. Otherwise, lines narrower than a
//!    pixel would appear and disappear while the camera moves.
//! 3. It blends the transparent triangles in the order in which they were submitted.
//!
//! If no edge crosses a pixel, all samples of the pixel belong to the same triangle. A group of
//! eight pixels without an edge therefore stores one triangle per pixel, and each pixel is tested
//! and shaded once (`tile`).
//!
//! Edge tests are exact, because they use integers. Neighbouring triangles therefore neither share
//! a sample nor leave a gap. All other arithmetic is in floating point without fused or approximate
//! operations. The result therefore has the same bits on every machine and with any number of
//! threads.

mod clip;
mod coverage;
mod kept;
mod lanes;
mod needed;
mod samples;
mod setup;
mod shade;
mod tile;

pub(crate) use needed::NeededPixels;
pub(crate) use setup::{Corner, InnerEdges, NEAR, Projection, Setup, Surface};

#[cfg(target_arch = "x86_64")]
use crate::Instructions;
use crate::instructions::Checked;
use crate::simd::{Portable, Simd};
use crate::texture::Texture;
use rayon::prelude::*;
use tile::Tile;

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
    /// The pixels whose colours are used; `None` if all pixels are used. Other pixels may keep
    /// their old colour.
    pub(crate) needed: Option<&'a NeededPixels>,
}

/// The background of a picture.
pub(crate) trait Background: Sync {
    /// Linear colour of the background at eight pixels of a row.
    fn colours<S: Simd>(&self, columns: S::Floats, row: f32) -> [S::Floats; 3];
}

/// Draws the triangles of all setups. Transparent triangles are blended in the order of `parts`.
pub(crate) fn draw(
    parts: &[Setup],
    textures: &[Texture],
    background: &impl Background,
    instructions: Checked,
    target: RenderTarget<'_>,
) {
    let RenderTarget { width, height, colour, depth, labels, needed } = target;
    if width == 0 || height == 0 {
        return;
    }
    let length = TILE * width;
    let depths: Box<dyn Iterator<Item = Option<&mut [f32]>> + Send> = match depth {
        Some(depth) => Box::new(depth.chunks_mut(length).map(Some)),
        None => Box::new(std::iter::repeat_with(|| None)),
    };
    let labels: Box<dyn Iterator<Item = Option<&mut [u16]>> + Send> = match labels {
        Some(labels) => Box::new(labels.chunks_mut(length).map(Some)),
        None => Box::new(std::iter::repeat_with(|| None)),
    };
    let bands: Vec<_> = colour
        .chunks_mut(length)
        .zip(depths)
        .zip(labels)
        .enumerate()
        .map(|(row, ((colour, depth), labels))| Band { width, row, colour, depth, labels, needed })
        .collect();
    bands.into_par_iter().with_max_len(1).for_each(|band| match instructions.get() {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 | Instructions::Avx512 => {
            #[allow(unsafe_code)]
            // SAFETY: the processor has the instructions, because they are checked.
            unsafe {
                draw_with_avx2(band, parts, textures, background);
            }
        }
        _ => band.draw::<Portable>(parts, textures, background),
    });
}

/// A row of tiles.
struct Band<'a> {
    /// Pixels per row of the picture.
    width: usize,
    /// Index of the row of tiles.
    row: usize,
    colour: &'a mut [[u8; 4]],
    depth: Option<&'a mut [f32]>,
    labels: Option<&'a mut [u16]>,
    needed: Option<&'a NeededPixels>,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn draw_with_avx2(band: Band<'_>, parts: &[Setup], textures: &[Texture], background: &impl Background) {
    band.draw::<crate::simd::Avx2>(parts, textures, background);
}

impl Band<'_> {
    #[inline(always)]
    fn draw<S: Simd>(mut self, parts: &[Setup], textures: &[Texture], background: &impl Background) {
        let (width, height) = (self.width, self.colour.len() / self.width);
        let mut tile = Tile::new();
        for x0 in (0..width).step_by(TILE) {
            let w = TILE.min(width - x0);
            let needed = self.needed.map_or([u8::MAX; TILE], |needed| needed.tile(x0, self.row * TILE));
            if needed == [0; TILE] {
                continue;
            }
            let first = (x0, self.row * TILE);
            tile.draw::<S>(parts, textures, first, (w, height), &needed, background);
            if self.depth.is_some() || self.labels.is_some() {
                tile.find_centres::<S>(parts, first);
            }
            for y in 0..height {
                let to = y * width + x0..y * width + x0 + w;
                tile.copy_colours(y, &mut self.colour[to.clone()]);
                if let Some(depth) = &mut self.depth {
                    tile.depths(y, &mut depth[to.clone()]);
                }
                if let Some(labels) = &mut self.labels {
                    tile.labels(parts, y, &mut labels[to]);
                }
            }
        }
    }
}
