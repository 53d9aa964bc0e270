//! A bit reader for FLAC. The highest bit of a byte comes first.

use super::TRUNCATED;
use crate::audio::decode::clip::DecodeError;

/// Reads bits from a byte slice. A method fails with [`TRUNCATED`] if it needs more bits than
/// remain.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Position of the next bit, in bits from the start.
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, at: 0 }
    }

    /// A word that starts with the next bits, and the number of its valid bits. The next bit is the
    /// highest bit of the word. At least 57 bits are valid, unless the end of the bytes is near.
    fn window(&self) -> (u64, u32) {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let used = self.at as u32 % 8;
        if let Some(word) = rest.first_chunk() {
            return (u64::from_be_bytes(*word) << used, 64 - used);
        }
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        (u64::from_be_bytes(word) << used, (rest.len() as u32 * 8).saturating_sub(used))
    }

    /// Reads `count` bits (at most 32) as a number.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, DecodeError> {
        let (window, valid) = self.window();
        if count > valid {
            return Err(TRUNCATED);
        }
        self.at += count as usize;
        Ok((window >> 32 >> (32 - count)) as u32)
    }

    /// Skips `count` bits.
    pub(super) fn skip(&mut self, count: u64) -> Result<(), DecodeError> {
        let left = self.bytes.len() * 8 - self.at;
        let count = usize::try_from(count).ok().filter(|count| *count <= left).ok_or(TRUNCATED)?;
        self.at += count;
        Ok(())
    }

    /// Skips zero bits and the set bit after them. Returns the number of zero bits.
    pub(super) fn zeros(&mut self) -> Result<u64, DecodeError> {
        let mut total = 0;
        loop {
            let (window, valid) = self.window();
            let zeros = window.leading_zeros();
            if zeros < valid {
                self.at += zeros as usize + 1;
                return Ok(total + u64::from(zeros));
            }
            if valid == 0 {
                return Err(TRUNCATED);
            }
            self.at += valid as usize;
            total += u64::from(valid);
        }
    }

    /// Skips a Rice code: zero bits, a set bit, and `parameter` more bits (at most 31).
    pub(super) fn skip_rice(&mut self, parameter: u32) -> Result<(), DecodeError> {
        let (window, valid) = self.window();
        let length = window.leading_zeros() + 1 + parameter;
        if length <= valid {
            self.at += length as usize;
            return Ok(());
        }
        self.zeros()?;
        self.skip(parameter.into())
    }

    /// Skips the remaining bits of a byte. Returns the number of bytes that were read so far.
    pub(super) fn align(&mut self) -> usize {
        self.at = self.at.next_multiple_of(8);
        self.at / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bit_comes_first() {
        let mut bits = Bits::new(&[0b1010_0110, 0xff, 0, 0, 1, 0x80]);
        assert_eq!(bits.take(3), Ok(0b101));
        assert_eq!(bits.take(7), Ok(0b00_11011));
        assert_eq!(bits.take(0), Ok(0));
        assert_eq!(bits.align(), 2);
        assert_eq!(bits.zeros(), Ok(23));
        assert_eq!(bits.skip(2), Ok(()));
        assert_eq!((bits.take(6), bits.take(1)), (Ok(0), Err(TRUNCATED)));
        assert_eq!(Bits::new(&[1, 2, 3, 4]).take(32), Ok(0x0102_0304));
        assert_eq!(Bits::new(&[1]).skip(9), Err(TRUNCATED));
    }

    #[test]
    fn long_runs_of_zeros_are_counted() {
        let mut bytes = vec![0; 40];
        assert_eq!(Bits::new(&bytes).zeros(), Err(TRUNCATED));
        bytes.push(0b0001_0110);
        assert_eq!(Bits::new(&bytes).zeros(), Ok(323));
        for parameter in 0..=4 {
            let mut bits = Bits::new(&bytes);
            assert_eq!(bits.skip_rice(parameter), Ok(()));
            assert_eq!(bits.at, 324 + parameter as usize);
        }
        assert_eq!(Bits::new(&bytes).skip_rice(5), Err(TRUNCATED));
    }
}
