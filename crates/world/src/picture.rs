//! Checks the size of a picture file before the renderer decodes it.
//!
//! This module only reads the header of a picture. The renderer detects errors in the pixel data.

use crate::error::Error;
use imagesize::ImageError;

/// Maximum size of a picture file, in bytes.
pub const MAX_BYTES: usize = 64 << 20;
/// Maximum number of pixels of a picture. The number of pixels is width times height.
pub const MAX_PIXELS: u64 = 8192 * 8192;
/// Maximum width and maximum height, in pixels.
pub const MAX_SIDE: u64 = 16384;

/// Checks a picture file and returns its width and height in pixels.
pub fn check(file: &str, bytes: &[u8]) -> Result<(u32, u32), Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::file(file, format!("the picture is larger than {} MiB", MAX_BYTES >> 20)));
    }
    let size = imagesize::blob_size(bytes).map_err(|e| {
        let message = match e {
            ImageError::NotSupported => "unknown picture format; use PNG, JPEG, GIF, BMP, TGA or WebP",
            ImageError::CorruptedImage | ImageError::IoError(_) => {
                "the picture header is incomplete or damaged; use PNG, JPEG, GIF, BMP, TGA or WebP"
            }
        };
        Error::file(file, message)
    })?;
    let (width, height) = (size.width as u64, size.height as u64);
    if width == 0 || height == 0 {
        return Err(Error::file(file, format!("the picture is empty: {width}×{height} pixels")));
    }
    if width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS {
        let message = format!(
            "the picture of {width}×{height} pixels is too large; at most {MAX_SIDE} pixels a side and \
             {MAX_PIXELS} in total are allowed"
        );
        return Err(Error::file(file, message));
    }
    Ok((width as u32, height as u32))
}
