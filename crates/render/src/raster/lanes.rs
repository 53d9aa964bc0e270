//! Groups of neighbouring pixels of a row. The modules `tile` and `shade` compute all pixels of a
//! group at once, in one vector.

use crate::simd::{Floats, Simd};

/// Number of pixels in a group. Each pixel is a lane of a vector.
pub(super) const LANES: usize = crate::simd::LANES;
/// Number of groups in a row of a tile.
pub(super) const GROUPS: usize = super::TILE / LANES;

/// The columns of the pixels of each group of a tile, counted from the first column of the tile.
const COLUMNS: [[f32; LANES]; GROUPS] = {
    let mut columns = [[0.0; LANES]; GROUPS];
    let mut column = 0;
    while column < super::TILE {
        columns[column / LANES][column % LANES] = column as f32;
        column += 1;
    }
    columns
};

/// Column of each pixel of a group, counted from the first column of the tile.
#[inline(always)]
pub(super) fn columns<S: Simd>(group: usize) -> S::Floats {
    S::Floats::from_array(COLUMNS[group])
}
