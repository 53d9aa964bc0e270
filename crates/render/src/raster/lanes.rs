//! Groups of neighbouring pixels of a row. The modules `tile` and `shade` compute all pixels of a
//! group at once, in one vector.

use crate::simd::{Floats, Simd};

/// Number of pixels in a group. Each pixel is a lane of a vector.
pub(super) const LANES: usize = crate::simd::LANES;
/// Number of groups in a row of a tile.
pub(super) const GROUPS: usize = super::TILE / LANES;

/// Column of each pixel of a group, counted from the first column of the tile.
#[inline(always)]
pub(super) fn columns<S: Simd>(group: usize) -> S::Floats {
    S::Floats::from_array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) + S::Floats::splat((group * LANES) as f32)
}
