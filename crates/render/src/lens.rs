//! The camera's optics: a pinhole projection followed by radial lens distortion.
//!
//! With x to the right, y down and z along the view axis, a point (x, y, z) is projected to (x/z,
//! y/z)·(1 + k1·r² + k2·r⁴), where r² = (x/z)² + (y/z)². The rasteriser draws straight lines only.
//! The renderer therefore draws a slightly larger undistorted picture, and [`Lens`] distorts this
//! picture through a lookup table.

#[cfg(target_arch = "x86_64")]
mod avx2;

#[cfg(target_arch = "x86_64")]
use crate::Instructions;
use crate::instructions::Checked;
use crate::raster::NeededPixels;
use chicane_world::Profile;
use std::f64::consts::PI;

/// How a camera maps directions to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optics {
    /// Pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Focal length: pixels per unit of the tangent of the angle to the view axis, near this axis.
    pub focal: f64,
    /// Radial distortion coefficient of r².
    pub k1: f64,
    /// Radial distortion coefficient of r⁴.
    pub k2: f64,
}

impl Optics {
    /// The optics of the on-board camera of a car, scaled to this picture size.
    pub fn on_board(profile: &Profile, width: usize, height: usize) -> Optics {
        let camera = &profile.camera;
        let focal = 0.5 * width as f64 / libm::tan(0.5 * camera.horizontal_fov_rad);
        Optics { width, height, focal, k1: camera.distortion_k1, k2: camera.distortion_k2 }
    }

    /// A camera without distortion, with this horizontal field of view.
    pub fn pinhole(width: usize, height: usize, horizontal_fov_rad: f64) -> Optics {
        let half = (0.5 * horizontal_fov_rad).clamp(0.001, 0.49 * PI);
        Optics { width, height, focal: 0.5 * width as f64 / libm::tan(half), k1: 0.0, k2: 0.0 }
    }

    /// Projects a point in the frame of the camera (x forward, y left, z up). Returns pixels from
    /// the upper left corner of the picture, or `None` if the point is not in front of the camera.
    pub fn project(&self, [x, y, z]: [f64; 3]) -> Option<[f64; 2]> {
        if x <= 1e-9 {
            return None;
        }
        let (u, v) = (-y / x, -z / x);
        let distorted = self.distortion(u * u + v * v) * self.focal;
        Some([u * distorted + 0.5 * self.width as f64, v * distorted + 0.5 * self.height as f64])
    }

    /// The factor by which the lens scales a radius, as a function of the squared radius.
    fn distortion(&self, r2: f64) -> f64 {
        1.0 + r2 * (self.k1 + r2 * self.k2)
    }

    /// Whether the lens has no distortion, so that straight lines stay straight.
    pub(crate) fn is_pinhole(&self) -> bool {
        self.k1 == 0.0 && self.k2 == 0.0
    }

    /// The undistorted radius that the lens maps to this distorted radius.
    fn undistorted_radius(&self, distorted: f64) -> f64 {
        // Search only where the distorted radius grows with the undistorted radius. With some
        // coefficients the distorted radius shrinks again farther out, so that two undistorted
        // radii would match.
        let grows = |r: f64| 1.0 + r * r * (3.0 * self.k1 + 5.0 * r * r * self.k2) > 0.0;
        let (mut low, mut high) = (0.0, 4.0);
        while !grows(high) && high > 1e-3 {
            high *= 0.95;
        }
        // Newton's method converges for mild distortion. Otherwise the loop below finds the radius
        // by bisection.
        let mut r = distorted;
        for _ in 0..8 {
            let r2 = r * r;
            let slope = 1.0 + r2 * (3.0 * self.k1 + 5.0 * r2 * self.k2);
            r -= (r * self.distortion(r2) - distorted) / slope;
        }
        if r >= 0.0 && r < high && (r * self.distortion(r * r) - distorted).abs() < 1e-12 {
            return r;
        }
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if middle * self.distortion(middle * middle) < distorted {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// A lookup table that maps each pixel of the distorted picture to a position in the undistorted
/// picture.
#[derive(Debug, Clone)]
pub(crate) struct Lens {
    pub(crate) optics: Optics,
    /// Size of the undistorted picture, pixels.
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// For each distorted pixel: the index of an undistorted pixel. The colour is interpolated
    /// between this pixel, its right neighbour, and the two pixels below them.
    indices: Vec<u32>,
    /// For each distorted pixel: the weights of the right and the lower neighbours, 0..256.
    weights: Vec<[u16; 2]>,
    /// The undistorted pixels that the table refers to.
    pub(crate) needed: NeededPixels,
}

impl Lens {
    pub(crate) fn new(optics: Optics) -> Lens {
        let (w, h) = (optics.width as f64, optics.height as f64);
        let undistorted = |x: usize, y: usize| {
            let (u, v) =
                ((x as f64 + 0.5 - 0.5 * w) / optics.focal, (y as f64 + 0.5 - 0.5 * h) / optics.focal);
            let distorted = (u * u + v * v).sqrt();
            let factor =
                if distorted < 1e-12 { 1.0 } else { optics.undistorted_radius(distorted) / distorted };
            (u * factor * optics.focal, v * factor * optics.focal)
        };
        // The pixels at the border determine the size of the undistorted picture. Extreme
        // coefficients would need unbounded memory. The width and the height are therefore clamped
        // to twice the width and the height of the distorted picture.
        let (mut far_x, mut far_y) = (0f64, 0f64);
        for x in 0..optics.width {
            for y in [0, optics.height / 2, optics.height - 1] {
                far_x = far_x.max(undistorted(x, y).0.abs());
                far_y = far_y.max(undistorted(x, y).1.abs());
            }
        }
        for y in 0..optics.height {
            far_x = far_x.max(undistorted(0, y).0.abs());
            far_y = far_y.max(undistorted(0, y).1.abs());
        }
        let side = |far: f64, own: usize| ((2.0 * (far + 2.0)).ceil() as usize).clamp(2, 2 * own.max(2));
        let (width, height) = (side(far_x, optics.width), side(far_y, optics.height));
        let pixels = optics.width * optics.height;
        let (mut indices, mut weights) = (Vec::with_capacity(pixels), Vec::with_capacity(pixels));
        let mut needed = NeededPixels::none(width, height);
        for y in 0..optics.height {
            for x in 0..optics.width {
                let (sx, sy) = undistorted(x, y);
                let place = |v: f64, size: usize| {
                    let at = (v + 0.5 * size as f64 - 0.5).clamp(0.0, size as f64 - 1.001);
                    let fixed = (at * 256.0 + 0.5) as u32;
                    ((fixed >> 8).min(size as u32 - 2), (fixed & 255) as u16)
                };
                let ((px, wx), (py, wy)) = (place(sx, width), place(sy, height));
                indices.push(py * width as u32 + px);
                weights.push([wx, wy]);
                for (x, y) in [(px, py), (px + 1, py), (px, py + 1), (px + 1, py + 1)] {
                    needed.add(x as usize, y as usize);
                }
            }
        }
        Lens { optics, width, height, indices, weights, needed }
    }

    /// Computes row `y` of the distorted picture from the whole undistorted picture.
    pub(crate) fn row(&self, undistorted: &[[u8; 4]], y: usize, to: &mut [[u8; 4]], instructions: Checked) {
        let range = y * self.optics.width..(y + 1) * self.optics.width;
        let (indices, weights) = (&self.indices[range.clone()], &self.weights[range]);
        match instructions.get() {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 | Instructions::Avx512 => {
                #[allow(unsafe_code)]
                // SAFETY: the processor has the instructions, because they are checked.
                unsafe {
                    row_with_avx2(undistorted, self.width, indices, weights, to);
                }
            }
            _ => distorted(undistorted, self.width, indices, weights, to),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn row_with_avx2(
    undistorted: &[[u8; 4]],
    width: usize,
    indices: &[u32],
    weights: &[[u16; 2]],
    to: &mut [[u8; 4]],
) {
    let (groups, last_indices) = indices.as_chunks::<8>();
    let (group_weights, last_weights) = weights.as_chunks::<8>();
    let (targets, last) = to.as_chunks_mut::<8>();
    let pixels = bytemuck::cast_slice(undistorted);
    for ((indices, weights), to) in groups.iter().zip(group_weights).zip(targets) {
        *to = avx2::eight(pixels, width, indices, weights);
    }
    distorted(undistorted, width, last_indices, last_weights, last);
}

/// Computes pixels from an undistorted picture of this width.
fn distorted(
    undistorted: &[[u8; 4]],
    width: usize,
    indices: &[u32],
    weights: &[[u16; 2]],
    to: &mut [[u8; 4]],
) {
    for ((to, &index), &[wx, wy]) in to.iter_mut().zip(indices).zip(weights) {
        let index = index as usize;
        let (wx, wy) = (u32::from(wx), u32::from(wy));
        let pixel = |i: usize| u32::from_le_bytes(undistorted[i]);
        let above = lerp(pixel(index), pixel(index + 1), wx);
        let below = lerp(pixel(index + width), pixel(index + width + 1), wx);
        *to = lerp(above, below, wy).to_le_bytes();
    }
}

/// Interpolates all four channels of two colours. The share of `b` is `weight` / 256.
#[inline]
fn lerp(a: u32, b: u32, weight: u32) -> u32 {
    const PAIR: u32 = 0x00ff_00ff;
    // `sum` is a·(256 − weight) + b·weight, computed with one multiplication. `b − a` may borrow
    // from the neighbouring channel, but the sum as a whole is exact, so the borrow cancels out.
    let sum = |a: u32, b: u32| (a << 8).wrapping_add(b.wrapping_sub(a).wrapping_mul(weight));
    let pair = |a: u32, b: u32| (sum(a, b).wrapping_add(0x0080_0080) >> 8) & PAIR;
    pair(a & PAIR, b & PAIR) | pair((a >> 8) & PAIR, (b >> 8) & PAIR) << 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instructions;

    #[test]
    fn distortion_and_its_inverse_cancel_out() {
        let optics = Optics::on_board(&Profile::gen1(), 480, 360);
        for i in 0..150 {
            let r = f64::from(i) * 0.01;
            let back = optics.undistorted_radius(r * optics.distortion(r * r));
            assert!((back - r).abs() < 1e-9, "{r} {back}");
        }
    }

    #[test]
    fn the_lookup_table_agrees_with_project() {
        let optics = Optics::on_board(&Profile::gen1(), 480, 360);
        let lens = Lens::new(optics);
        assert!(lens.width > 480 && lens.width < 640, "{}", lens.width);
        for (y, z) in [(0.0, 0.0), (0.8, -0.5), (-1.0, 0.7), (1.1, 0.1)] {
            let [px, py] = optics.project([1.0, y, z]).expect("in front");
            let (x, row) = (px.floor() as usize, py.floor() as usize);
            let (index, [wx, wy]) = (lens.indices[row * 480 + x], lens.weights[row * 480 + x]);
            let sx =
                f64::from(index % lens.width as u32) + f64::from(wx) / 256.0 + 0.5 - 0.5 * lens.width as f64;
            let sy =
                f64::from(index / lens.width as u32) + f64::from(wy) / 256.0 + 0.5 - 0.5 * lens.height as f64;
            assert!((sx - -y * optics.focal).abs() < 1.2 && (sy - -z * optics.focal).abs() < 1.2, "{y} {z}");
        }
    }

    #[test]
    fn extreme_distortion_gives_valid_tables() {
        for (k1, k2) in [(-0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (0.1, -0.5)] {
            for (width, height) in [(16, 16), (1920, 16), (16, 1080)] {
                let optics = Optics { width, height, focal: 0.4 * width as f64, k1, k2 };
                let lens = Lens::new(optics);
                let undistorted = vec![[1, 2, 3, 4]; lens.width * lens.height];
                let mut row = vec![[0; 4]; width];
                for (y, set) in (0..height).zip(Instructions::ALL.into_iter().cycle()) {
                    lens.row(&undistorted, y, &mut row, set.checked());
                    assert!(row.iter().all(|p| *p == [1, 2, 3, 4]), "{k1} {k2}");
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_pixels() {
        let optics = Optics::on_board(&Profile::gen1(), 61, 40);
        let lens = Lens::new(optics);
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Extreme values are as frequent as all others together.
            [0, 8, 16, 24].map(|shift| {
                if seed & 1 == 0 { (seed >> shift) as u8 } else { (seed >> shift >> 1 & 1) as u8 * 255 }
            })
        };
        let undistorted: Vec<[u8; 4]> = (0..lens.width * lens.height).map(|_| random()).collect();
        let row = |y: usize, set: Instructions| {
            let mut row = vec![[0; 4]; 61];
            lens.row(&undistorted, y, &mut row, set.checked());
            row
        };
        for y in 0..40 {
            let portable = row(y, Instructions::Portable);
            for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
                assert_eq!(row(y, set), portable, "{set:?}, row {y}");
            }
        }
    }
}
