//! Vectors of eight numbers: with portable code, and with AVX2.
//!
//! The rasteriser is generic over [`Simd`]. It is compiled once for each implementation of
//! [`Simd`], inside functions for which the instructions are enabled (`raster::draw` and
//! `raster::compiled`). All functions between these functions and the vectors are
//! `#[inline(always)]`, because a function that is not inlined would be compiled without the
//! instructions. For the same reason these functions do not use closures on
//! vectors.
//!
//! Both implementations give the same bits, because no operation is fused or approximate.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{Avx2, neighbours};
pub(crate) use portable::Portable;

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Number of lanes in a vector.
pub(crate) const LANES: usize = 8;

/// A set of instructions and its vectors.
pub(crate) trait Simd: Copy + 'static {
    type Floats: Floats<Ints = Self::Ints>;
    type Ints: Ints<Floats = Self::Floats>;

    /// Samples a mipmap level at eight places. Returns the red, green, blue and alpha values of the
    /// places. Each value is four times the mean of the samples of its place. Only the places in
    /// `mask` are valid.
    fn sampled(level: &Samples<'_>, place: [Self::Ints; 2], mask: u32) -> [Self::Ints; 4];
}

/// A mipmap level and the line along which it is sampled.
pub(crate) struct Samples<'a> {
    /// Texels of the level, row by row, with red in the lowest byte. Each row ends with a copy of its
    /// first texel.
    pub(crate) texels: &'a [u32],
    /// Width and height, texels. Both are powers of two.
    pub(crate) size: [usize; 2],
    /// Offset from sample to sample, in 1/65536 of a texel.
    pub(crate) step: [i32; 2],
    /// Binary logarithm of the number of samples: 0, 1 or 2.
    pub(crate) log_taps: u32,
}

/// Eight floats.
pub(crate) trait Floats:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    type Ints;

    fn splat(value: f32) -> Self;
    fn from_array(values: [f32; LANES]) -> Self;
    fn to_array(self) -> [f32; LANES];
    /// The larger value. The arguments must not be NaN.
    fn max(self, other: Self) -> Self;
    /// The smaller value. The arguments must not be NaN.
    fn min(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// Rounds towards zero. The values must be in the range of `i32`.
    fn truncated(self) -> Self::Ints;
    /// A mask of the lanes in which `self` is greater.
    fn greater(self, other: Self) -> Self::Ints;
    /// `self` in the lanes of the mask, otherwise `other`.
    fn select(self, mask: Self::Ints, other: Self) -> Self;
    /// The bits of each lane as an integer.
    fn bits(self) -> Self::Ints;
    fn from_bits(bits: Self::Ints) -> Self;
}

/// Eight integers of 32 bits. A mask has all bits set, or none, in each lane.
pub(crate) trait Ints:
    Copy + Add<Output = Self> + Sub<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self>
{
    type Floats;

    fn splat(value: i32) -> Self;
    fn from_array(values: [i32; LANES]) -> Self;
    fn to_array(self) -> [i32; LANES];
    /// Shifts each lane to the left by `N` bits.
    fn shl<const N: i32>(self) -> Self;
    /// Shifts each lane to the right by `N` bits. The sign bit fills the vacated bits.
    fn shr<const N: i32>(self) -> Self;
    /// A mask of the lanes that are equal.
    fn equal(self, other: Self) -> Self;
    /// A mask of the lanes that are not negative.
    fn not_negative(self) -> Self;
    /// `self` in the lanes of the mask, otherwise `other`.
    fn select(self, mask: Self, other: Self) -> Self;
    /// The sign bits of all lanes. Lane 0 is the lowest bit.
    fn signs(self) -> u32;
    fn floats(self) -> Self::Floats;
}
