//! The camera's optics: a pinhole, and a lens that bends what it lets through.
//!
//! A point at x/z, y/z of the axis is seen at (x/z, y/z)·(1 + k1·r² + k2·r⁴). The rasteriser draws
//! straight lines, so a somewhat larger straight picture is drawn and then bent through a table.

use chicane_world::Profile;
use std::f64::consts::PI;

/// How a camera maps directions to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optics {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Pixels by unit of x/z, on the axis.
    pub focal: f64,
    /// Radial distortion, second order.
    pub k1: f64,
    /// Radial distortion, fourth order.
    pub k2: f64,
}

impl Optics {
    /// The on-board camera, at any size.
    pub fn on_board(profile: &Profile, width: usize, height: usize) -> Optics {
        let camera = &profile.camera;
        let focal = 0.5 * width as f64 / libm::tan(0.5 * camera.horizontal_fov_rad);
        Optics { width, height, focal, k1: camera.distortion_k1, k2: camera.distortion_k2 }
    }

    /// A camera without a lens, by its horizontal field of view.
    pub fn pinhole(width: usize, height: usize, horizontal_fov_rad: f64) -> Optics {
        let half = (0.5 * horizontal_fov_rad).clamp(0.001, 0.49 * PI);
        Optics { width, height, focal: 0.5 * width as f64 / libm::tan(half), k1: 0.0, k2: 0.0 }
    }

    /// Where a direction is seen (x ahead, y left, z up), in pixels from the upper left corner of the
    /// picture; `None` behind the camera.
    pub fn project(&self, [x, y, z]: [f64; 3]) -> Option<[f64; 2]> {
        if x <= 1e-9 {
            return None;
        }
        let (u, v) = (-y / x, -z / x);
        let bent = self.bend(u * u + v * v) * self.focal;
        Some([u * bent + 0.5 * self.width as f64, v * bent + 0.5 * self.height as f64])
    }

    /// Factor of a radius, by its square.
    fn bend(&self, r2: f64) -> f64 {
        1.0 + r2 * (self.k1 + r2 * self.k2)
    }

    /// Whether straight lines stay straight.
    pub(crate) fn is_straight(&self) -> bool {
        self.k1 == 0.0 && self.k2 == 0.0
    }

    /// The straight radius that is seen at a bent one.
    fn unbend(&self, bent: f64) -> f64 {
        // Beyond the turning point of an odd lens nothing new is seen.
        let grows = |r: f64| 1.0 + r * r * (3.0 * self.k1 + 5.0 * r * r * self.k2) > 0.0;
        let (mut low, mut high) = (0.0, 4.0);
        while !grows(high) && high > 1e-3 {
            high *= 0.95;
        }
        // A mild lens is undone by a few steps of Newton's; an odd one by halving.
        let mut r = bent;
        for _ in 0..8 {
            let r2 = r * r;
            let slope = 1.0 + r2 * (3.0 * self.k1 + 5.0 * r2 * self.k2);
            r -= (r * self.bend(r2) - bent) / slope;
        }
        if r >= 0.0 && r < high && (r * self.bend(r * r) - bent).abs() < 1e-12 {
            return r;
        }
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if middle * self.bend(middle * middle) < bent {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// A table from pixels of the bent picture to places in the straight one.
#[derive(Debug, Clone)]
pub(crate) struct Lens {
    pub(crate) optics: Optics,
    /// Size of the straight picture.
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// For each pixel: index of the upper left one of four, and weights of right and lower, 0..256.
    entries: Vec<(u32, u16, u16)>,
}

impl Lens {
    pub(crate) fn new(optics: Optics) -> Lens {
        let (w, h) = (optics.width as f64, optics.height as f64);
        let straight = |x: usize, y: usize| {
            let (u, v) =
                ((x as f64 + 0.5 - 0.5 * w) / optics.focal, (y as f64 + 0.5 - 0.5 * h) / optics.focal);
            let bent = (u * u + v * v).sqrt();
            let factor = if bent < 1e-12 { 1.0 } else { optics.unbend(bent) / bent };
            (u * factor * optics.focal, v * factor * optics.focal)
        };
        // The corners reach farthest; no lens is worth more than twice the picture.
        let (mut far_x, mut far_y) = (0f64, 0f64);
        for x in 0..optics.width {
            for y in [0, optics.height / 2, optics.height - 1] {
                far_x = far_x.max(straight(x, y).0.abs());
                far_y = far_y.max(straight(x, y).1.abs());
            }
        }
        for y in 0..optics.height {
            far_x = far_x.max(straight(0, y).0.abs());
            far_y = far_y.max(straight(0, y).1.abs());
        }
        let side = |far: f64, own: usize| ((2.0 * (far + 2.0)).ceil() as usize).clamp(2, 2 * own.max(2));
        let (width, height) = (side(far_x, optics.width), side(far_y, optics.height));
        let mut entries = Vec::with_capacity(optics.width * optics.height);
        for y in 0..optics.height {
            for x in 0..optics.width {
                let (sx, sy) = straight(x, y);
                let place = |v: f64, size: usize| {
                    let at = (v + 0.5 * size as f64 - 0.5).clamp(0.0, size as f64 - 1.001);
                    let fixed = (at * 256.0 + 0.5) as u32;
                    ((fixed >> 8).min(size as u32 - 2), (fixed & 255) as u16)
                };
                let ((px, wx), (py, wy)) = (place(sx, width), place(sy, height));
                entries.push((py * width as u32 + px, wx, wy));
            }
        }
        Lens { optics, width, height, entries }
    }

    /// One row of the bent picture from the whole straight one.
    pub(crate) fn row(&self, straight: &[[u8; 4]], y: usize, to: &mut [[u8; 4]]) {
        let entries = &self.entries[y * self.optics.width..(y + 1) * self.optics.width];
        for (to, &(index, wx, wy)) in to.iter_mut().zip(entries) {
            let index = index as usize;
            let (wx, wy) = (u32::from(wx), u32::from(wy));
            let pixel = |i: usize| u32::from_le_bytes(straight[i]);
            let above = mixed(pixel(index), pixel(index + 1), wx);
            let below = mixed(pixel(index + self.width), pixel(index + self.width + 1), wx);
            *to = mixed(above, below, wy).to_le_bytes();
        }
    }
}

/// Two colours mixed, all four channels.
#[inline]
fn mixed(a: u32, b: u32, weight: u32) -> u32 {
    const PAIR: u32 = 0x00ff_00ff;
    // What is borrowed on the way comes back in the sum, which is that of a·(256 − weight) + b·weight.
    let sum = |a: u32, b: u32| (a << 8).wrapping_add(b.wrapping_sub(a).wrapping_mul(weight));
    let pair = |a: u32, b: u32| (sum(a, b).wrapping_add(0x0080_0080) >> 8) & PAIR;
    pair(a & PAIR, b & PAIR) | pair((a >> 8) & PAIR, (b >> 8) & PAIR) << 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bending_and_unbending_are_inverse() {
        let optics = Optics::on_board(&Profile::gen1(), 480, 360);
        for i in 0..150 {
            let r = f64::from(i) * 0.01;
            let back = optics.unbend(r * optics.bend(r * r));
            assert!((back - r).abs() < 1e-9, "{r} {back}");
        }
    }

    #[test]
    fn the_table_leads_to_where_a_point_is_drawn_straight() {
        let optics = Optics::on_board(&Profile::gen1(), 480, 360);
        let lens = Lens::new(optics);
        assert!(lens.width > 480 && lens.width < 640, "{}", lens.width);
        for (y, z) in [(0.0, 0.0), (0.8, -0.5), (-1.0, 0.7), (1.1, 0.1)] {
            let [px, py] = optics.project([1.0, y, z]).expect("in front");
            let (x, row) = (px.floor() as usize, py.floor() as usize);
            let (index, wx, wy) = lens.entries[row * 480 + x];
            let sx =
                f64::from(index % lens.width as u32) + f64::from(wx) / 256.0 + 0.5 - 0.5 * lens.width as f64;
            let sy =
                f64::from(index / lens.width as u32) + f64::from(wy) / 256.0 + 0.5 - 0.5 * lens.height as f64;
            assert!((sx - -y * optics.focal).abs() < 1.2 && (sy - -z * optics.focal).abs() < 1.2, "{y} {z}");
        }
    }

    #[test]
    fn strange_lenses_make_tables_too() {
        for (k1, k2) in [(-0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (0.1, -0.5)] {
            for (width, height) in [(16, 16), (1920, 16), (16, 1080)] {
                let optics = Optics { width, height, focal: 0.4 * width as f64, k1, k2 };
                let lens = Lens::new(optics);
                let straight = vec![[1, 2, 3, 4]; lens.width * lens.height];
                let mut row = vec![[0; 4]; width];
                for y in 0..height {
                    lens.row(&straight, y, &mut row);
                    assert!(row.iter().all(|p| *p == [1, 2, 3, 4]), "{k1} {k2}");
                }
            }
        }
    }
}
