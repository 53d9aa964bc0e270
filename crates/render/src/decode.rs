//! Decodes picture files. Size and memory are limited, because worlds are untrusted input.

use crate::image::Image;
use chicane_world::picture::MAX_SIDE;
use image::{ImageReader, Limits};
use std::io::Cursor;

/// Largest allocation for decoding one picture, bytes.
const MAX_MEMORY: u64 = 512 << 20;

/// Decodes a picture file. Returns `None` if the file is damaged or too large, or if its format is
/// unknown.
pub(crate) fn picture(bytes: &[u8]) -> Option<Image> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_MEMORY);
    limits.max_image_width = Some(MAX_SIDE as u32);
    limits.max_image_height = Some(MAX_SIDE as u32);
    reader.limits(limits);
    let decoded = reader.decode().ok()?.into_rgba8();
    let (width, height) = (decoded.width() as usize, decoded.height() as usize);
    let (pixels, _) = decoded.as_raw().as_chunks::<4>();
    Some(Image { width, height, pixels: pixels.to_vec() })
}
