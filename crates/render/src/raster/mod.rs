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
mod compiled;
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
use compiled::Compiled;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use tile::Tile;

/// Pixels along each side of a tile.
pub(crate) const TILE: usize = 32;
/// Width of a [`Block`], pixels. With whole rows of tiles, a thread would wait longer at the end of
/// a frame until another thread has finished its last row.
const BLOCK: usize = 4 * TILE;

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

/// Buffers of tiles, which are reused from block to block and from picture to picture. Making a
/// buffer for each block would take two per cent of the time of a picture.
#[derive(Default)]
pub(crate) struct TileBuffers(Mutex<Vec<Box<Tile>>>);

impl TileBuffers {
    /// Calls a function with a buffer. There are at most as many buffers as threads.
    fn with(&self, call: impl FnOnce(&mut Tile)) {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = free().pop();
        let mut tile = unused.unwrap_or_else(|| Box::new(Tile::new()));
        call(&mut tile);
        free().push(tile);
    }
}

/// Draws the triangles of all setups. Transparent triangles are blended in the order of `parts`.
pub(crate) fn draw(
    parts: &[Setup],
    textures: &[Texture],
    background: &impl Background,
    instructions: Checked,
    buffers: &TileBuffers,
    target: RenderTarget<'_>,
) {
    let RenderTarget { width, height, colour, depth, labels, needed } = target;
    if width == 0 || height == 0 {
        return;
    }
    let depths = depth.map(|depth| split(depth, width)).into_iter().flatten();
    let labels = labels.map(|labels| split(labels, width)).into_iter().flatten();
    let mut blocks: Vec<_> = split(colour, width)
        .enumerate()
        .map(|(i, colour)| {
            let across = width.div_ceil(BLOCK);
            let first = (i % across * BLOCK, i / across * TILE);
            Block { first, colour, depth: None, labels: None, needed }
        })
        .collect();
    blocks.iter_mut().zip(depths).for_each(|(block, depth)| block.depth = Some(depth));
    blocks.iter_mut().zip(labels).for_each(|(block, labels)| block.labels = Some(labels));
    blocks.into_par_iter().with_max_len(1).for_each(|block| {
        buffers.with(|tile| match instructions.get() {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 | Instructions::Avx512 => {
                #[allow(unsafe_code)]
                // SAFETY: the processor has the instructions, because they are checked.
                unsafe {
                    draw_with_avx2(block, tile, parts, textures, background);
                }
            }
            _ => block.draw::<Portable>(tile, parts, textures, background),
        });
    });
}

/// Splits a buffer of the picture into blocks, from left to right and from top to bottom. Each
/// block consists of its parts of the rows.
fn split<T>(pixels: &mut [T], width: usize) -> impl Iterator<Item = Vec<&mut [T]>> {
    pixels.chunks_mut(TILE * width).flat_map(move |rows| {
        let mut blocks: Vec<_> = (0..width.div_ceil(BLOCK)).map(|_| Vec::with_capacity(TILE)).collect();
        for row in rows.chunks_mut(width) {
            blocks.iter_mut().zip(row.chunks_mut(BLOCK)).for_each(|(block, part)| block.push(part));
        }
        blocks
    })
}

/// Neighbouring tiles of a row of tiles, which one thread draws.
struct Block<'a> {
    /// Column and row of the first pixel in the picture.
    first: (usize, usize),
    /// The block's part of each row of the picture.
    colour: Vec<&'a mut [[u8; 4]]>,
    depth: Option<Vec<&'a mut [f32]>>,
    labels: Option<Vec<&'a mut [u16]>>,
    needed: Option<&'a NeededPixels>,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn draw_with_avx2(
    block: Block<'_>,
    tile: &mut Tile,
    parts: &[Setup],
    textures: &[Texture],
    background: &impl Background,
) {
    block.draw::<crate::simd::Avx2>(tile, parts, textures, background);
}

impl Block<'_> {
    #[inline(always)]
    fn draw<S: Compiled>(
        mut self,
        tile: &mut Tile,
        parts: &[Setup],
        textures: &[Texture],
        background: &impl Background,
    ) {
        let (width, height) = (self.colour[0].len(), self.colour.len());
        for x in (0..width).step_by(TILE) {
            let columns = x..width.min(x + TILE);
            let first = (self.first.0 + x, self.first.1);
            let needed = self.needed.map_or([u8::MAX; TILE], |needed| needed.tile(first));
            if needed == [0; TILE] {
                continue;
            }
            tile.draw::<S>(parts, textures, first, (columns.len(), height), &needed, background);
            if self.depth.is_some() || self.labels.is_some() {
                tile.find_centres::<S>(parts, first);
            }
            for (y, row) in self.colour.iter_mut().enumerate() {
                tile.copy_colours(y, &mut row[columns.clone()]);
            }
            for (y, row) in self.depth.iter_mut().flatten().enumerate() {
                tile.depths(y, &mut row[columns.clone()]);
            }
            for (y, row) in self.labels.iter_mut().flatten().enumerate() {
                tile.labels(parts, y, &mut row[columns.clone()]);
            }
        }
    }
}
