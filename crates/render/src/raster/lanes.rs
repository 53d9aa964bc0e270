//! Groups of neighbouring pixels of a row, which the tile and the shader compute with one SIMD
//! vector.

use wide::f32x8;

/// Pixels in a group: the lanes of one SIMD vector.
pub(super) const LANES: usize = 8;

/// Column of each pixel of a group, counted from the first column of the tile.
#[inline]
pub(super) fn columns(group: usize) -> f32x8 {
    f32x8::from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) + f32x8::splat((group * LANES) as f32)
}
