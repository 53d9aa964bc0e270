//! Computes the colour of pixels: texture, light, and conversion to eight bits.
//!
//! Eight-bit values are squared to get linear light, and linear light is converted back with a
//! square root. This is close to the sRGB curve, and both operations give the same bits on every
//! machine.

use super::lanes::{LANES, columns};
use super::setup::{Plane, Setup, Surface, triangle_by_id};
use crate::texture::{Level, Texture};
use wide::{f32x8, i32x8};

/// Maximum number of anisotropic texture samples per pixel.
const MAX_TAPS: f32 = 4.0;

/// A triangle prepared for shading its pixels in one tile.
pub(super) struct Shader<'a> {
    surface: &'a Surface,
    texture: Option<&'a Texture>,
    /// The planes of the triangle: value at the tile's first pixel, change per column and per row.
    values: [[f32; 3]; 6],
    /// Incoming plus emitted light, if all corners of the triangle have the same light; otherwise
    /// `None`.
    even_light: Option<[f32; 3]>,
}

/// How a texture is sampled at a pixel: the mipmap level, and the line along which samples are
/// taken.
struct Footprint<'a> {
    level: &'a Level,
    /// Binary logarithm of the number of samples.
    log_taps: u32,
    /// Offset from sample to sample, in 1/65536 of a texel.
    step: [i32; 2],
    /// Offset that is subtracted from the position of a pixel to get its first sample, in 1/65536
    /// of a texel.
    back: [i32; 2],
}

impl<'a> Shader<'a> {
    pub(super) fn new(
        parts: &'a [Setup],
        textures: &'a [Texture],
        index: u32,
        x0: usize,
        y0: usize,
    ) -> Shader<'a> {
        let (triangle, surface) = triangle_by_id(parts, index);
        let at = |p: &Plane| [(p.a * x0 as f64 + p.b * y0 as f64 + p.c) as f32, p.a as f32, p.b as f32];
        let texture = surface.texture.and_then(|t| textures.get(t as usize));
        let lit = |light: [f32; 3]| std::array::from_fn(|c| light[c].max(0.0) + surface.emissive[c]);
        let even_light = triangle.even_light.map(lit);
        Shader { surface, texture, values: [0, 1, 2, 3, 4, 5].map(|n| at(&triangle.planes[n])), even_light }
    }

    /// Value `n` of [`Self::values`] at the columns `x` of a row of the tile.
    #[inline]
    fn value(&self, n: usize, x: f32x8, row: usize) -> f32x8 {
        let [base, a, b] = self.values[n];
        f32x8::splat(base + b * row as f32) + f32x8::splat(a) * x
    }

    /// The footprint of a pixel. A texture seen at a grazing angle is sampled several times along
    /// the direction in which the texture is most compressed (anisotropic filtering).
    fn footprint<'t>(&self, texture: &'t Texture, column: f32, row: usize) -> Footprint<'t> {
        let (width, height) = texture.size();
        let value = |n: usize| {
            let [base, a, b] = self.values[n];
            base + b * row as f32 + a * column
        };
        let w = 1.0 / value(0);
        let (u, v) = (value(1) * w, value(2) * w);
        let change =
            |n: usize, value: f32, axis: usize| (self.values[n][axis] - value * self.values[0][axis]) * w;
        // Derivatives of u and v by column (x) and by row (y).
        let (ux, uy) = (change(1, u, 1), change(1, u, 2));
        let (vx, vy) = (change(2, v, 1), change(2, v, 2));
        let length2 = |du: f32, dv: f32| du * width * (du * width) + dv * height * (dv * height);
        let (by_column, by_row) = (length2(ux, vx), length2(uy, vy));
        let along = if by_column > by_row { [ux, vx] } else { [uy, vy] };
        let long = by_column.max(by_row).max(1e-12).sqrt();
        let short = (ux * vy - uy * vx).abs() * width * height / long;
        let taps = (long / short.max(1e-6)).clamp(1.0, MAX_TAPS);
        let log_taps = u32::from(taps >= 1.5) + u32::from(taps >= 3.0);
        let level = texture.level(halvings((long / taps).max(short).clamp(1e-6, 1e6)));
        let fixed_size = level.fixed_size();
        let whole = [(along[0] * fixed_size[0]) as i32, (along[1] * fixed_size[1]) as i32];
        let step = [whole[0] >> log_taps, whole[1] >> log_taps];
        // The first sample is half a step from the end of the line. The summand 32768 is half a
        // texel. It is needed because `Texture::sampled` counts from the centre of the first texel.
        let back = |i: usize| (whole[i] / 2).wrapping_sub(step[i] / 2).wrapping_add(32768);
        Footprint { level, log_taps, step, back: [back(0), back(1)] }
    }

    /// Colours of a texture at eight pixels: red, green, blue and alpha, 0..1 each. All eight
    /// pixels use the footprint of one pixel in the middle, because the computation of eight
    /// footprints would take more time.
    #[inline]
    fn texels(&self, texture: &Texture, group: usize, row: usize, w: f32x8, mask: u32) -> [f32x8; 4] {
        let middle = if mask >> (LANES / 2) & 1 == 1 { LANES / 2 } else { mask.trailing_zeros() as usize };
        let f = self.footprint(texture, (group * LANES + middle) as f32, row);
        let x = columns(group);
        let fixed_size = f.level.fixed_size();
        let first = |n: usize, i: usize| {
            let at = fraction(self.value(n, x, row) * w) * f32x8::splat(fixed_size[i]);
            (at.fast_trunc_int() - i32x8::splat(f.back[i])).to_array()
        };
        let (x, y) = (first(1, 0), first(2, 1));
        let (mut red, mut green, mut blue, mut alpha) = ([0; LANES], [0; LANES], [0; LANES], [0; LANES]);
        for l in 0..LANES {
            if mask >> l & 1 == 0 {
                continue;
            }
            let sum = texture.sampled(f.level, [x[l], y[l]], f.step, f.log_taps);
            red[l] = (sum & 0xffff) as i32;
            green[l] = (sum >> 16 & 0xffff) as i32;
            blue[l] = (sum >> 32 & 0xffff) as i32;
            alpha[l] = (sum >> 48) as i32;
        }
        let part = f32x8::splat(1.0 / (4.0 * 255.0));
        let channel = |sums: [i32; LANES]| f32x8::from_i32x8(i32x8::from(sums)) * part;
        [channel(red), channel(green), channel(blue), channel(alpha)]
    }

    /// Linear colour and opacity of eight pixels.
    #[inline]
    fn shaded(&self, group: usize, row: usize, mask: u32) -> ([f32x8; 3], f32x8) {
        let x = columns(group);
        let w = f32x8::splat(1.0) / self.value(0, x, row);
        let opacity = f32x8::splat(self.surface.opacity);
        let lit = |n: usize, c: usize| {
            (self.value(n, x, row) * w).fast_max(f32x8::ZERO) + f32x8::splat(self.surface.emissive[c])
        };
        let (r, g, b) = match self.even_light {
            Some([r, g, b]) => (f32x8::splat(r), f32x8::splat(g), f32x8::splat(b)),
            None => (lit(3, 0), lit(4, 1), lit(5, 2)),
        };
        match self.texture {
            None => ([r, g, b], opacity),
            Some(texture) => {
                let [tr, tg, tb, ta] = self.texels(texture, group, row, w, mask);
                let colour = [tr * tr * r, tg * tg * g, tb * tb * b];
                (colour, if self.surface.blended { opacity * ta } else { opacity })
            }
        }
    }

    /// Colours of eight pixels. Only the pixels in the mask are valid.
    pub(super) fn colours(&self, group: usize, row: usize, mask: u32) -> [[u8; 4]; LANES] {
        to_pixels(self.shaded(group, row, mask).0)
    }

    /// Blends the pixels in the mask over the colours in `to`.
    pub(super) fn blend_into(&self, group: usize, row: usize, mask: u32, to: &mut [[u8; 4]]) {
        let (colour, cover) = self.shaded(group, row, mask);
        let cover = cover.to_array();
        let colour = colour.map(f32x8::to_array);
        for (l, pixel) in to.iter_mut().enumerate().filter(|(l, _)| mask >> l & 1 == 1) {
            for c in 0..3 {
                let old = f32::from(pixel[c]) / 255.0;
                let linear = old * old + (colour[c][l].min(1.0) - old * old) * cover[l];
                pixel[c] = (linear.max(0.0).sqrt() * 255.0 + 0.5) as u8;
            }
        }
    }
}

/// The fractional part of `v`: −1..1, with the sign of `v`. The integer part does not matter,
/// because textures repeat.
#[inline]
fn fraction(v: f32x8) -> f32x8 {
    // Clamp to the range of `fast_trunc_int`. Larger values have no useful fractional part.
    let limit = f32x8::splat(1e6);
    let v = v.fast_min(limit).fast_max(-limit);
    v - f32x8::from_i32x8(v.fast_trunc_int())
}

/// The mipmap level for a step of `spread` texels per pixel: log2(spread), rounded, at least 0.
fn halvings(spread: f32) -> usize {
    // Half the exponent of 2·spread² is log2(spread) rounded to the nearest integer.
    let exponent = ((2.0 * spread * spread).to_bits() >> 23) as i32 - 127;
    (exponent.div_euclid(2)).max(0) as usize
}

/// Converts eight linear colours to bytes.
#[inline]
pub(super) fn to_pixels([r, g, b]: [f32x8; 3]) -> [[u8; 4]; LANES] {
    let packed = to_bytes(r) | (to_bytes(g) << 8i32) | (to_bytes(b) << 16i32) | i32x8::splat(255 << 24);
    // The bytes are little-endian on every machine, so that red is the first byte.
    packed.to_array().map(|p| p.to_le_bytes())
}

#[inline]
fn to_bytes(linear: f32x8) -> i32x8 {
    let root = linear.fast_max(f32x8::ZERO).fast_min(f32x8::splat(1.0)).sqrt();
    (root * f32x8::splat(255.0) + f32x8::splat(0.5)).fast_trunc_int()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mipmap_level_is_the_rounded_logarithm() {
        for (spread, want) in
            [(0.1, 0), (1.0, 0), (1.41, 0), (1.42, 1), (2.0, 1), (2.82, 1), (2.84, 2), (1e6, 20)]
        {
            assert_eq!(halvings(spread), want, "{spread}");
        }
    }
}
