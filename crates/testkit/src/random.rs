//! Numbers by chance that are the same every time.

/// Random numbers from a seed, which must not be 0.
pub struct Random(pub u64);

impl Random {
    /// A number from 0 up to but not including `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
