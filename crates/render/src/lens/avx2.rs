//! Lens distortion with AVX2: the same integers as [`super::distorted`], eight pixels at a time.

use crate::simd::neighbours;
use std::arch::x86_64::*;

/// Computes eight pixels. `indices` and `weights` are their entries in the lookup table.
///
/// A register holds two channels of all eight pixels, with 16 bits each: red and blue, or green and
/// the unused one.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn eight(
    undistorted: &[u32],
    width: usize,
    indices: &[u32; 8],
    weights: &[[u16; 2]; 8],
) -> [[u8; 4]; 8] {
    let weights: __m256i = bytemuck::cast(*weights);
    let low = _mm256_and_si256(weights, _mm256_set1_epi32(0xffff));
    let high = _mm256_srli_epi32::<16>(weights);
    let both = |weight| _mm256_or_si256(weight, _mm256_slli_epi32::<16>(weight));
    let (right, below) = (both(low), both(high));
    let upper: __m256i = bytemuck::cast(*indices);
    let lower = _mm256_add_epi32(upper, _mm256_set1_epi32(width as i32));
    let last = indices.iter().fold(0, |last, index| last.max(*index)) as usize + width + 1;
    assert!(last < undistorted.len(), "the lookup table is for a larger picture");
    let [upper, lower] = [upper, lower].map(|first| {
        #[allow(unsafe_code)]
        // SAFETY: `last` is the largest index of a pixel that is read for these eight pixels. The
        // assertion checks that this pixel exists.
        let [a, b] = unsafe { neighbours(undistorted, first) };
        [lerp(a[0], b[0], right), lerp(a[1], b[1], right)]
    });
    let [red_blue, green] = [lerp(upper[0], lower[0], below), lerp(upper[1], lower[1], below)];
    bytemuck::cast(_mm256_or_si256(red_blue, _mm256_slli_epi16::<8>(green)))
}

/// Interpolates between channels of 8 bits: a + (b − a)·weight / 256, rounded.
#[target_feature(enable = "avx2")]
#[inline]
fn lerp(a: __m256i, b: __m256i, weight: __m256i) -> __m256i {
    let difference = _mm256_slli_epi16::<7>(_mm256_sub_epi16(b, a));
    _mm256_add_epi16(a, _mm256_mulhrs_epi16(difference, weight))
}
