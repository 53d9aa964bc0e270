//! The pixels of a picture whose colours are used. A lens does not use all pixels of the
//! undistorted picture, because the area that the lens shows has curved sides.

use super::TILE;
use super::lanes::LANES;

/// A bit for each group of pixels that has to be shaded.
#[derive(Debug, Clone)]
pub(crate) struct NeededPixels {
    /// Tiles per row of tiles.
    tiles_across: usize,
    /// For each row of pixels and each tile, a bit for each of the tile's groups.
    groups: Vec<u8>,
}

impl NeededPixels {
    /// An empty set of pixels for a picture of this size.
    pub(crate) fn none(width: usize, height: usize) -> NeededPixels {
        let tiles_across = width.div_ceil(TILE);
        NeededPixels { tiles_across, groups: vec![0; tiles_across * height] }
    }

    /// Adds a pixel of the picture.
    pub(crate) fn add(&mut self, x: usize, y: usize) {
        self.groups[y * self.tiles_across + x / TILE] |= 1 << (x % TILE / LANES);
    }

    /// The groups of each row of the tile whose first pixel is (x0, y0). Rows below the picture
    /// have no groups.
    pub(super) fn tile(&self, (x0, y0): (usize, usize)) -> [u8; TILE] {
        let group = |y: usize| self.groups.get((y0 + y) * self.tiles_across + x0 / TILE);
        std::array::from_fn(|y| group(y).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_needed_if_one_of_its_pixels_is() {
        let mut needed = NeededPixels::none(70, 33);
        for (x, y) in [(0, 0), (31, 1), (69, 32)] {
            needed.add(x, y);
        }
        let tile = |x0, y0| needed.tile((x0, y0))[..3].to_vec();
        assert_eq!(tile(0, 0), [0b0001, 0b1000, 0]);
        assert_eq!(tile(32, 0), [0, 0, 0]);
        assert_eq!(tile(64, 32), [0b0001, 0, 0]);
    }
}
