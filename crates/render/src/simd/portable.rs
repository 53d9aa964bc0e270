//! Vectors of the crate `wide`: two registers of 128 bits on every processor.

use super::{Floats, Ints, LANES, Samples, Simd};
use wide::{f32x8, i32x8};

/// The instructions that every supported processor has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Simd for Portable {
    type Floats = f32x8;
    type Ints = i32x8;

    /// Samples the places one after another.
    #[inline(always)]
    fn sampled(level: &Samples<'_>, [x, y]: [i32x8; 2], mask: u32) -> [i32x8; 4] {
        let (x, y) = (x.to_array(), y.to_array());
        let mut channels = [[0; LANES]; 4];
        for l in (0..LANES).filter(|l| mask >> l & 1 == 1) {
            let sum = level.sampled([x[l], y[l]]);
            channels[0][l] = (sum & 0xffff) as i32;
            channels[1][l] = (sum >> 32 & 0xffff) as i32;
            channels[2][l] = (sum >> 16 & 0xffff) as i32;
            channels[3][l] = (sum >> 48) as i32;
        }
        channels.map(i32x8::from)
    }
}

impl Samples<'_> {
    /// Takes bilinear samples along the line. `place` is the position of the first sample, counted
    /// from the centre of the first texel, in 1/65536 of a texel. The texture repeats. The result
    /// is four times the mean, with 16 bits per channel: red in the lowest bits, then blue, green
    /// and alpha.
    #[inline(always)]
    pub(crate) fn sampled(&self, [mut x, mut y]: [i32; 2]) -> u64 {
        let [width, height] = self.size;
        let stride = width + 1;
        let texels = &self.texels[..stride * height];
        let (mx, my) = (width - 1, height - 1);
        let mut sum = 0u64;
        for _ in 0..1 << self.log_taps {
            let (wx, wy) = ((x >> 8 & 255) as u64, (y >> 8 & 255) as u64);
            let (x0, y0) = ((x >> 16) as usize & mx, (y >> 16) as usize & my);
            let y1 = y0.wrapping_add(1) & my;
            let mixed = |row: usize| {
                let first = row.wrapping_mul(stride).wrapping_add(x0);
                let two = &texels[first..first.wrapping_add(2)];
                lerp(unpacked(two[0]), unpacked(two[1]), wx)
            };
            let (low, high) = (mixed(y0), mixed(y1));
            sum = lerp(low, high, wy).wrapping_add(sum);
            // Integer overflow is harmless, because 2³² is a multiple of the period of the texture.
            x = x.wrapping_add(self.step[0]);
            y = y.wrapping_add(self.step[1]);
        }
        sum << (2 - self.log_taps)
    }
}

/// Puts each channel of a texel into a lane of 16 bits: red, blue, green and alpha. One
/// multiplication therefore interpolates all four channels. In this order, the channels are unpacked
/// with the fewest instructions.
#[inline(always)]
fn unpacked(texel: u32) -> u64 {
    let texel = u64::from(texel);
    (texel | texel << 24) & 0x00ff_00ff_00ff_00ff
}

/// Interpolates all four lanes. The share of `b` is `weight` / 256.
#[inline(always)]
fn lerp(a: u64, b: u64, weight: u64) -> u64 {
    // `sum` is a·(256 − weight) + b·weight, computed with one multiplication. `b − a` may borrow
    // from the neighbouring lane, but the sum as a whole is exact, so the borrow cancels out.
    let sum = (a << 8).wrapping_add(b.wrapping_sub(a).wrapping_mul(weight));
    (sum >> 8) & 0x00ff_00ff_00ff_00ff
}

impl Floats for f32x8 {
    type Ints = i32x8;

    #[inline(always)]
    fn splat(value: f32) -> f32x8 {
        f32x8::splat(value)
    }
    #[inline(always)]
    fn from_array(values: [f32; LANES]) -> f32x8 {
        f32x8::from(values)
    }
    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        self.to_array()
    }
    #[inline(always)]
    fn max(self, other: f32x8) -> f32x8 {
        self.fast_max(other)
    }
    #[inline(always)]
    fn min(self, other: f32x8) -> f32x8 {
        self.fast_min(other)
    }
    #[inline(always)]
    fn sqrt(self) -> f32x8 {
        self.sqrt()
    }
    #[inline(always)]
    fn truncated(self) -> i32x8 {
        self.fast_trunc_int()
    }
    #[inline(always)]
    fn greater(self, other: f32x8) -> i32x8 {
        bytemuck::cast::<f32x8, i32x8>(self.simd_gt(other))
    }
    #[inline(always)]
    fn select(self, mask: i32x8, other: f32x8) -> f32x8 {
        bytemuck::cast::<i32x8, f32x8>(mask).bitselect(self, other)
    }
    #[inline(always)]
    fn bits(self) -> i32x8 {
        bytemuck::cast(self)
    }
    #[inline(always)]
    fn from_bits(bits: i32x8) -> f32x8 {
        bytemuck::cast(bits)
    }
}

impl Ints for i32x8 {
    type Floats = f32x8;

    #[inline(always)]
    fn splat(value: i32) -> i32x8 {
        i32x8::splat(value)
    }
    #[inline(always)]
    fn from_array(values: [i32; LANES]) -> i32x8 {
        i32x8::from(values)
    }
    #[inline(always)]
    fn to_array(self) -> [i32; LANES] {
        self.to_array()
    }
    #[inline(always)]
    fn shl<const N: i32>(self) -> i32x8 {
        self << N
    }
    #[inline(always)]
    fn shr<const N: i32>(self) -> i32x8 {
        self >> N
    }
    #[inline(always)]
    fn equal(self, other: i32x8) -> i32x8 {
        self.simd_eq(other)
    }
    #[inline(always)]
    fn not_negative(self) -> i32x8 {
        self.simd_gt(i32x8::splat(-1))
    }
    #[inline(always)]
    fn select(self, mask: i32x8, other: i32x8) -> i32x8 {
        mask.bitselect(self, other)
    }
    #[inline(always)]
    fn signs(self) -> u32 {
        self.to_bitmask()
    }
    #[inline(always)]
    fn floats(self) -> f32x8 {
        f32x8::from_i32x8(self)
    }
}
