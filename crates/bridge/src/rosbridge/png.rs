//! Packs a text into a PNG picture, as the rosbridge protocol does: the bytes of the text are the
//! colours of the pixels. Line feeds fill the rest of the last row.

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

/// Bytes of a pixel.
const PIXEL: usize = 3;

/// The PNG file of a text. `None` if the picture would be too large.
pub(super) fn pack(text: &[u8]) -> Option<Vec<u8>> {
    let pixels = text.len().div_ceil(PIXEL).max(1);
    let width = pixels.isqrt();
    let height = pixels.div_ceil(width);
    let mut bytes = text.to_vec();
    bytes.resize(width * height * PIXEL, b'\n');
    let mut file = Vec::new();
    // Filters would make the file larger, because neighbouring bytes of a text are not similar.
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::NoFilter);
    let size = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.write_image(&bytes, size.0, size.1, ExtendedColorType::Rgb8).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colours_of_the_pixels_are_the_text() {
        for length in [1, 2, 3, 4, 100, 1000, 54_321] {
            let text: Vec<u8> = (0..length).map(|i| b'a' + (i % 26) as u8).collect();
            let file = pack(&text).expect("a picture");
            let picture = image::load_from_memory(&file).expect("a PNG").to_rgb8();
            let (width, height) = picture.dimensions();
            assert!(width.abs_diff(height) <= 2, "{width}x{height}");
            let bytes = picture.into_raw();
            assert_eq!(&bytes[..length], text);
            assert!(bytes[length..].iter().all(|b| *b == b'\n'), "{length}");
        }
    }
}
