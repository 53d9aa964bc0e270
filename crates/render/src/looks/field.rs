//! Grids of numbers that repeat in both directions. The textures are generated from these grids.
//!
//! The fields use integers only, so that every machine generates the same bytes.

/// Field units per level of an 8-bit colour.
pub(super) const STEP: i32 = 256;

/// Numbers on a grid that repeats in both directions.
pub(super) struct Field {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<i32>,
}

/// A pseudo-random number that depends only on two coordinates and a seed.
pub(super) fn hash(x: u32, y: u32, seed: u32) -> u32 {
    let mut h = x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77) ^ seed.wrapping_mul(0xc2b2_ae3d);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2c1b_3c6d);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297a_2d39);
    h ^ (h >> 15)
}

/// Maps a hash to −amplitude..=amplitude.
pub(super) fn spread(hash: u32, amplitude: i32) -> i32 {
    ((i64::from(hash >> 8) * i64::from(2 * amplitude + 1)) >> 24) as i32 - amplitude
}

/// Converts a colour in field units ([`STEP`] per level) to an opaque 8-bit pixel, rounded and
/// clamped.
pub(super) fn rgb(c: [i32; 3]) -> [u8; 4] {
    let [r, g, b] = c.map(|v| ((v + STEP / 2) / STEP).clamp(0, 255) as u8);
    [r, g, b, 255]
}

/// Interpolation weights 0..=4096 between two grid points, with slope 0 at both ends (smoothstep).
fn ease(steps: usize) -> Vec<i32> {
    (0..steps)
        .map(|i| {
            let t = (i * 4096 / steps) as i64;
            ((t * t * (3 * 4096 - 2 * t)) >> 24) as i32
        })
        .collect()
}

impl Field {
    /// A field of zeros.
    pub(super) fn new(width: usize, height: usize) -> Field {
        Field { width, height, values: vec![0; width * height] }
    }

    /// Adds smooth noise. `cells` gives the number of noise cells across and down. The width and
    /// the height of the field must be multiples of these numbers.
    pub(super) fn noise(mut self, cells: [usize; 2], seed: u32, amplitude: i32) -> Field {
        let [cw, ch] = [self.width / cells[0], self.height / cells[1]];
        let (ease_x, ease_y) = (ease(cw), ease(ch));
        let lattice: Vec<i32> = (0..cells[0] * cells[1])
            .map(|i| spread(hash((i % cells[0]) as u32, (i / cells[0]) as u32, seed), amplitude))
            .collect();
        let mut line = vec![0; cells[0] + 1];
        for (y, row) in self.values.chunks_exact_mut(self.width).enumerate() {
            let (low, high) = (y / ch * cells[0], (y / ch + 1) % cells[1] * cells[0]);
            let t = ease_y[y % ch];
            for (x, value) in line.iter_mut().enumerate() {
                let x = x % cells[0];
                *value = lattice[low + x] * (4096 - t) + lattice[high + x] * t;
            }
            for (x, cell) in row.chunks_exact_mut(cw).enumerate() {
                let (a, b) = (line[x] >> 12, line[x + 1] >> 12);
                for (value, t) in cell.iter_mut().zip(&ease_x) {
                    *value += (a * (4096 - t) + b * t) >> 12;
                }
            }
        }
        self
    }

    /// Adds `of(column, row)` to the number at every grid point.
    pub(super) fn add(mut self, of: impl Fn(usize, usize) -> i32) -> Field {
        for (y, row) in self.values.chunks_exact_mut(self.width).enumerate() {
            for (x, value) in row.iter_mut().enumerate() {
                *value += of(x, y);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_smooth_and_within_its_amplitude() {
        let field = Field::new(64, 32).noise([4, 4], 7, 1000);
        assert!(field.values.iter().all(|v| v.abs() <= 1001));
        let at = |x: usize, y: usize| field.values[y % 32 * 64 + x % 64];
        for (x, y) in (0..64).flat_map(|x| (0..32).map(move |y| (x, y))) {
            assert!((at(x, y) - at(x + 1, y)).abs() < 220 && (at(x, y) - at(x, y + 1)).abs() < 420);
        }
    }

    #[test]
    fn hashes_spread_evenly() {
        let sum: i64 = (0..10_000).map(|i| i64::from(spread(hash(i, 3, 5), 1000))).sum();
        assert!(sum.abs() < 10_000 * 30, "{sum}");
        assert_eq!([spread(0, 9), spread(u32::MAX, 9)], [-9, 9]);
    }
}
