//! Checksums of audio files: cyclic redundancy checks that process the highest bit first, start at
//! zero and invert nothing. A sum of fewer than 32 bits is in the upper bits of a `u32`.

/// The checksum of an Ogg page.
pub(super) const CRC_32: Crc = Crc::new(0x04c1_1db7);
/// The checksum of a FLAC frame, in the upper 16 bits.
pub(super) const CRC_16: Crc = Crc::new(0x8005 << 16);
/// The checksum of a FLAC frame header, in the upper 8 bits.
pub(super) const CRC_8: Crc = Crc::new(0x07 << 24);

/// A table with the change of the sum for each byte.
pub(super) struct Crc([u32; 256]);

impl Crc {
    const fn new(polynomial: u32) -> Crc {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let mut sum = (i as u32) << 24;
            let mut bit = 0;
            while bit < 8 {
                sum = sum << 1 ^ if sum >> 31 == 1 { polynomial } else { 0 };
                bit += 1;
            }
            table[i] = sum;
            i += 1;
        }
        Crc(table)
    }

    /// Continues a sum with more bytes. The first sum is 0.
    pub(super) fn add(&self, sum: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(sum, |sum, byte| sum << 8 ^ self.0[usize::from((sum >> 24) as u8 ^ byte)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_the_standard_text_are_right() {
        let text = b"123456789";
        assert_eq!(CRC_8.add(0, text), 0xf4 << 24);
        assert_eq!(CRC_16.add(0, text), 0xfee8 << 16);
        assert_eq!(CRC_32.add(0, text), 0x89a1_897f);
    }
}
