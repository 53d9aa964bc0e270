//! Pictures: their size is checked before anyone decodes them.
//!
//! Only the header is looked at. Whether the rest decodes is the renderer's business.

use crate::error::Error;
use imagesize::ImageError;

/// Bytes of a picture file.
pub const MAX_BYTES: usize = 64 << 20;
/// Pixels of a picture.
pub const MAX_PIXELS: u64 = 8192 * 8192;
/// Pixels of one side.
pub const MAX_SIDE: u64 = 16384;

/// Checks a picture file and answers its width and height in pixels.
pub fn check(file: &str, bytes: &[u8]) -> Result<(u32, u32), Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::file(file, format!("picture is larger than {} MiB", MAX_BYTES >> 20)));
    }
    let size = imagesize::blob_size(bytes).map_err(|e| {
        let message = match e {
            ImageError::NotSupported => "not a picture that is known: PNG, JPEG, GIF, BMP, TGA and WebP are",
            ImageError::CorruptedImage | ImageError::IoError(_) => {
                "not a whole picture: it ends or breaks before its size (PNG, JPEG, GIF, BMP, TGA and WebP are read)"
            }
        };
        Error::file(file, message)
    })?;
    let (width, height) = (size.width as u64, size.height as u64);
    if width == 0 || height == 0 {
        return Err(Error::file(file, format!("picture is empty: {width}×{height} pixels")));
    }
    if width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS {
        let message = format!(
            "picture of {width}×{height} pixels is too large: at most {MAX_SIDE} a side and {MAX_PIXELS} in all"
        );
        return Err(Error::file(file, message));
    }
    Ok((width as u32, height as u32))
}
