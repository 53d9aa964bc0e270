//! Pixels in memory.

/// A picture: RGBA, 8 bits a channel, rows from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width * height` of them.
    pub pixels: Vec<[u8; 4]>,
}

/// Whether some pixels can be seen through somewhere.
pub(crate) fn has_holes(pixels: &[[u8; 4]]) -> bool {
    pixels.iter().any(|p| p[3] < 250)
}

impl Image {
    /// A picture of one colour.
    pub fn filled(width: usize, height: usize, colour: [u8; 4]) -> Image {
        Image { width, height, pixels: vec![colour; width * height] }
    }

    /// A picture made pixel by pixel from column and row.
    pub fn from_fn(width: usize, height: usize, mut colour: impl FnMut(usize, usize) -> [u8; 4]) -> Image {
        let pixels = (0..width * height).map(|i| colour(i % width, i / width)).collect();
        Image { width, height, pixels }
    }
}
