//! Turns pixels into quantised coefficients with AVX2. The module `transform` documents the steps
//! and computes the same integers with portable code.

use super::tables::{Quantiser, Tables, ZIGZAG};
use super::transform::{BLUE, CHROMA_HALF, Coefficients, LUMA, LUMA_HALF, Pair, Patch, RED, factor};
use std::arch::x86_64::*;

/// Transforms a unit.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transform(patch: &Patch, tables: &Tables, to: &mut Coefficients) {
    let mut samples = [[_mm256_setzero_si256(); 8]; 3];
    for row in 0..8 {
        let (first, second) = (Pixels::load(&patch.0[2 * row]), Pixels::load(&patch.0[2 * row + 1]));
        let (half, at) = (row / 4, row % 4 * 2);
        samples[half][at] = first.luma();
        samples[half][at + 1] = second.luma();
        samples[2][row] = first.chroma(&second);
    }
    for (n, samples) in samples.iter().enumerate() {
        let quantiser = if n < 2 { &tables.luminance } else { &tables.chrominance };
        to.nonzero[n] = quantised(*samples, quantiser, &mut to.pairs[n]);
    }
}

/// Sixteen pixels of a row, in two registers of eight pixels each.
struct Pixels {
    /// Red and green of each pixel, 16 bits each.
    red_green: [__m256i; 2],
    /// Blue of each pixel, and a one, 16 bits each.
    blue_one: [__m256i; 2],
}

/// A register that repeats a pair of 16-bit numbers.
#[target_feature(enable = "avx2")]
#[inline]
fn pairs([low, high]: [i16; 2]) -> __m256i {
    _mm256_set1_epi32(i32::from(high) << 16 | i32::from(low as u16))
}

impl Pixels {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(row: &[u8; 64]) -> Pixels {
        // Each half of a register gets the 12 bytes of four pixels.
        let spread_red_green = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1,
        ));
        let spread_blue = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            2, -1, -1, -1, 5, -1, -1, -1, 8, -1, -1, -1, 11, -1, -1, -1,
        ));
        let ones = pairs([0, 1]);
        let (mut red_green, mut blue_one) = ([ones; 2], [ones; 2]);
        for i in 0..2 {
            let four = |first: usize| {
                let mut bytes = [0u8; 16];
                bytes.copy_from_slice(&row[first..first + 16]);
                bytemuck::cast::<[u8; 16], __m128i>(bytes)
            };
            let eight = _mm256_set_m128i(four(24 * i + 12), four(24 * i));
            red_green[i] = _mm256_shuffle_epi8(eight, spread_red_green);
            blue_one[i] = _mm256_or_si256(_mm256_shuffle_epi8(eight, spread_blue), ones);
        }
        Pixels { red_green, blue_one }
    }

    /// The luminance of the pixels, minus 128.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn luma(&self) -> __m256i {
        let [r, g, b] = LUMA;
        let eight = |i: usize| {
            let sum = _mm256_add_epi32(
                _mm256_madd_epi16(self.red_green[i], pairs([r, g])),
                _mm256_madd_epi16(self.blue_one[i], pairs([b, LUMA_HALF])),
            );
            _mm256_srai_epi32::<15>(sum)
        };
        let mixed = _mm256_packs_epi32(eight(0), eight(1));
        let luma = _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed);
        _mm256_sub_epi16(luma, _mm256_set1_epi16(128))
    }

    /// The chrominance of each square of 2×2 pixels in two rows: eight values of blue, then eight
    /// values of red.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn chroma(&self, other: &Pixels) -> __m256i {
        // `_mm256_hadd_epi32` adds 32-bit numbers. This also adds their 16-bit halves separately,
        // because the low half never overflows.
        let four = |a: &[__m256i; 2], b: &[__m256i; 2]| {
            _mm256_hadd_epi32(_mm256_add_epi16(a[0], b[0]), _mm256_add_epi16(a[1], b[1]))
        };
        let red_green = four(&self.red_green, &other.red_green);
        let blue_four = four(&self.blue_one, &other.blue_one);
        let channel = |[r, g, b]: [i16; 3]| {
            let sum = _mm256_add_epi32(
                _mm256_madd_epi16(red_green, pairs([r, g])),
                _mm256_madd_epi16(blue_four, pairs([b, CHROMA_HALF])),
            );
            _mm256_srai_epi32::<17>(sum)
        };
        let mixed = _mm256_packs_epi32(channel(BLUE), channel(RED));
        _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
    }
}

/// Computes the quantised coefficients of two blocks. Returns which coefficients are not zero.
#[target_feature(enable = "avx2")]
#[inline]
fn quantised(samples: [__m256i; 8], quantiser: &Quantiser, to: &mut Pair) -> [u64; 2] {
    let rows = transposed(cosine_transform::<true>(samples));
    let mut rows = cosine_transform::<false>(rows);
    for (i, row) in rows.iter_mut().enumerate() {
        let [half, factor, scale] = [quantiser.halves[i], quantiser.factors[i], quantiser.scales[i]]
            .map(bytemuck::cast::<[u16; 16], __m256i>);
        let size = _mm256_add_epi16(_mm256_abs_epi16(*row), half);
        let size = _mm256_mulhi_epu16(_mm256_mulhi_epu16(size, factor), scale);
        *row = _mm256_sign_epi16(size, *row);
        to.0[i] = bytemuck::cast(*row);
    }
    nonzero(&rows)
}

/// Byte shuffles that sort the coefficients into zigzag order. The entry for 16 coefficients and a
/// pair of rows has the position of each coefficient within these rows, or 255 if the coefficient
/// is in other rows.
const ORDER: [[[u8; 16]; 4]; 4] = {
    let mut order = [[[255; 16]; 4]; 4];
    let mut z = 0;
    while z < 64 {
        let place = ZIGZAG[z] % 8 * 8 + ZIGZAG[z] / 8;
        order[z / 16][place as usize / 16][z % 16] = place % 16;
        z += 1;
    }
    order
};

/// Which coefficients are not zero, in zigzag order, for both blocks.
#[target_feature(enable = "avx2")]
#[inline]
fn nonzero(rows: &[__m256i; 8]) -> [u64; 2] {
    // Packing saturates each coefficient to eight bits, so that only zero becomes zero.
    let bytes = [0, 2, 4, 6].map(|i| _mm256_packs_epi16(rows[i], rows[i + 1]));
    let mut bits = [0u64; 2];
    for (part, order) in ORDER.iter().enumerate() {
        let mut sorted = _mm256_setzero_si256();
        for (bytes, order) in bytes.iter().zip(order) {
            let order = _mm256_broadcastsi128_si256(bytemuck::cast::<[u8; 16], __m128i>(*order));
            sorted = _mm256_or_si256(sorted, _mm256_shuffle_epi8(*bytes, order));
        }
        let zero = _mm256_cmpeq_epi8(sorted, _mm256_setzero_si256());
        let found = !_mm256_movemask_epi8(zero) as u32;
        bits[0] |= u64::from(found & 0xffff) << (16 * part);
        bits[1] |= u64::from(found >> 16) << (16 * part);
    }
    bits
}

/// Transposes both blocks.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed(r: [__m256i; 8]) -> [__m256i; 8] {
    let a =
        [0, 2, 4, 6].map(|i| [_mm256_unpacklo_epi16(r[i], r[i + 1]), _mm256_unpackhi_epi16(r[i], r[i + 1])]);
    let b = |half: usize, i: usize| {
        let (x, y) = (a[i][half], a[i + 1][half]);
        [_mm256_unpacklo_epi32(x, y), _mm256_unpackhi_epi32(x, y)]
    };
    let [upper_left, lower_left] = [b(0, 0), b(0, 2)];
    let [upper_right, lower_right] = [b(1, 0), b(1, 2)];
    let c = |x: __m256i, y: __m256i| [_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y)];
    let [c0, c1] = c(upper_left[0], lower_left[0]);
    let [c2, c3] = c(upper_left[1], lower_left[1]);
    let [c4, c5] = c(upper_right[0], lower_right[0]);
    let [c6, c7] = c(upper_right[1], lower_right[1]);
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

/// Transforms the columns of both blocks. The first pass scales its results by 4, and the second
/// pass scales its results by 1/4.
#[target_feature(enable = "avx2")]
#[inline]
fn cosine_transform<const FIRST: bool>(v: [__m256i; 8]) -> [__m256i; 8] {
    let add = |a, b| _mm256_add_epi16(a, b);
    let subtract = |a, b| _mm256_sub_epi16(a, b);
    let whole = |sum| {
        if FIRST {
            _mm256_slli_epi16::<2>(sum)
        } else {
            _mm256_srai_epi16::<2>(_mm256_add_epi16(sum, _mm256_set1_epi16(2)))
        }
    };
    // Sums of two products: first for the lower four lanes of each block, then for the upper four
    // lanes.
    let two = |factors: [i16; 2], x, y| {
        let factors = pairs(factors);
        [
            _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y), factors),
            _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y), factors),
        ]
    };
    let plus =
        |a: [__m256i; 2], b: [__m256i; 2]| [_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])];
    let rounded = |sums: [__m256i; 2]| {
        let [low, high] = sums.map(|sum| {
            if FIRST {
                _mm256_srai_epi32::<11>(_mm256_add_epi32(sum, _mm256_set1_epi32(1 << 10)))
            } else {
                _mm256_srai_epi32::<15>(_mm256_add_epi32(sum, _mm256_set1_epi32(1 << 14)))
            }
        });
        _mm256_packs_epi32(low, high)
    };
    let (s0, s1, s2, s3) = (add(v[0], v[7]), add(v[1], v[6]), add(v[2], v[5]), add(v[3], v[4]));
    let (d0, d1) = (subtract(v[0], v[7]), subtract(v[1], v[6]));
    let (d2, d3) = (subtract(v[2], v[5]), subtract(v[3], v[4]));
    let (even0, even3) = (add(s0, s3), subtract(s0, s3));
    let (even1, even2) = (add(s1, s2), subtract(s1, s2));
    let (z3, z4) = (add(d3, d1), add(d2, d0));
    let (from3, from4) = (two(factor::Z34[0], z3, z4), two(factor::Z34[1], z3, z4));
    [
        whole(add(even0, even1)),
        rounded(plus(two(factor::O17[0], d3, d0), from4)),
        rounded(two(factor::E26[0], even3, even2)),
        rounded(plus(two(factor::O35[0], d2, d1), from3)),
        whole(subtract(even0, even1)),
        rounded(plus(two(factor::O35[1], d2, d1), from4)),
        rounded(two(factor::E26[1], even3, even2)),
        rounded(plus(two(factor::O17[1], d3, d0), from3)),
    ]
}
