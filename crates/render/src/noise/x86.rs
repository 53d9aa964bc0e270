//! Noise with AVX2 and AVX-512: the same integers as [`super::Noise::add`].

use super::{BYTES, FACTOR, Noise, OTHER, SUM_MEAN};
use std::arch::x86_64::*;

impl Noise {
    /// Whether the functions below can compute this noise. They store the scale in 16 bits.
    fn is_small(&self) -> bool {
        (0..=i32::from(i16::MAX)).contains(&self.scale)
    }

    /// Does the same as [`Noise::row`], with AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) fn row_with_avx2(&self, row: &[[u8; 4]], first: u32, to: &mut [u8]) {
        if !self.is_small() {
            return self.row(row, first, to);
        }
        let (groups, rest) = row.as_chunks::<4>();
        let (targets, _) = to.as_chunks_mut::<12>();
        let hash = |i: usize| u64::from(first + i as u32).wrapping_mul(FACTOR) as i64;
        let mut place = _mm256_set_epi64x(hash(3), hash(2), hash(1), hash(0));
        let (step, key) =
            (_mm256_set1_epi64x(FACTOR.wrapping_mul(4) as i64), _mm256_set1_epi64x(self.key as i64));
        for (pixels, to) in groups.iter().zip(targets) {
            let seed = _mm256_xor_si256(place, key);
            let other = _mm256_xor_si256(seed, _mm256_set1_epi64x(OTHER as i64));
            let sums = _mm256_add_epi16(byte_pairs(mixed(seed)), byte_pairs(mixed(other)));
            *to = self.added(pixels, sums);
            place = _mm256_add_epi64(place, step);
        }
        let done = 4 * groups.len();
        self.row(rest, first + done as u32, &mut to[3 * done..]);
    }

    /// Does the same as [`Noise::row`], with AVX-512, which multiplies 64-bit numbers.
    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn row_with_avx512(&self, row: &[[u8; 4]], first: u32, to: &mut [u8]) {
        if !self.is_small() {
            return self.row(row, first, to);
        }
        let (groups, rest) = row.as_chunks::<8>();
        let (targets, _) = to.as_chunks_mut::<24>();
        let lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let lanes = _mm512_add_epi64(lanes, _mm512_set1_epi64(i64::from(first)));
        let mut place = _mm512_mullo_epi64(lanes, _mm512_set1_epi64(FACTOR as i64));
        let step = _mm512_set1_epi64(FACTOR.wrapping_mul(8) as i64);
        let (key, bytes) = (_mm512_set1_epi64(self.key as i64), _mm512_set1_epi64(BYTES as i64));
        for (pixels, to) in groups.iter().zip(targets) {
            let seed = _mm512_xor_si512(place, key);
            let other = _mm512_xor_si512(seed, _mm512_set1_epi64(OTHER as i64));
            let [a, b] = [seed, other].map(|x| {
                let x = wide_mixed(x);
                let high = _mm512_and_si512(_mm512_srli_epi64::<8>(x), bytes);
                _mm512_add_epi16(_mm512_and_si512(x, bytes), high)
            });
            let sums = _mm512_add_epi16(a, b);
            let (four, _) = pixels.as_chunks::<4>();
            let (low, high) = (_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64::<1>(sums));
            to[..12].copy_from_slice(&self.added(&four[0], low));
            to[12..].copy_from_slice(&self.added(&four[1], high));
            place = _mm512_add_epi64(place, step);
        }
        let done = 8 * groups.len();
        self.row(rest, first + done as u32, &mut to[3 * done..]);
    }

    /// Adds noise to four pixels. `sums` are the sums of four random bytes for each channel.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn added(&self, pixels: &[[u8; 4]; 4], sums: __m256i) -> [u8; 12] {
        let values = _mm256_cvtepu8_epi16(bytemuck::cast::<[[u8; 4]; 4], __m128i>(*pixels));
        let sums = _mm256_sub_epi16(sums, _mm256_set1_epi16(SUM_MEAN as i16));
        let scale = _mm256_set1_epi16(self.scale as i16);
        // The high half of the product, rounded by the highest bit of the low half.
        let half = _mm256_srli_epi16::<15>(_mm256_mullo_epi16(sums, scale));
        let noise = _mm256_add_epi16(_mm256_mulhi_epi16(sums, scale), half);
        let noisy = _mm256_add_epi16(values, noise);
        let bytes = _mm256_packus_epi16(noisy, noisy);
        let bytes = _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b00_00_10_00>(bytes));
        let order = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
        let bytes: [u8; 16] = bytemuck::cast(_mm_shuffle_epi8(bytes, order));
        let mut rgb = [0; 12];
        rgb.copy_from_slice(&bytes[..12]);
        rgb
    }
}

/// The sum of the two bytes in each 16-bit lane.
#[target_feature(enable = "avx2")]
#[inline]
fn byte_pairs(x: __m256i) -> __m256i {
    let bytes = _mm256_set1_epi64x(BYTES as i64);
    _mm256_add_epi16(_mm256_and_si256(x, bytes), _mm256_srli_epi16::<8>(x))
}

/// Computes [`super::mix_bits`] of four numbers.
#[target_feature(enable = "avx2")]
#[inline]
fn mixed(x: __m256i) -> __m256i {
    let shifted = |x| _mm256_xor_si256(x, _mm256_srli_epi64::<32>(x));
    shifted(multiplied(shifted(multiplied(shifted(x)))))
}

/// Multiplies by [`FACTOR`]. AVX2 cannot multiply 64-bit numbers, so the result is the sum of
/// products of 32-bit numbers.
#[target_feature(enable = "avx2")]
#[inline]
fn multiplied(x: __m256i) -> __m256i {
    let low = _mm256_set1_epi64x((FACTOR & 0xffff_ffff) as i64);
    let high = _mm256_set1_epi64x((FACTOR >> 32) as i64);
    let across =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64::<32>(x), low), _mm256_mul_epu32(x, high));
    _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64::<32>(across))
}

/// Computes [`super::mix_bits`] of eight numbers.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn wide_mixed(x: __m512i) -> __m512i {
    let factor = _mm512_set1_epi64(FACTOR as i64);
    let shifted = |x| _mm512_xor_si512(x, _mm512_srli_epi64::<32>(x));
    shifted(_mm512_mullo_epi64(shifted(_mm512_mullo_epi64(shifted(x), factor)), factor))
}
