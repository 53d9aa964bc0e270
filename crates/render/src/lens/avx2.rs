//! Lens distortion with AVX2: the same integers as [`super::distorted`], eight pixels at a time.

use std::arch::x86_64::*;

/// Computes eight pixels. `indices` and `weights` are their entries in the lookup table.
///
/// A register holds four pixels. The first register of a pair has the pixels 0, 1, 4 and 5, and the
/// second register has the pixels 2, 3, 6 and 7. With this order, no instruction has to move pixels
/// between the two halves of a register.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn eight(
    undistorted: &[u32],
    width: usize,
    indices: &[u32; 8],
    weights: &[[u16; 2]; 8],
) -> [[u8; 4]; 8] {
    let weights: __m256i = bytemuck::cast(*weights);
    let spread = |a: i8, b: i8| {
        let (c, d) = (a + 1, b + 1);
        let order = _mm_setr_epi8(a, c, a, c, a, c, a, c, b, d, b, d, b, d, b, d);
        _mm256_shuffle_epi8(weights, _mm256_broadcastsi128_si256(order))
    };
    let (right, below) = ([spread(0, 4), spread(8, 12)], [spread(2, 6), spread(10, 14)]);
    let [upper, lower] = [0, width].map(|offset| {
        let [a, b] = neighbours(undistorted, indices, offset);
        [lerp(a[0], a[1], right[0]), lerp(b[0], b[1], right[1])]
    });
    let first = lerp(upper[0], lower[0], below[0]);
    let second = lerp(upper[1], lower[1], below[1]);
    bytemuck::cast(_mm256_packus_epi16(first, second))
}

/// The pixel at each index plus `offset`, and its right neighbour, with 16 bits per channel.
#[target_feature(enable = "avx2")]
#[inline]
fn neighbours(undistorted: &[u32], indices: &[u32; 8], offset: usize) -> [[__m256i; 2]; 2] {
    let two = |i: usize| {
        let index = indices[i] as usize + offset;
        let two = &undistorted[index..index + 2];
        (u64::from(two[0]) | u64::from(two[1]) << 32) as i64
    };
    let zero = _mm256_setzero_si256();
    [_mm256_set_epi64x(two(5), two(4), two(1), two(0)), _mm256_set_epi64x(two(7), two(6), two(3), two(2))]
        .map(|four| {
            let (even, odd) = (_mm256_unpacklo_epi8(four, zero), _mm256_unpackhi_epi8(four, zero));
            [_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)]
        })
}

/// Interpolates between channels of 8 bits: a + (b − a)·weight / 256, rounded.
#[target_feature(enable = "avx2")]
#[inline]
fn lerp(a: __m256i, b: __m256i, weight: __m256i) -> __m256i {
    let difference = _mm256_slli_epi16::<7>(_mm256_sub_epi16(b, a));
    _mm256_add_epi16(a, _mm256_mulhrs_epi16(difference, weight))
}
