//! Seeded noise. Each sample of each sensor has its own stream of random numbers.
//!
//! A number of a stream is a pure function of seed, sensor, sample and element, without state.
//! Therefore a sensor that is not read does not change the noise of another sensor, and a saved
//! simulation contains no generator.

use std::sync::OnceLock;

/// Number of intervals in the table of [`quantiles`].
const CELLS: usize = 4096;

/// The sensor that a stream belongs to.
#[derive(Debug, Clone, Copy)]
#[repr(u64)]
pub(crate) enum Sensor {
    Lidar = 1,
    Gyro = 2,
    Accelerometer = 3,
}

/// The random numbers of one sample of a sensor, or of one property that a seed varies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    base: u64,
}

impl Stream {
    pub(crate) fn new(seed: u64, sensor: Sensor, sample: u64) -> Stream {
        Stream { base: mix(mix(mix(seed) ^ sensor as u64) ^ sample) }
    }

    /// The random numbers for one property that a seed varies, for example the car's mass. `item`
    /// is the number of the property. `index` distinguishes several draws for the same property.
    pub(crate) fn of_variation(seed: u64, item: u64, index: u64) -> Stream {
        // The offset keeps the numbers of items different from the numbers of sensors.
        Stream { base: mix(mix(mix(seed) ^ (0x100 + item)) ^ index) }
    }

    /// A random number from 0 to 1, without 1. All numbers are equally likely.
    pub(crate) fn uniform(&self, element: u64) -> f64 {
        let bits = mix(self.base.wrapping_add(element.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A random number from the standard normal distribution, within ±3.7. `element` is the index
    /// of the number in the sample, for example the index of a beam.
    pub(crate) fn normal(&self, element: u64) -> f64 {
        let bits = mix(self.base.wrapping_add(element.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let table = quantiles();
        let cell = (bits >> 52) as usize;
        let part = (bits & ((1 << 52) - 1)) as f64 * (1.0 / (1u64 << 52) as f64);
        table[cell] + (table[cell + 1] - table[cell]) * part
    }
}

/// The finaliser of SplitMix64. Every input bit affects every output bit.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Quantiles of the normal distribution at equal steps of probability. A table is used, because a
/// look-up takes only three nanoseconds. The table is computed with the crate `libm` and not with
/// the mathematical library of the platform, so the noise is the same on every machine. The values
/// are bounded, so tests can assert a maximum.
fn quantiles() -> &'static [f64; CELLS + 1] {
    static TABLE: OnceLock<Box<[f64; CELLS + 1]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Box::new([0.0; CELLS + 1]);
        let mut x = 0.0;
        for i in CELLS / 2..=CELLS {
            let above = 1.0 - (i as f64 + 0.5) / (CELLS + 1) as f64;
            // Newton's method starts at the previous quantile. The wanted quantile is near this
            // start, because the steps of probability are small.
            for _ in 0..12 {
                let density = libm::exp(-0.5 * x * x) * 0.398_942_280_401_432_7;
                let error = 0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2) - above;
                x += error / density;
                if error.abs() < 1e-15 {
                    break;
                }
            }
            table[i] = x;
            table[CELLS - i] = -x;
        }
        table[CELLS / 2] = 0.0;
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_normal() {
        let n = 200_000;
        let stream = Stream::new(7, Sensor::Lidar, 3);
        let values: Vec<f64> = (0..n).map(|i| stream.normal(i)).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / n as f64;
        let kurtosis = values.iter().map(|v| v * v * v * v).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.01, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.01, "variance {variance}");
        assert!((kurtosis - 3.0).abs() < 0.1, "kurtosis {kurtosis}");
        let within_one = values.iter().filter(|v| v.abs() < 1.0).count() as f64 / n as f64;
        assert!((within_one - 0.6827).abs() < 0.005, "{within_one}");
        assert!(values.iter().all(|v| v.abs() < 3.8));
    }

    #[test]
    fn streams_are_uncorrelated() {
        let a = Stream::new(1, Sensor::Gyro, 5);
        for b in [
            Stream::new(2, Sensor::Gyro, 5),
            Stream::new(1, Sensor::Accelerometer, 5),
            Stream::new(1, Sensor::Gyro, 6),
        ] {
            let n = 20_000;
            let r = (0..n).map(|i| a.normal(i) * b.normal(i)).sum::<f64>() / n as f64;
            assert!(r.abs() < 0.03, "correlation {r}");
        }
    }

    #[test]
    fn the_table_contains_the_quantiles() {
        // The quantile Φ⁻¹(0.975) is at index 0.975·4097 − 0.5 of the table.
        let at = 0.975 * (CELLS + 1) as f64 - 0.5;
        let (i, part) = (at as usize, at.fract());
        let q = quantiles()[i] + (quantiles()[i + 1] - quantiles()[i]) * part;
        assert!((q - 1.959_963_984_540_054).abs() < 1e-5, "{q}");
    }
}
