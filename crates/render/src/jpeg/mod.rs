//! Writes pictures as JPEG files: baseline, with half the resolution for colours (4:2:0).
//!
//! Theory of operation. A picture consists of bands of [`ROWS_PER_BAND`] rows. A restart marker
//! ends each band except the last one, so that bands are encoded independently of each other and in
//! parallel. A band consists of units of 16×16 pixels. `transform` turns a unit into quantised
//! coefficients, and `avx2` does the same with wider registers. `entropy` writes the coefficients
//! as Huffman codes, with the fixed codes of `tables`.
//!
//! All arithmetic is in integers, and no result depends on rounding by the processor. The bytes are
//! therefore the same on every machine, with any number of threads.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod entropy;
mod tables;
#[cfg(test)]
mod tests;
mod transform;

use crate::instructions::Checked;
use crate::{Instructions, Rgb};
use entropy::BitWriter;
use rayon::prelude::*;
use std::fmt;
use tables::{CHROMINANCE_CODES, LUMINANCE_CODES, Tables};
use transform::{Coefficients, Patch, UNIT};

/// Rows of pixels in a band.
pub(crate) const ROWS_PER_BAND: usize = 64;
/// Maximum length of a side of a JPEG picture, pixels.
pub(crate) const MAX_SIDE: usize = 65_535;
/// The marker at the end of a file.
const END: u8 = 0xd9;

/// An encoder for pictures of one quality.
#[derive(Debug, Clone)]
pub struct Jpeg {
    tables: Tables,
    instructions: Checked,
}

/// The reason why a picture cannot be encoded as JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JpegError {
    /// A side is 0 or longer than 65,535 pixels.
    Size {
        /// Pixels per row.
        width: usize,
        /// Number of rows.
        height: usize,
    },
    /// The picture has too few or too many bytes for its size.
    Bytes {
        /// Number of bytes of the picture.
        found: usize,
        /// Number of bytes that a picture of this size has: three for each pixel.
        expected: usize,
    },
}

impl fmt::Display for JpegError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JpegError::Size { width, height } => {
                write!(f, "a JPEG picture has 1 to {MAX_SIDE} pixels per side, not {width} × {height}")
            }
            JpegError::Bytes { found, expected } => {
                write!(f, "the picture has {found} bytes instead of {expected} (three per pixel)")
            }
        }
    }
}

impl std::error::Error for JpegError {}

impl Jpeg {
    /// An encoder for this quality, 1 to 100. Values outside of this range are clamped.
    pub fn new(quality: u8) -> Jpeg {
        Jpeg { tables: Tables::new(quality), instructions: Instructions::best().checked() }
    }

    /// The same encoder with other instructions. The bytes are the same. If the processor does not
    /// have the instructions, the encoder uses the widest set that the processor has.
    pub fn with_instructions(self, instructions: Instructions) -> Jpeg {
        Jpeg { instructions: instructions.checked(), ..self }
    }

    /// Encodes a picture. All threads of the current pool share the work.
    pub fn encode(&self, picture: &Rgb) -> Result<Vec<u8>, JpegError> {
        let Rgb { width, height, ref bytes } = *picture;
        let mut file = self.header(width, height, None)?;
        let expected = width * height * 3;
        if bytes.len() != expected {
            return Err(JpegError::Bytes { found: bytes.len(), expected });
        }
        let bands: Vec<Vec<u8>> = bytes
            .par_chunks(width * 3 * ROWS_PER_BAND)
            .enumerate()
            .map(|(index, band)| self.band(band, width, index, (index + 1) * ROWS_PER_BAND >= height))
            .collect();
        file.reserve_exact(bands.iter().map(Vec::len).sum());
        bands.iter().for_each(|band| file.extend_from_slice(band));
        Ok(file)
    }

    /// The bytes before the first band. `dpi` is the resolution, pixels per inch.
    pub(crate) fn header(&self, width: usize, height: usize, dpi: Option<u16>) -> Result<Vec<u8>, JpegError> {
        match (u16::try_from(width), u16::try_from(height)) {
            (Ok(w @ 1..), Ok(h @ 1..)) => Ok(self.tables.header(w, h, dpi)),
            _ => Err(JpegError::Size { width, height }),
        }
    }

    /// Encodes the pixels of a band: at most [`ROWS_PER_BAND`] rows of `width` pixels. `index`
    /// counts the bands from the top, and `is_last` tells whether the file ends with this band.
    pub(crate) fn band(&self, pixels: &[u8], width: usize, index: usize, is_last: bool) -> Vec<u8> {
        let marker = if is_last { END } else { 0xd0 + (index % 8) as u8 };
        match self.instructions.get() {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 | Instructions::Avx512 => {
                #[allow(unsafe_code)]
                // SAFETY: the processor has the instructions, because they are checked.
                unsafe {
                    band_with_avx2(&self.tables, pixels, width, marker)
                }
            }
            _ => band(pixels, width, marker, |patch, to| transform::transform(patch, &self.tables, to)),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn band_with_avx2(tables: &Tables, pixels: &[u8], width: usize, marker: u8) -> Vec<u8> {
    band(pixels, width, marker, |patch, to| avx2::transform(patch, tables, to))
}

/// Encodes the pixels of a band. `transform` computes the coefficients of a unit.
#[inline(always)]
fn band(pixels: &[u8], width: usize, marker: u8, transform: impl Fn(&Patch, &mut Coefficients)) -> Vec<u8> {
    let mut writer = BitWriter::new(pixels.len() / 8);
    let mut patch = Patch([[0; 64]; UNIT]);
    let mut unit = Coefficients::new();
    let (mut luma, mut blue, mut red) = (0, 0, 0);
    for rows in pixels.chunks(width * 3 * UNIT) {
        for x in (0..width).step_by(UNIT) {
            patch.fill(rows, width, x);
            transform(&patch, &mut unit);
            let [upper, lower, chroma] = &unit.pairs;
            for (pair, nonzero) in [(upper, unit.nonzero[0]), (lower, unit.nonzero[1])] {
                writer.block(pair, 0, nonzero[0], &mut luma, &LUMINANCE_CODES);
                writer.block(pair, 8, nonzero[1], &mut luma, &LUMINANCE_CODES);
            }
            writer.block(chroma, 0, unit.nonzero[2][0], &mut blue, &CHROMINANCE_CODES);
            writer.block(chroma, 8, unit.nonzero[2][1], &mut red, &CHROMINANCE_CODES);
        }
    }
    writer.finish(marker)
}

impl Patch {
    /// Copies the unit that begins at column `x`. `rows` are up to 16 rows of `width` pixels.
    /// Outside of the picture, the last column and the last row are repeated.
    #[inline(always)]
    fn fill(&mut self, rows: &[u8], width: usize, x: usize) {
        let length = 3 * (width - x).min(UNIT);
        for (y, row) in rows.chunks_exact(width * 3).enumerate().take(UNIT) {
            let to = &mut self.0[y];
            if length == 3 * UNIT {
                to[..3 * UNIT].copy_from_slice(&row[3 * x..][..3 * UNIT]);
                continue;
            }
            to[..length].copy_from_slice(&row[3 * x..][..length]);
            for i in length..3 * UNIT {
                to[i] = to[i - 3];
            }
        }
        let height = rows.len() / (width * 3);
        for y in height.min(UNIT)..UNIT {
            self.0[y] = self.0[height - 1];
        }
    }
}
