//! Computes the colour of pixels: texture, light, and conversion to eight bits.
//!
//! Eight-bit values are squared to get linear light, and linear light is converted back with a
//! square root. This is close to the sRGB curve, and both operations give the same bits on every
//! machine.

use super::TILE;
use super::lanes::{LANES, columns};
use super::setup::{Plane, Setup, Surface, triangle_by_id};
use crate::simd::{Floats, Ints, Samples, Simd};
use crate::texture::{Level, Texture};

/// Maximum number of anisotropic texture samples per pixel.
const MAX_TAPS: f32 = 4.0;
/// [`Lines`] has one lane for each group in two rows of a tile.
const _: () = assert!(2 * TILE / LANES == LANES);

/// A triangle prepared for shading its pixels in one tile.
pub(super) struct Shader<'a> {
    surface: &'a Surface,
    texture: Option<&'a Texture>,
    /// The planes of the triangle: value at the tile's first pixel, change per column and per row.
    values: [[f32; 3]; 6],
    /// Smallest and largest 1/w of the triangle.
    nearness: [f32; 2],
    /// Incoming plus emitted light, if all corners of the triangle have the same light; otherwise
    /// `None`.
    even_light: Option<[f32; 3]>,
    /// Cache of the lines of two neighbouring rows, with one lane for each group of each row.
    lines: Lines,
}

/// The lines along which a texture is sampled at the middle pixels of the groups of two rows.
struct Lines {
    /// Index of the upper row, or `usize::MAX` before the first use.
    row: usize,
    /// Change of u and v along the line, from one end to the other.
    along: [[f32; LANES]; 2],
    /// Length of the line divided by the width of the pixel in the texture: 1 to `MAX_TAPS`.
    taps: [f32; LANES],
    /// Distance from sample to sample, texels.
    spread: [f32; LANES],
    /// Not finite if the numbers above are not valid.
    sum: [f32; LANES],
}

const NO_LINES: Lines = Lines {
    row: usize::MAX,
    along: [[0.0; LANES]; 2],
    taps: [0.0; LANES],
    spread: [0.0; LANES],
    sum: [0.0; LANES],
};

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

impl<'t> Footprint<'t> {
    /// `along` is the change of u and v along the line. `spread` is the number of texels from
    /// sample to sample.
    #[inline(always)]
    fn new(texture: &'t Texture, along: [f32; 2], taps: f32, spread: f32) -> Footprint<'t> {
        let log_taps = u32::from(taps >= 1.5) + u32::from(taps >= 3.0);
        let level = texture.level(halvings(spread));
        let fixed_size = level.fixed_size();
        let whole = [(along[0] * fixed_size[0]) as i32, (along[1] * fixed_size[1]) as i32];
        let step = [whole[0] >> log_taps, whole[1] >> log_taps];
        // The first sample is half a step from the end of the line. The summand 32768 is half a
        // texel. It is needed because `Samples::sampled` counts from the centre of the first texel.
        let back = |i: usize| (whole[i] / 2).wrapping_sub(step[i] / 2).wrapping_add(32768);
        Footprint { level, log_taps, step, back: [back(0), back(1)] }
    }
}

impl<'a> Shader<'a> {
    #[inline(always)]
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
        let values = [0, 1, 2, 3, 4, 5].map(|n| at(&triangle.planes[n]));
        Shader { surface, texture, values, nearness: triangle.nearness, even_light, lines: NO_LINES }
    }

    /// Value `n` of [`Self::values`] at the columns `x` of a row of the tile.
    #[inline(always)]
    fn value<S: Simd>(&self, n: usize, x: S::Floats, row: usize) -> S::Floats {
        let [base, a, b] = self.values[n];
        S::Floats::splat(base + b * row as f32) + S::Floats::splat(a) * x
    }

    /// Distance along the view axis at the columns `x` of a row of the tile. Outside of the
    /// triangle, the distance is clamped to the distances of the nearest and the farthest corner.
    #[inline(always)]
    fn distance<S: Simd>(&self, x: S::Floats, row: usize) -> S::Floats {
        let [low, high] = self.nearness;
        let near = self.value::<S>(0, x, row).max(S::Floats::splat(low)).min(S::Floats::splat(high));
        S::Floats::splat(1.0) / near
    }

    /// The footprint of a pixel. A texture seen at a grazing angle is sampled several times along
    /// the direction in which the texture is most compressed (anisotropic filtering).
    fn footprint<'t>(&self, texture: &'t Texture, column: f32, row: usize) -> Footprint<'t> {
        let (width, height) = texture.size();
        let value = |n: usize| {
            let [base, a, b] = self.values[n];
            base + b * row as f32 + a * column
        };
        let w = 1.0 / value(0).max(self.nearness[0]).min(self.nearness[1]);
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
        Footprint::new(texture, along, taps, (long / taps).max(short).clamp(1e-6, 1e6))
    }

    /// Computes [`Lines`]: the same numbers as [`Self::footprint`], for eight pixels at once.
    #[inline(always)]
    fn lines<S: Simd>(&self, (width, height): (f32, f32), row: usize) -> Lines {
        let splat = S::Floats::splat;
        let (width, height) = (splat(width), splat(height));
        let column = S::Floats::from_array([4.0, 12.0, 20.0, 28.0, 4.0, 12.0, 20.0, 28.0]);
        let (upper, lower) = (row as f32, (row + 1) as f32);
        let rows = S::Floats::from_array([upper, upper, upper, upper, lower, lower, lower, lower]);
        let nearness = splatted::<S>(self.values[0]);
        let (u, v) = (splatted::<S>(self.values[1]), splatted::<S>(self.values[2]));
        let [low, high] = self.nearness;
        let near = (nearness[0] + nearness[2] * rows + nearness[1] * column).max(splat(low)).min(splat(high));
        let w = splat(1.0) / near;
        let (u_here, v_here) =
            ((u[0] + u[2] * rows + u[1] * column) * w, (v[0] + v[2] * rows + v[1] * column) * w);
        let (ux, uy) = ((u[1] - u_here * nearness[1]) * w, (u[2] - u_here * nearness[2]) * w);
        let (vx, vy) = ((v[1] - v_here * nearness[1]) * w, (v[2] - v_here * nearness[2]) * w);
        let by_column = ux * width * (ux * width) + vx * height * (vx * height);
        let by_row = uy * width * (uy * width) + vy * height * (vy * height);
        let by_columns = by_column.greater(by_row);
        let long = by_column.max(by_row).max(splat(1e-12)).sqrt();
        let area = ux * vy - uy * vx;
        let short = area.max(-area) * width * height / long;
        let taps = (long / short.max(splat(1e-6))).max(splat(1.0)).min(splat(MAX_TAPS));
        Lines {
            row,
            along: [ux.select(by_columns, uy).to_array(), vx.select(by_columns, vy).to_array()],
            taps: taps.to_array(),
            spread: (long / taps).max(short).max(splat(1e-6)).min(splat(1e6)).to_array(),
            sum: (by_column + by_row).to_array(),
        }
    }

    /// The footprint of the middle pixel of a group.
    #[inline(always)]
    fn middle_footprint<'t, S: Simd>(
        &mut self,
        texture: &'t Texture,
        group: usize,
        row: usize,
    ) -> Footprint<'t> {
        if self.lines.row != row & !1 {
            self.lines = self.lines::<S>(texture.size(), row & !1);
        }
        let (l, lines) = ((row & 1) * LANES / 2 + group, &self.lines);
        if !lines.sum[l].is_finite() {
            return self.footprint(texture, (group * LANES + LANES / 2) as f32, row);
        }
        Footprint::new(texture, [lines.along[0][l], lines.along[1][l]], lines.taps[l], lines.spread[l])
    }

    /// Colours of a texture at eight pixels: red, green, blue and alpha, 0..1 each. All eight
    /// pixels use one footprint, because the computation of eight footprints would take more time.
    /// This is the footprint of the middle pixel, or of the first pixel in the mask if the middle
    /// pixel is not in the mask.
    #[inline(always)]
    fn texels<S: Simd>(
        &mut self,
        texture: &Texture,
        group: usize,
        row: usize,
        w: S::Floats,
        mask: u32,
    ) -> [S::Floats; 4] {
        let f = if mask >> (LANES / 2) & 1 == 1 {
            self.middle_footprint::<S>(texture, group, row)
        } else {
            self.footprint(texture, (group * LANES + mask.trailing_zeros() as usize) as f32, row)
        };
        let x = columns::<S>(group);
        let fixed_size = f.level.fixed_size();
        let u = fraction::<S>(self.value::<S>(1, x, row) * w) * S::Floats::splat(fixed_size[0]);
        let v = fraction::<S>(self.value::<S>(2, x, row) * w) * S::Floats::splat(fixed_size[1]);
        let place = [u.truncated() - S::Ints::splat(f.back[0]), v.truncated() - S::Ints::splat(f.back[1])];
        let samples = Samples {
            texels: texture.texels(f.level),
            size: f.level.size(),
            step: f.step,
            log_taps: f.log_taps,
        };
        let part = S::Floats::splat(1.0 / (4.0 * 255.0));
        let [red, green, blue, alpha] = S::sampled(&samples, place, mask);
        [red.floats() * part, green.floats() * part, blue.floats() * part, alpha.floats() * part]
    }

    /// Light of a channel at eight pixels. `n` is the index of its plane.
    #[inline(always)]
    fn lit<S: Simd>(&self, n: usize, x: S::Floats, row: usize, w: S::Floats) -> S::Floats {
        (self.value::<S>(n, x, row) * w).max(S::Floats::splat(0.0))
            + S::Floats::splat(self.surface.emissive[n - 3])
    }

    /// Linear colour and opacity of eight pixels.
    #[inline(always)]
    fn shaded<S: Simd>(&mut self, group: usize, row: usize, mask: u32) -> ([S::Floats; 3], S::Floats) {
        let x = columns::<S>(group);
        let w = self.distance::<S>(x, row);
        let opacity = S::Floats::splat(self.surface.opacity);
        let [r, g, b] = match self.even_light {
            Some(light) => splatted::<S>(light),
            None => [self.lit::<S>(3, x, row, w), self.lit::<S>(4, x, row, w), self.lit::<S>(5, x, row, w)],
        };
        match self.texture {
            None => ([r, g, b], opacity),
            Some(texture) => {
                let [tr, tg, tb, ta] = self.texels::<S>(texture, group, row, w, mask);
                let colour = [tr * tr * r, tg * tg * g, tb * tb * b];
                (colour, if self.surface.blended { opacity * ta } else { opacity })
            }
        }
    }

    /// Linear colours of eight pixels. Only the pixels in the mask are valid.
    #[inline(always)]
    pub(super) fn shaded_colours<S: Simd>(&mut self, group: usize, row: usize, mask: u32) -> [S::Floats; 3] {
        self.shaded::<S>(group, row, mask).0
    }

    /// Blends the pixels in the mask over the colours in `to`. `visible` is the share of each pixel
    /// in which no opaque triangle is nearer, 0..1.
    #[inline(always)]
    pub(super) fn blend_into<S: Simd>(
        &mut self,
        group: usize,
        row: usize,
        mask: u32,
        visible: S::Floats,
        to: &mut [[u8; 4]],
    ) {
        let (colour, cover) = self.shaded::<S>(group, row, mask);
        let cover = (cover * visible).to_array();
        let colour = [colour[0].to_array(), colour[1].to_array(), colour[2].to_array()];
        for (l, pixel) in to.iter_mut().enumerate().filter(|(l, _)| mask >> l & 1 == 1) {
            for c in 0..3 {
                let old = f32::from(pixel[c]) / 255.0;
                let linear = old * old + (colour[c][l].min(1.0) - old * old) * cover[l];
                pixel[c] = (linear.max(0.0).sqrt() * 255.0 + 0.5) as u8;
            }
        }
    }
}

#[inline(always)]
fn splatted<S: Simd>([a, b, c]: [f32; 3]) -> [S::Floats; 3] {
    [S::Floats::splat(a), S::Floats::splat(b), S::Floats::splat(c)]
}

/// The fractional part of `v`: −1..1, with the sign of `v`. The integer part does not matter,
/// because textures repeat.
#[inline(always)]
fn fraction<S: Simd>(v: S::Floats) -> S::Floats {
    // The values are clamped, so that they fit into integers. Larger values have no useful
    // fractional part.
    let limit = S::Floats::splat(1e6);
    let v = v.min(limit).max(-limit);
    v - v.truncated().floats()
}

/// The mipmap level for a step of `spread` texels per pixel: log2(spread), rounded, at least 0.
fn halvings(spread: f32) -> usize {
    // Half the exponent of 2·spread² is log2(spread) rounded to the nearest integer.
    let exponent = ((2.0 * spread * spread).to_bits() >> 23) as i32 - 127;
    (exponent.div_euclid(2)).max(0) as usize
}

/// Converts eight linear colours to bytes.
#[inline(always)]
pub(super) fn to_pixels<S: Simd>([r, g, b]: [S::Floats; 3]) -> [[u8; 4]; LANES] {
    let (r, g, b) = (to_bytes::<S>(r), to_bytes::<S>(g), to_bytes::<S>(b));
    let packed = r | g.shl::<8>() | b.shl::<16>() | S::Ints::splat(255 << 24);
    // The bytes are little-endian on every machine, so that red is the first byte.
    packed.to_array().map(|p| p.to_le_bytes())
}

/// Clamps linear light to 0..1.
#[inline(always)]
pub(super) fn clamped<S: Simd>(linear: S::Floats) -> S::Floats {
    linear.max(S::Floats::splat(0.0)).min(S::Floats::splat(1.0))
}

#[inline(always)]
fn to_bytes<S: Simd>(linear: S::Floats) -> S::Ints {
    let root = clamped::<S>(linear).sqrt();
    (root * S::Floats::splat(255.0) + S::Floats::splat(0.5)).truncated()
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
