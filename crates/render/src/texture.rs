//! Textures in the format of the rasteriser: mipmaps with sides that are powers of two. The first
//! row is the bottom row, so that v grows from row to row.

use crate::image::{Image, has_transparency};
use std::sync::Arc;

/// Longest side of a texture, texels. Larger pictures are scaled down.
pub(crate) const MAX_SIDE: usize = 2048;

/// A texture with its mipmap levels. Clones share the texels.
#[derive(Debug, Clone)]
pub(crate) struct Texture {
    /// The texels of all levels, row by row, with red in the lowest byte. The first texel of a row is
    /// repeated at the end of the row, so that each texel is followed by its right neighbour.
    texels: Arc<[u32]>,
    levels: Vec<Level>,
    /// Whether the texture has transparent texels.
    pub(crate) has_transparency: bool,
}

/// One mipmap level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    /// Index of the level's first texel in [`Texture::texels`].
    first: usize,
    width: usize,
    height: usize,
    /// Width and height of the level, in 1/65536 of a texel.
    fixed_size: [f32; 2],
}

impl Texture {
    /// Makes a texture from a picture of any size. No side is longer than `max_side` texels. A
    /// picture with too few pixels for its size, or with none, becomes a grey texture.
    pub(crate) fn new(image: &Image, max_side: usize) -> Texture {
        if image.width == 0 || image.height == 0 || image.pixels.len() < image.width * image.height {
            return Texture::new(&Image::filled(1, 1, [200, 200, 200, 255]), max_side);
        }
        let side = |n: usize| n.next_power_of_two().min(max_side.max(1));
        let (mut width, mut height) = (side(image.width), side(image.height));
        let mut level = resampled(image, width, height);
        let has_transparency = has_transparency(&level);
        let (mut texels, mut levels) = (Vec::new(), Vec::new());
        loop {
            let fixed_size = [(width * 65536) as f32, (height * 65536) as f32];
            levels.push(Level { first: texels.len(), width, height, fixed_size });
            for row in level.chunks_exact(width) {
                texels.extend(row.iter().chain(&row[..1]).map(|p| u32::from_le_bytes(*p)));
            }
            if width == 1 && height == 1 {
                break;
            }
            level = half_size(&level, width, height);
            (width, height) = ((width / 2).max(1), (height / 2).max(1));
        }
        Texture { texels: texels.into(), levels, has_transparency }
    }

    /// Width and height of the finest level, texels.
    pub(crate) fn size(&self) -> (f32, f32) {
        (self.levels[0].width as f32, self.levels[0].height as f32)
    }

    /// Memory of the texels, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.texels.len() * 4
    }

    /// Mipmap level `n`, where 0 is the finest. If there are fewer levels, the coarsest is
    /// returned.
    pub(crate) fn level(&self, n: usize) -> &Level {
        &self.levels[n.min(self.levels.len() - 1)]
    }

    /// The texels of a level of this texture, in rows of one texel more than the width.
    #[inline(always)]
    pub(crate) fn texels(&self, level: &Level) -> &[u32] {
        &self.texels[level.first..level.first + (level.width + 1) * level.height]
    }
}

impl Level {
    /// Width and height of the level, texels.
    #[inline(always)]
    pub(crate) fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// Width and height of the level, in 1/65536 of a texel.
    pub(crate) fn fixed_size(&self) -> [f32; 2] {
        self.fixed_size
    }
}

/// Scales a picture and reverses the order of its rows. Pixels are averaged along an axis that gets
/// shorter, and interpolated along an axis that gets longer.
fn resampled(image: &Image, width: usize, height: usize) -> Vec<[u8; 4]> {
    let across = source_weights(image.width, width);
    let down = source_weights(image.height, height);
    let mut out = Vec::with_capacity(width * height);
    for row in down.iter().rev() {
        for column in &across {
            let mut sum = [0u64; 4];
            let mut weight = 0u64;
            for &(y, wy) in row {
                for &(x, wx) in column {
                    let pixel = image.pixels[y * image.width + x];
                    let w = u64::from(wx) * u64::from(wy);
                    weight += w;
                    for (s, p) in sum.iter_mut().zip(pixel) {
                        *s += w * u64::from(p);
                    }
                }
            }
            out.push(sum.map(|s| ((s + weight / 2) / weight.max(1)) as u8));
        }
    }
    out
}

/// For each new pixel along an axis: the old pixels that contribute to the new pixel, with their
/// weights.
fn source_weights(old: usize, new: usize) -> Vec<Vec<(usize, u32)>> {
    (0..new)
        .map(|i| {
            if old == new {
                return vec![(i, 1)];
            }
            if new > old {
                // Interpolate between the centres of two old pixels.
                let at = (2 * i + 1) * old * 128 / new;
                let (left, weight) = (at as i64 - 128, (at as i64 - 128).rem_euclid(256) as u32);
                let first = left.div_euclid(256);
                let clamp = |x: i64| x.clamp(0, old as i64 - 1) as usize;
                return vec![(clamp(first), 256 - weight), (clamp(first + 1), weight)];
            }
            let (from, to) = (i * old, (i + 1) * old);
            let part = |x: usize| (to.min((x + 1) * new) - from.max(x * new)) as u32;
            (from / new..to.div_ceil(new)).map(|x| (x, part(x))).collect()
        })
        .collect()
}

/// Computes the next coarser mipmap level: each texel is the mean of four finer texels.
fn half_size(level: &[[u8; 4]], width: usize, height: usize) -> Vec<[u8; 4]> {
    let (w, h) = ((width / 2).max(1), (height / 2).max(1));
    let mut out = Vec::with_capacity(w * h);
    for y in 0..h {
        for x in 0..w {
            let columns = [(2 * x).min(width - 1), (2 * x + 1).min(width - 1)];
            let rows = [(2 * y).min(height - 1), (2 * y + 1).min(height - 1)];
            let mut sum = [0u32; 4];
            for row in rows {
                for column in columns {
                    for (s, p) in sum.iter_mut().zip(level[row * width + column]) {
                        *s += u32::from(p);
                    }
                }
            }
            out.push(sum.map(|s| ((s + 2) / 4) as u8));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Samples;

    impl Texture {
        fn sample(&self, level: &Level, u: f32, v: f32) -> [u8; 4] {
            let at = |v: f32, fixed_size: f32| (v * fixed_size) as i32 - 32768;
            let samples =
                Samples { texels: self.texels(level), size: level.size(), step: [0, 0], log_taps: 0 };
            let sum = samples.sampled([at(u, level.fixed_size[0]), at(v, level.fixed_size[1])]);
            [0, 32, 16, 48].map(|shift| (sum >> shift >> 2) as u8)
        }
    }

    #[test]
    fn a_sample_at_a_texel_centre_is_the_texel_and_v_grows_upwards() {
        let image = Image::from_fn(4, 2, |x, y| [10 * x as u8, 100 * y as u8, 7, 255]);
        let texture = Texture::new(&image, MAX_SIDE);
        let level = texture.level(0);
        for x in 0..4 {
            let u = (x as f32 + 0.5) / 4.0;
            assert_eq!(texture.sample(level, u, 0.75), [10 * x as u8, 0, 7, 255], "top");
            assert_eq!(texture.sample(level, u, 0.25), [10 * x as u8, 100, 7, 255], "bottom");
        }
        assert_eq!(texture.sample(level, 0.3, 0.4), texture.sample(level, 1.3, 0.4), "it repeats");
    }

    #[test]
    fn coarser_levels_hold_the_mean() {
        let image = Image::from_fn(64, 16, |x, _| if x % 2 == 0 { [0; 4] } else { [200; 4] });
        let texture = Texture::new(&image, MAX_SIDE);
        assert_eq!(texture.sample(texture.level(1), 0.3, 0.3), [100; 4]);
        assert_eq!(texture.sample(texture.level(99), 0.3, 0.3), [100; 4]);
        assert!(texture.has_transparency);
    }

    #[test]
    fn pictures_of_any_size_become_textures() {
        for (w, h) in [(1, 1), (3, 5), (100, 1), (4097, 3)] {
            let texture = Texture::new(&Image::filled(w, h, [9, 8, 7, 255]), 64);
            for n in 0..8 {
                assert_eq!(texture.sample(texture.level(n), 0.123, 0.987), [9, 8, 7, 255], "{w}x{h}");
            }
            assert!(texture.size().0 <= 64.0 && texture.size().1 <= 64.0);
        }
        Texture::new(&Image { width: 0, height: 0, pixels: Vec::new() }, 64);
    }
}
