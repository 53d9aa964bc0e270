//! A bit reader for Vorbis. The lowest bit of a byte comes first.

/// Reads bits from a byte slice.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Position of the next bit, in bits from the start.
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, at: 0 }
    }

    /// Reads `count` bits (at most 32) as a number. Returns `None` at the end of the bytes.
    pub(super) fn take(&mut self, count: u32) -> Option<u32> {
        let mut value = 0u64;
        let mut got = 0;
        while got < count {
            let byte = u64::from(*self.bytes.get(self.at / 8)?);
            let (from, here) = (self.at as u32 % 8, (8 - self.at as u32 % 8).min(count - got));
            value |= (byte >> from & ((1 << here) - 1)) << got;
            got += here;
            self.at += here as usize;
        }
        Some(value as u32)
    }

    /// Skips `count` bits. Returns `None` if fewer bits remain.
    pub(super) fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count).filter(|at| *at <= self.bytes.len() * 8)?;
        Some(())
    }

    /// Reads one bit. Returns `None` at the end of the bytes.
    pub(super) fn flag(&mut self) -> Option<bool> {
        self.take(1).map(|bit| bit == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_comes_first() {
        let mut bits = Bits::new(&[0b1010_0110, 0xff, 0, 0, 0x80]);
        assert_eq!(bits.take(3), Some(0b110));
        assert_eq!(bits.take(7), Some(0b11_10100));
        assert_eq!(bits.flag(), Some(true));
        assert_eq!(bits.skip(28), Some(()));
        assert_eq!((bits.take(1), bits.take(1)), (Some(1), None));
        assert_eq!(Bits::new(&[1, 2, 3, 4]).take(32), Some(0x0403_0201));
        assert_eq!(Bits::new(&[1]).skip(9), None);
    }
}
