//! Huffman coding of quantised blocks.

use super::tables::{Codes, ZIGZAG};
use super::transform::Pair;

/// Symbol of a run of sixteen zeros.
const SIXTEEN_ZEROS: usize = 0xf0;
/// Symbol after the last coefficient that is not zero.
const END_OF_BLOCK: usize = 0x00;

/// Index of each coefficient in the first block of a [`Pair`], in zigzag order. A pair is stored
/// column by column, and has two blocks side by side.
const PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut z = 0;
    while z < 64 {
        places[z] = ZIGZAG[z] % 8 * 16 + ZIGZAG[z] / 8;
        z += 1;
    }
    places
};

/// Writes codes into a vector of bytes. A zero byte follows each byte of 255, because otherwise a
/// decoder would read a marker.
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The low `count` bits are the bits that are not written yet.
    bits: u64,
    /// Number of bits that are not written yet. It is less than 32 between calls.
    count: u32,
}

impl BitWriter {
    pub(super) fn new(capacity: usize) -> BitWriter {
        BitWriter { bytes: Vec::with_capacity(capacity), bits: 0, count: 0 }
    }

    /// Writes the low `count` bits of `bits`, at most 32. All other bits of `bits` are zero.
    #[inline(always)]
    fn put(&mut self, bits: u32, count: u32) {
        self.bits = self.bits << count | u64::from(bits);
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            self.write((self.bits >> self.count) as u32);
        }
    }

    #[inline(always)]
    fn write(&mut self, word: u32) {
        let bytes = word.to_be_bytes();
        // A byte is 255 if its high bit is set and adding one clears the bit. A carry from the byte
        // below can only cause a false positive, and the slow path is correct for every word.
        if word & 0x8080_8080 & !word.wrapping_add(0x0101_0101) == 0 {
            self.bytes.extend_from_slice(&bytes);
        } else {
            bytes.into_iter().for_each(|byte| self.write_byte(byte));
        }
    }

    fn write_byte(&mut self, byte: u8) {
        self.bytes.push(byte);
        if byte == 0xff {
            self.bytes.push(0);
        }
    }

    /// Writes one block of a pair: the first block if `offset` is 0, the second block if `offset`
    /// is 8. Bit `z` of `nonzero` tells whether coefficient `z` in zigzag order is not zero.
    /// `previous` is the first coefficient of the previous block of the same component.
    #[inline(always)]
    pub(super) fn block(
        &mut self,
        pair: &Pair,
        offset: usize,
        nonzero: u64,
        previous: &mut i32,
        [dc, ac]: &[Codes; 2],
    ) {
        let coefficients = pair.0.as_flattened();
        let first = i32::from(coefficients[offset]);
        self.value(0, first - *previous, dc);
        *previous = first;
        let mut left = nonzero & !1;
        let mut last = 0;
        while left != 0 {
            let z = left.trailing_zeros();
            left &= left - 1;
            let mut run = z - last - 1;
            last = z;
            while run > 15 {
                self.put(ac[SIXTEEN_ZEROS] >> 8, ac[SIXTEEN_ZEROS] & 255);
                run -= 16;
            }
            let place = usize::from(PLACES[z as usize & 63]) + offset;
            self.value(run, i32::from(coefficients[place & 127]), ac);
        }
        if last != 63 {
            self.put(ac[END_OF_BLOCK] >> 8, ac[END_OF_BLOCK] & 255);
        }
    }

    /// Writes a value after a run of zeros: the code of run and size, then the bits of the value.
    #[inline(always)]
    fn value(&mut self, run: u32, value: i32, codes: &Codes) {
        let size = 32 - value.unsigned_abs().leading_zeros();
        // A negative value is written as the low bits of `value` − 1.
        let bits = (value + (value >> 31)) as u32 & ((1 << size) - 1);
        let code = codes[(run << 4 | size) as usize & 255];
        self.put((code >> 8) << size | bits, (code & 255) + size);
    }

    /// Fills the last byte with ones, appends a marker, and returns all bytes.
    pub(super) fn finish(mut self, marker: u8) -> Vec<u8> {
        let missing = self.count.wrapping_neg() % 8;
        self.put((1 << missing) - 1, missing);
        while self.count > 0 {
            self.count -= 8;
            self.write_byte((self.bits >> self.count) as u8);
        }
        self.bytes.extend([0xff, marker]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_written_in_order_and_each_255_is_followed_by_zero() {
        let mut writer = BitWriter::new(0);
        for byte in [0x12, 0xff, 0x34, 0xff, 0xff, 0x00, 0xfe, 0x7f, 0x80] {
            writer.put(byte >> 5, 3);
            writer.put(byte & 31, 5);
        }
        writer.put(0b10, 2);
        let want = [0x12, 0xff, 0, 0x34, 0xff, 0, 0xff, 0, 0x00, 0xfe, 0x7f, 0x80, 0b1011_1111, 0xff, 0xd9];
        assert_eq!(writer.finish(0xd9), want);
        assert_eq!(BitWriter::new(0).finish(0xd0), [0xff, 0xd0]);
    }
}
