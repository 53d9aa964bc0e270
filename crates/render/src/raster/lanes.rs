//! Groups of neighbouring pixels of a row. The modules `tile` and `shade` compute all pixels of a
//! group at once, in one SIMD vector.

use wide::f32x8;

/// Number of pixels in a group. Each pixel is a lane of a SIMD vector.
pub(super) const LANES: usize = 8;

/// Column of each pixel of a group, counted from the first column of the tile.
#[inline]
pub(super) fn columns(group: usize) -> f32x8 {
    f32x8::from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) + f32x8::splat((group * LANES) as f32)
}
