//! Pictures in memory.

/// A picture in RGBA with 8 bits per channel. The first row is the top row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// All pixels, row by row: `width * height` of them.
    pub pixels: Vec<[u8; 4]>,
}

/// Whether at least one pixel is transparent. An alpha of 250 or more counts as opaque.
pub(crate) fn has_transparency(pixels: &[[u8; 4]]) -> bool {
    pixels.iter().any(|p| p[3] < 250)
}

impl Image {
    /// Makes a picture of one colour.
    pub fn filled(width: usize, height: usize, colour: [u8; 4]) -> Image {
        Image { width, height, pixels: vec![colour; width * height] }
    }

    /// Makes a picture by calling `colour(column, row)` for every pixel.
    pub fn from_fn(width: usize, height: usize, mut colour: impl FnMut(usize, usize) -> [u8; 4]) -> Image {
        let pixels = (0..width * height).map(|i| colour(i % width, i / width)).collect();
        Image { width, height, pixels }
    }
}
