//! Vectors in one register of 256 bits.
//!
//! SAFETY of all blocks: values of [`Avx2`] types exist only inside functions that are called after
//! the processor was found to have AVX2 (`raster::draw`).
#![allow(unsafe_code)]

use super::{Floats, Ints, LANES, Samples, Simd};
use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// The instructions of AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2;

#[derive(Clone, Copy)]
pub(crate) struct F(__m256);

#[derive(Clone, Copy)]
pub(crate) struct I(__m256i);

impl Simd for Avx2 {
    type Floats = F;
    type Ints = I;

    #[inline(always)]
    fn sampled(level: &Samples<'_>, place: [I; 2], _mask: u32) -> [I; 4] {
        // SAFETY: see the module documentation.
        unsafe { sampled(level, place) }
    }
}

/// Samples eight places at once, with the result of [`Samples::sampled`] for each.
///
/// A register holds two channels of all eight places, with 16 bits each: red and blue, or green and
/// alpha.
#[target_feature(enable = "avx2")]
#[inline]
fn sampled(level: &Samples<'_>, [I(mut x), I(mut y)]: [I; 2]) -> [I; 4] {
    let [width, height] = level.size;
    assert!(
        width.is_power_of_two() && height.is_power_of_two() && level.texels.len() >= (width + 1) * height
    );
    let (mx, my) = (_mm256_set1_epi32(width as i32 - 1), _mm256_set1_epi32(height as i32 - 1));
    let (dx, dy) = (_mm256_set1_epi32(level.step[0]), _mm256_set1_epi32(level.step[1]));
    let row_bits = _mm_cvtsi32_si128(width.trailing_zeros() as i32);
    let one = _mm256_set1_epi32(1);
    let mut sums = [_mm256_setzero_si256(); 2];
    for _ in 0..1 << level.log_taps {
        let (wx, wy) = (weights(x), weights(y));
        let x0 = _mm256_and_si256(_mm256_srai_epi32::<16>(x), mx);
        let y0 = _mm256_and_si256(_mm256_srai_epi32::<16>(y), my);
        let y1 = _mm256_and_si256(_mm256_add_epi32(y0, one), my);
        let [low, high] = [y0, y1].map(|row| {
            let first = _mm256_add_epi32(_mm256_sll_epi32(row, row_bits), _mm256_add_epi32(row, x0));
            // SAFETY: the column is less than `width`, and the row less than `height`, because both
            // are masked. The assertion makes sure that all texels of the level exist.
            let [left, right] = unsafe { neighbours(level.texels, first) };
            lerp(left, right, wx)
        });
        let [a, b] = lerp(low, high, wy);
        sums = [_mm256_add_epi16(sums[0], a), _mm256_add_epi16(sums[1], b)];
        x = _mm256_add_epi32(x, dx);
        y = _mm256_add_epi32(y, dy);
    }
    let left = _mm_cvtsi32_si128(2 - level.log_taps as i32);
    let [red_blue, green_alpha] = sums.map(|sum| _mm256_sll_epi16(sum, left));
    let low = _mm256_set1_epi32(0xffff);
    [
        I(_mm256_and_si256(red_blue, low)),
        I(_mm256_and_si256(green_alpha, low)),
        I(_mm256_srli_epi32::<16>(red_blue)),
        I(_mm256_srli_epi32::<16>(green_alpha)),
    ]
}

/// Twice the weight of the next texel at each place, for both channels of a register. The weight is
/// the high byte of the fractional part.
#[target_feature(enable = "avx2")]
#[inline]
fn weights(place: __m256i) -> __m256i {
    let doubled = _mm256_and_si256(_mm256_srli_epi32::<7>(place), _mm256_set1_epi32(0x1fe));
    _mm256_or_si256(doubled, _mm256_slli_epi32::<16>(doubled))
}

/// Loads eight texels, and the texel after each of them. Returns red and blue, and green and alpha,
/// of the texels, and the same of the texels after them.
///
/// SAFETY: each index plus one must be less than the number of texels.
#[target_feature(enable = "avx2")]
#[inline]
pub(crate) unsafe fn neighbours(texels: &[u32], index: __m256i) -> [[__m256i; 2]; 2] {
    let index: [u32; LANES] = bytemuck::cast(index);
    // SAFETY: the caller guarantees the range.
    let four = unsafe {
        [
            _mm256_blend_epi32::<0b1111_0000>(
                _mm256_blend_epi32::<0b0000_1100>(pair::<0>(texels, &index), pair::<1>(texels, &index)),
                _mm256_blend_epi32::<0b1100_0000>(pair::<4>(texels, &index), pair::<5>(texels, &index)),
            ),
            _mm256_blend_epi32::<0b1111_0000>(
                _mm256_blend_epi32::<0b0000_1100>(pair::<2>(texels, &index), pair::<3>(texels, &index)),
                _mm256_blend_epi32::<0b1100_0000>(pair::<6>(texels, &index), pair::<7>(texels, &index)),
            ),
        ]
    };
    let [first, second] = four.map(|pairs| _mm256_castsi256_ps(pairs));
    let left = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second));
    let right = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(first, second));
    let even = _mm256_set1_epi16(0xff);
    [left, right].map(|texels| [_mm256_and_si256(texels, even), _mm256_srli_epi16::<8>(texels)])
}

/// The texel with the index of place `N`, and the texel after it, in all four quarters of a register.
///
/// The function consists of two loads in assembly, because the compiler replaces the equivalent
/// intrinsics with instructions that move values between registers. These all need the same
/// execution unit, so that sampling takes a quarter longer. A gather instruction would be slow on
/// processors with a mitigation for Gather Data Sampling.
///
/// SAFETY: the index plus one must be less than the number of texels.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn pair<const N: usize>(texels: &[u32], index: &[u32; LANES]) -> __m256i {
    let both;
    // SAFETY: `N` is less than `LANES`, and the caller guarantees that both texels exist.
    unsafe {
        std::arch::asm!(
            "mov {index:e}, dword ptr [{indices} + {offset}]",
            "vpbroadcastq {both}, qword ptr [{texels} + 4 * {index}]",
            indices = in(reg) index.as_ptr(),
            texels = in(reg) texels.as_ptr(),
            offset = const 4 * N,
            index = out(reg) _,
            both = lateout(ymm_reg) both,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    both
}

/// Interpolates between channels of 8 bits: a + ⌊(b − a)·weight / 256⌋, for twice the weight.
#[target_feature(enable = "avx2")]
#[inline]
fn lerp(a: [__m256i; 2], b: [__m256i; 2], doubled: __m256i) -> [__m256i; 2] {
    let one = |a, b| {
        let difference = _mm256_slli_epi16::<7>(_mm256_sub_epi16(b, a));
        _mm256_add_epi16(a, _mm256_mulhi_epi16(difference, doubled))
    };
    [one(a[0], b[0]), one(a[1], b[1])]
}

/// Implements an operator with an instruction.
macro_rules! operator {
    ($trait:ident, $method:ident, $type:ident, $instruction:ident) => {
        impl $trait for $type {
            type Output = $type;
            #[inline(always)]
            fn $method(self, other: $type) -> $type {
                // SAFETY: see the module documentation.
                $type(unsafe { $instruction(self.0, other.0) })
            }
        }
    };
}

operator!(Add, add, F, _mm256_add_ps);
operator!(Sub, sub, F, _mm256_sub_ps);
operator!(Mul, mul, F, _mm256_mul_ps);
operator!(Div, div, F, _mm256_div_ps);
operator!(Add, add, I, _mm256_add_epi32);
operator!(Sub, sub, I, _mm256_sub_epi32);
operator!(BitAnd, bitand, I, _mm256_and_si256);
operator!(BitOr, bitor, I, _mm256_or_si256);

impl Neg for F {
    type Output = F;
    #[inline(always)]
    fn neg(self) -> F {
        // SAFETY: see the module documentation.
        F(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
    }
}

// SAFETY of all blocks below: see the module documentation.
impl Floats for F {
    type Ints = I;

    #[inline(always)]
    fn splat(value: f32) -> F {
        F(unsafe { _mm256_set1_ps(value) })
    }
    #[inline(always)]
    fn from_array(values: [f32; LANES]) -> F {
        F(bytemuck::cast(values))
    }
    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        bytemuck::cast(self.0)
    }
    #[inline(always)]
    fn max(self, other: F) -> F {
        F(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: F) -> F {
        F(unsafe { _mm256_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> F {
        F(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn truncated(self) -> I {
        I(unsafe { _mm256_cvttps_epi32(self.0) })
    }
    #[inline(always)]
    fn greater(self, other: F) -> I {
        I(unsafe { _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0)) })
    }
    #[inline(always)]
    fn select(self, mask: I, other: F) -> F {
        F(unsafe { _mm256_blendv_ps(other.0, self.0, _mm256_castsi256_ps(mask.0)) })
    }
    #[inline(always)]
    fn bits(self) -> I {
        I(unsafe { _mm256_castps_si256(self.0) })
    }
    #[inline(always)]
    fn from_bits(bits: I) -> F {
        F(unsafe { _mm256_castsi256_ps(bits.0) })
    }
}

impl Ints for I {
    type Floats = F;

    #[inline(always)]
    fn splat(value: i32) -> I {
        I(unsafe { _mm256_set1_epi32(value) })
    }
    #[inline(always)]
    fn from_array(values: [i32; LANES]) -> I {
        I(bytemuck::cast(values))
    }
    #[inline(always)]
    fn to_array(self) -> [i32; LANES] {
        bytemuck::cast(self.0)
    }
    #[inline(always)]
    fn shl<const N: i32>(self) -> I {
        I(unsafe { _mm256_slli_epi32::<N>(self.0) })
    }
    #[inline(always)]
    fn shr<const N: i32>(self) -> I {
        I(unsafe { _mm256_srai_epi32::<N>(self.0) })
    }
    #[inline(always)]
    fn equal(self, other: I) -> I {
        I(unsafe { _mm256_cmpeq_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn not_negative(self) -> I {
        I(unsafe { _mm256_cmpgt_epi32(self.0, _mm256_set1_epi32(-1)) })
    }
    #[inline(always)]
    fn select(self, mask: I, other: I) -> I {
        I(unsafe { _mm256_blendv_epi8(other.0, self.0, mask.0) })
    }
    #[inline(always)]
    fn signs(self) -> u32 {
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(self.0)) as u32 }
    }
    #[inline(always)]
    fn floats(self) -> F {
        F(unsafe { _mm256_cvtepi32_ps(self.0) })
    }
}
