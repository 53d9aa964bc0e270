//! Pseudo-random numbers for reproducible tests.

/// A random number generator (xorshift). The field is its state. The initial state is the seed. The
/// seed must not be 0, because the state 0 never changes.
pub struct Random(pub u64);

impl Random {
    /// A number in 0..n.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
