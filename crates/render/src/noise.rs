//! Sensor noise. The noise is a pure function of seed, frame, pixel and channel. Pixels can
//! therefore be computed in any order and on any thread.

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
use crate::Instructions;
use crate::instructions::Checked;

/// Standard deviation of the sum of four uniformly distributed bytes.
const SUM_SD: f64 = 147.801_7;
/// Mean of the sum of four uniformly distributed bytes.
const SUM_MEAN: i32 = 510;

/// Multiplier of the hash.
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
/// XORed with the hash input of a pixel to get a second hash of the pixel.
const OTHER: u64 = 0x5851_f42d_4c95_7f2d;
/// Mask of every second byte.
const BYTES: u64 = 0x00ff_00ff_00ff_00ff;

/// The noise of one frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    key: u64,
    /// Noise per unit of the sum of the four random bytes, in 1/65536 of an 8-bit level.
    scale: i32,
}

impl Noise {
    /// Makes the noise of one frame. `sd` is the standard deviation as a fraction of the largest
    /// pixel value, 255.
    pub(crate) fn new(seed: u64, frame: u64, sd: f64) -> Noise {
        let key = mix_bits(mix_bits(seed ^ 0x9e37_79b9_7f4a_7c15) ^ frame);
        Noise { key, scale: (sd * 255.0 / SUM_SD * 65536.0 + 0.5) as i32 }
    }

    /// Writes a row as three bytes per pixel, with the noise added. `first` is the index of the
    /// row's first pixel in the frame.
    pub(crate) fn add_to_row(&self, row: &[[u8; 4]], first: u32, to: &mut [u8], instructions: Checked) {
        match instructions.get() {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                #[allow(unsafe_code)]
                // SAFETY: the processor has the instructions, because they are checked.
                unsafe {
                    self.row_with_avx2(row, first, to);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                #[allow(unsafe_code)]
                // SAFETY: the processor has the instructions, because they are checked.
                unsafe {
                    self.row_with_avx512(row, first, to);
                }
            }
            _ => self.row(row, first, to),
        }
    }

    /// Does the same as [`Noise::add_to_row`], pixel by pixel.
    fn row(&self, row: &[[u8; 4]], first: u32, to: &mut [u8]) {
        let (pixels, _) = to.as_chunks_mut::<3>();
        for (index, (to, pixel)) in (first..).zip(pixels.iter_mut().zip(row)) {
            *to = self.add(*pixel, index);
        }
    }

    /// Returns red, green and blue of a pixel with the noise added. `index` is the index of the
    /// pixel in the frame.
    #[inline]
    pub(crate) fn add(&self, pixel: [u8; 4], index: u32) -> [u8; 3] {
        let place = self.key ^ u64::from(index).wrapping_mul(FACTOR);
        let (a, b) = (mix_bits(place), mix_bits(place ^ OTHER));
        // Each 16-bit lane of `sums` is the sum of four random bytes. Each addition computes all
        // four lanes at once.
        let two = |v: u64| (v & BYTES).wrapping_add(v >> 8 & BYTES);
        let sums = two(a).wrapping_add(two(b));
        let noisy = |value: u8, sum: u64| {
            let noise = ((sum & 0xffff) as i32).wrapping_sub(SUM_MEAN).wrapping_mul(self.scale);
            (((i32::from(value) << 16) | 32768).wrapping_add(noise) >> 16).clamp(0, 255) as u8
        };
        [noisy(pixel[0], sums), noisy(pixel[1], sums >> 16), noisy(pixel[2], sums >> 32)]
    }
}

/// Hashes 64 bits, so that each output bit depends on all input bits.
#[inline]
fn mix_bits(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(FACTOR);
    x ^= x >> 32;
    x = x.wrapping_mul(FACTOR);
    x ^ x >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instructions;

    #[test]
    fn noise_has_the_requested_mean_and_deviation() {
        let noise = Noise::new(1, 2, 0.02);
        let values: Vec<[f64; 3]> =
            (0..100_000).map(|i| noise.add([128; 4], i).map(|v| f64::from(v) - 128.0)).collect();
        let n = values.len() as f64;
        for c in 0..3 {
            let mean = values.iter().map(|v| v[c]).sum::<f64>() / n;
            let variance = values.iter().map(|v| (v[c] - mean) * (v[c] - mean)).sum::<f64>() / n;
            assert!(mean.abs() < 0.05, "{mean}");
            assert!((variance.sqrt() / 5.1 - 1.0).abs() < 0.02, "{}", variance.sqrt());
            let next = values.iter().zip(values.iter().skip(1)).map(|(a, b)| a[c] * b[c]).sum::<f64>() / n;
            let other = values.iter().map(|v| v[c] * v[(c + 1) % 3]).sum::<f64>() / n;
            assert!(next.abs() < 0.3 && other.abs() < 0.3, "pixels and channels are uncorrelated");
        }
        assert_ne!(noise.add([128; 4], 7), Noise::new(1, 3, 0.5).add([128; 4], 7));
        assert_eq!(Noise::new(5, 5, 0.0).add([77; 4], 3), [77; 3]);
    }

    #[test]
    fn every_instruction_set_gives_the_same_noise() {
        let row: Vec<[u8; 4]> = (0..777u32).map(|i| (i.wrapping_mul(0x9e37_79b9)).to_le_bytes()).collect();
        for (sd, first, length) in [
            (0.0, 0, 777),
            (0.007, 3, 777),
            (0.02, 4_000_000_000, 13),
            (0.28, 7, 500),
            (0.9, 1, 64),
            (0.1, 0, 3),
        ] {
            let noise = Noise::new(9, 4, sd);
            let noisy = |set: Instructions| {
                let mut bytes = vec![0; 3 * length];
                noise.add_to_row(&row[..length], first, &mut bytes, set.checked());
                bytes
            };
            let portable = noisy(Instructions::Portable);
            for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
                assert!(noisy(set) == portable, "{set:?}, {sd}, {length} pixels");
            }
        }
    }
}
