//! Random numbers of an overlay. A number is a pure function of seed, item and index.

use crate::noise::Stream;
use chicane_vary::{Count, Range};

/// The part of an overlay that a number belongs to. The values must not change, because the random
/// numbers of a seed depend on them.
#[derive(Debug, Clone, Copy)]
#[repr(u64)]
pub(super) enum Item {
    Start = 1,
    Jitter = 2,
    ScatterCount = 3,
    Scatter = 4,
    Light = 5,
    Brightness = 6,
    Friction = 7,
    Mass = 8,
    LidarNoise = 9,
    ImuNoise = 10,
    CameraNoise = 11,
    Latency = 12,
    Surface = 13,
}

/// The random numbers of a seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    seed: u64,
}

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw { seed }
    }

    /// Four random numbers from 0 to 1, without 1.
    pub(super) fn units(self, item: Item, index: u64) -> [f64; 4] {
        let stream = Stream::of_variation(self.seed, item as u64, index);
        std::array::from_fn(|i| stream.uniform(i as u64))
    }

    /// A random number within bounds.
    pub(super) fn number(self, item: Item, index: u64, range: Range) -> f64 {
        within(range, self.units(item, index)[0])
    }

    /// A random whole number within bounds.
    pub(super) fn count(self, item: Item, Count { least, most }: Count) -> u32 {
        let choices = f64::from(most - least) + 1.0;
        (least + (self.units(item, 0)[0] * choices) as u32).min(most)
    }

    /// One of the values, chosen at random; `None` if there are none.
    pub(super) fn one_of<T: Copy>(self, item: Item, values: &[T]) -> Option<T> {
        let at = (self.units(item, 0)[0] * values.len() as f64) as usize;
        values.get(at).copied()
    }
}

/// Maps `unit`, a number from 0 to 1, to a number within bounds.
pub(super) fn within(Range { least, most }: Range, unit: f64) -> f64 {
    rounded(least + (most - least) * unit).clamp(least, most)
}

/// Rounds to six decimals, like the numbers in a record.
pub(super) fn rounded(value: f64) -> f64 {
    // Adding 0 converts −0 to 0.
    (value * 1e6).round() / 1e6 + 0.0
}
