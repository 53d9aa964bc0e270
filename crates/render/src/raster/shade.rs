//! Computes the colour of pixels: texture, light, and conversion to eight bits.
//!
//! Eight-bit values are squared to get linear light, and linear light is converted back with a
//! square root. This is close to the sRGB curve, and both operations give the same bits on every
//! machine.

use super::TILE;
use super::compiled::Compiled;
use super::lanes::{LANES, columns};
use super::setup::{Plane, Setup, Surface, triangle_by_id};
use crate::simd::{Floats, Ints, Samples, Simd};
use crate::texture::{Level, Texture};

/// Maximum number of anisotropic texture samples per pixel.
const MAX_TAPS: f32 = 4.0;
/// Half a texel, in 1/65536 of a texel.
const HALF_TEXEL: i32 = 32768;
/// [`Lines`] has one lane for each group in two rows of a tile.
const _: () = assert!(2 * TILE / LANES == LANES);

/// A triangle prepared for shading its pixels in one tile.
pub(super) struct Shader<'a> {
    surface: &'a Surface,
    texture: Option<&'a Texture>,
    /// The planes of the triangle: value at the tile's first pixel, change per column and per row.
    /// Planes that the triangle does not need are 0.
    values: [[f32; 3]; 6],
    /// Smallest and largest 1/w of the triangle.
    nearness: [f32; 2],
    /// Incoming plus emitted light, if all corners of the triangle have the same light; otherwise
    /// `None`.
    even_light: Option<[f32; 3]>,
    /// Cache of the lines of two neighbouring rows, with one lane for each group of each row.
    lines: Lines,
}

/// How a texture is sampled at the middle pixels of the groups of two rows: the mipmap level, and the
/// line along which samples are taken.
struct Lines {
    /// Index of the upper row, or `usize::MAX` before the first use.
    row: usize,
    /// The mipmap level, before it is limited to the levels that exist.
    level: [i32; LANES],
    /// Binary logarithm of the number of samples.
    log_taps: [i32; LANES],
    /// Offset from sample to sample, in 1/65536 of a texel.
    step: [[i32; LANES]; 2],
    /// Offset that is subtracted from the position of a pixel to get its first sample, in 1/65536
    /// of a texel.
    back: [[i32; LANES]; 2],
    /// Not finite if the numbers above are not valid.
    sum: [f32; LANES],
}

const NO_LINES: Lines = Lines {
    row: usize::MAX,
    level: [0; LANES],
    log_taps: [0; LANES],
    step: [[0; LANES]; 2],
    back: [[0; LANES]; 2],
    sum: [0.0; LANES],
};

/// The part of [`Lines`] for one group.
struct Footprint<'a> {
    level: &'a Level,
    log_taps: u32,
    step: [i32; 2],
    back: [i32; 2],
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
        let mut values = [[0.0; 3]; 6];
        let is_used = [true, texture.is_some(), even_light.is_none()];
        for (n, value) in values.iter_mut().enumerate() {
            // Value 0 is 1/w, the values 1 and 2 are for the texture, and the others for the light.
            if is_used[n.div_ceil(2).min(2)] {
                *value = at(&triangle.planes[n]);
            }
        }
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

    /// Computes [`Lines`]. A texture seen at a grazing angle is sampled several times along the
    /// direction in which the texture is most compressed (anisotropic filtering).
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
        // Derivatives of u and v by column (x) and by row (y).
        let (ux, uy) = ((u[1] - u_here * nearness[1]) * w, (u[2] - u_here * nearness[2]) * w);
        let (vx, vy) = ((v[1] - v_here * nearness[1]) * w, (v[2] - v_here * nearness[2]) * w);
        let by_column = ux * width * (ux * width) + vx * height * (vx * height);
        let by_row = uy * width * (uy * width) + vy * height * (vy * height);
        let by_columns = by_column.greater(by_row);
        let along = [ux.select(by_columns, uy), vx.select(by_columns, vy)];
        let long = by_column.max(by_row).max(splat(1e-12)).sqrt();
        let area = ux * vy - uy * vx;
        let short = area.max(-area) * width * height / long;
        let taps = (long / short.max(splat(1e-6))).max(splat(1.0)).min(splat(MAX_TAPS));
        // A lane that is set in a mask is −1.
        let (few, some) = (splat(1.5).greater(taps), splat(3.0).greater(taps));
        // Distance from sample to sample, texels.
        let spread = (long / taps).max(short).max(splat(1e-6)).min(splat(1e6));
        let level = halvings::<S>(spread);
        // 2⁻ˡᵉᵛᵉˡ, by its exponent. Levels beyond the last one have the size of the last one.
        let scale = S::Floats::from_bits((S::Ints::splat(127) - level).shl::<23>());
        let (u_line, v_line) =
            (line::<S>(along[0], width * scale, few, some), line::<S>(along[1], height * scale, few, some));
        Lines {
            row,
            level: level.to_array(),
            log_taps: (S::Ints::splat(2) + few + some).to_array(),
            step: [u_line.0.to_array(), v_line.0.to_array()],
            back: [u_line.1.to_array(), v_line.1.to_array()],
            sum: (by_column + by_row).to_array(),
        }
    }

    /// The footprint of the middle pixel of a group. If it cannot be computed, the texture is sampled
    /// once, at its coarsest level.
    #[inline(always)]
    fn footprint<'t, S: Simd>(&mut self, texture: &'t Texture, group: usize, row: usize) -> Footprint<'t> {
        if self.lines.row != row & !1 {
            self.lines = self.lines::<S>(texture.size(), row & !1);
        }
        let (l, lines) = ((row & 1) * LANES / 2 + group, &self.lines);
        if !lines.sum[l].is_finite() {
            let level = texture.level(usize::MAX);
            return Footprint { level, log_taps: 0, step: [0, 0], back: [HALF_TEXEL, HALF_TEXEL] };
        }
        Footprint {
            level: texture.level(lines.level[l] as usize),
            log_taps: lines.log_taps[l] as u32,
            step: [lines.step[0][l], lines.step[1][l]],
            back: [lines.back[0][l], lines.back[1][l]],
        }
    }

    /// Colours of a texture at eight pixels: red, green, blue and alpha, 0..1 each. All eight
    /// pixels use the footprint of the middle pixel, because the computation of eight footprints
    /// would take more time.
    #[inline(always)]
    fn texels<S: Simd>(
        &mut self,
        texture: &Texture,
        group: usize,
        row: usize,
        w: S::Floats,
        mask: u32,
    ) -> [S::Floats; 4] {
        let f = self.footprint::<S>(texture, group, row);
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

    /// Linear colour and opacity of eight pixels. Only the pixels in the mask are valid.
    #[inline(always)]
    pub(super) fn shaded<S: Simd>(
        &mut self,
        group: usize,
        row: usize,
        mask: u32,
    ) -> ([S::Floats; 3], S::Floats) {
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

    /// Blends the pixels in the mask over the colours in `to`. `visible` is the share of each pixel
    /// in which no opaque triangle is nearer, 0..1.
    #[inline(always)]
    pub(super) fn blend_into<S: Compiled>(
        &mut self,
        group: usize,
        row: usize,
        mask: u32,
        visible: S::Floats,
        to: &mut [[u8; 4]],
    ) {
        let (colour, cover) = S::shaded(self, group, row, mask);
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
#[inline(always)]
fn halvings<S: Simd>(spread: S::Floats) -> S::Ints {
    // Half the exponent of 2·spread² is log2(spread) rounded to the nearest integer.
    let exponent = (S::Floats::splat(2.0) * spread * spread).bits().shr::<23>() - S::Ints::splat(127);
    let half = exponent.shr::<1>();
    half & half.not_negative()
}

/// One coordinate of the offsets `step` and `back` of [`Lines`]. `along` is the change of the
/// coordinate along the whole line, and `size` the size of the mipmap level in texels. `few` is set
/// in lanes with one sample, and `some` in lanes with one or two.
#[inline(always)]
fn line<S: Simd>(along: S::Floats, size: S::Floats, few: S::Ints, some: S::Ints) -> (S::Ints, S::Ints) {
    // A level is at least one texel wide. The limit keeps the length in the range of `i32`.
    let limit = S::Floats::splat((1 << 30) as f32);
    let length = along * (size.max(S::Floats::splat(1.0)) * S::Floats::splat(65536.0));
    let whole = length.min(limit).max(-limit).truncated();
    let step = whole.select(few, whole.shr::<1>().select(some, whole.shr::<2>()));
    // The first sample is half a step from the end of the line. The half texel is needed because
    // `Samples::sampled` counts from the centre of the first texel.
    (step, half::<S>(whole) - half::<S>(step) + S::Ints::splat(HALF_TEXEL))
}

/// Half of a number, rounded towards zero.
#[inline(always)]
fn half<S: Simd>(v: S::Ints) -> S::Ints {
    (v - v.shr::<31>()).shr::<1>()
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
    use crate::simd::Portable;
    use wide::f32x8;

    #[test]
    fn mipmap_level_is_the_rounded_logarithm() {
        for (spread, want) in
            [(0.1, 0), (1.0, 0), (1.41, 0), (1.42, 1), (2.0, 1), (2.82, 1), (2.84, 2), (1e6, 20)]
        {
            let found = halvings::<Portable>(f32x8::splat(spread));
            assert_eq!(found.to_array(), [want; LANES], "{spread}");
        }
    }
}
