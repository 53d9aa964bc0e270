//! The random numbers of an environment.
//!
//! This is PCG64 as in NumPy (a linear congruential generator of 128 bits with the output function
//! XSL RR). A Python environment passes the state of its own generator to this crate, and takes the
//! new state back. Therefore the same seed gives the same episodes in this crate and in Python.

use serde::{Deserialize, Serialize};

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// A generator of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// The state, which changes with every number.
    pub state: u128,
    /// The increment, which is constant.
    pub increment: u128,
}

impl Generator {
    /// The next number from 0 to 1, without 1.
    pub fn next_f64(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
        let mixed = (self.state >> 64) as u64 ^ self.state as u64;
        let bits = mixed.rotate_right((self.state >> 122) as u32);
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next number from `low` to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next_f64()
    }

    /// The next whole number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next_f64() * count as f64) as usize
    }

    /// The next seed of an episode, 53 bits.
    pub fn seed(&mut self) -> u64 {
        (self.next_f64() * (1u64 << 53) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: u128 = 208745520555909116978795849195383758904;
    const INCREMENT: u128 = 261136684632268670825940853076396136793;
    const NUMBERS: [f64; 4] =
        [0.625095466604667, 0.8972138009695755, 0.7756856902451935, 0.22520718999059186];

    #[test]
    fn the_numbers_are_those_of_numpy() {
        // The constants are from `numpy.random.default_rng(7)`: the state of its bit generator, and
        // its first four numbers.
        let mut generator = Generator { state: STATE, increment: INCREMENT };
        let numbers: [f64; 4] = std::array::from_fn(|_| generator.next_f64());
        assert_eq!(numbers, NUMBERS);
    }
}
