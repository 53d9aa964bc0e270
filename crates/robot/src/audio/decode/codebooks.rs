//! Computes the sizes of the codebooks of a Vorbis setup header. A few bytes in this header can
//! describe tables of gigabytes, and the decoder would allocate them at once. Therefore this module
//! computes the sizes first and refuses codebooks that are larger than any encoder writes.

use super::bits::Bits;

/// Maximum number of codewords in all codebooks. Real files have some tens of thousands.
const MAX_ENTRIES: u64 = 1 << 17;
/// Maximum number of values in the tables of all codebooks. Real files have some hundreds of
/// thousands.
const MAX_VALUES: u64 = 1 << 20;
/// Maximum number of values per codeword. Real codebooks have up to 8.
const MAX_DIMENSIONS: u32 = 64;
/// The first bytes of a setup header.
const MAGIC: &[u8] = b"\x05vorbis";
/// The first bits of a codebook.
const SYNC: u32 = 0x56_43_42;

/// The defect of a setup header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetupError {
    /// The header is invalid or too short.
    Broken,
    /// The codebooks are larger than in any real file.
    TooLarge,
}

/// Checks the sizes of the codebooks of a setup header.
pub(super) fn check(packet: &[u8]) -> Result<(), SetupError> {
    let body = packet.strip_prefix(MAGIC).ok_or(SetupError::Broken)?;
    let mut bits = Bits::new(body);
    let books = bits.take(8).ok_or(SetupError::Broken)? + 1;
    let (mut entries, mut values) = (0, 0);
    for _ in 0..books {
        let (e, v) = measure(&mut bits)?;
        (entries, values) = (entries + e, values + v);
        if entries > MAX_ENTRIES || values > MAX_VALUES {
            return Err(SetupError::TooLarge);
        }
    }
    Ok(())
}

/// Reads one codebook and returns its numbers of codewords and values.
fn measure(bits: &mut Bits<'_>) -> Result<(u64, u64), SetupError> {
    let sync = bits.take(24).ok_or(SetupError::Broken)?;
    let dimensions = bits.take(16).ok_or(SetupError::Broken)?;
    let entries = bits.take(24).ok_or(SetupError::Broken)?;
    if sync != SYNC || dimensions == 0 || entries == 0 {
        return Err(SetupError::Broken);
    }
    if u64::from(entries) > MAX_ENTRIES || dimensions > MAX_DIMENSIONS {
        return Err(SetupError::TooLarge);
    }
    skip_lengths(bits, entries).ok_or(SetupError::Broken)?;
    let values = u64::from(entries) * u64::from(dimensions);
    let numbers = match bits.take(4).ok_or(SetupError::Broken)? {
        0 => return Ok((entries.into(), 0)),
        1 => lattice(entries, dimensions),
        2 => values,
        _ => return Err(SetupError::Broken),
    };
    if values > MAX_VALUES {
        return Err(SetupError::TooLarge);
    }
    skip_table(bits, numbers).ok_or(SetupError::Broken)?;
    Ok((entries.into(), values))
}

/// Skips the lengths of the codewords. Returns `None` if the header is too short.
fn skip_lengths(bits: &mut Bits<'_>, entries: u32) -> Option<()> {
    if bits.flag()? {
        // In the ordered form, the header gives the number of codewords for each length.
        bits.skip(5)?;
        let mut done = 0;
        while done < entries {
            let width = u32::BITS - (entries - done).leading_zeros();
            done += bits.take(width)?;
        }
        return (done == entries).then_some(());
    }
    if !bits.flag()? {
        return bits.skip(5 * entries as usize);
    }
    for _ in 0..entries {
        if bits.flag()? {
            bits.skip(5)?;
        }
    }
    Some(())
}

/// Skips the value table: minimum, step and values. Returns `None` if the header is too short.
fn skip_table(bits: &mut Bits<'_>, numbers: u64) -> Option<()> {
    bits.skip(64)?;
    let width = bits.take(4)? + 1;
    bits.skip(1)?;
    bits.skip(usize::try_from(numbers).ok()? * width as usize)
}

/// The greatest number n with n^`dimensions` ≤ `entries`.
fn lattice(entries: u32, dimensions: u32) -> u64 {
    let fits = |base: u64| base.checked_pow(dimensions).is_some_and(|power| power <= u64::from(entries));
    let (mut low, mut high) = (1, u64::from(entries) + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bit writer. The lowest bit of each number comes first.
    #[derive(Default)]
    struct Writer(Vec<bool>);

    impl Writer {
        fn put(mut self, value: u64, count: u32) -> Writer {
            self.0.extend((0..count).map(|i| value >> i & 1 == 1));
            self
        }

        fn packet(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |b, bit| b << 1 | u8::from(*bit));
            [MAGIC, &self.0.chunks(8).map(byte).collect::<Vec<u8>>()].concat()
        }
    }

    /// One codebook. Its number of codewords is given in a few bits.
    fn book(dimensions: u64, entries: u64) -> Writer {
        let head = Writer::default().put(0, 8).put(SYNC.into(), 24).put(dimensions, 16).put(entries, 24);
        let width = u64::BITS - entries.leading_zeros();
        head.put(1, 1).put(0, 5).put(entries, width).put(1, 4).put(0, 64).put(0, 4).put(0, 1).put(0, 64)
    }

    #[test]
    fn a_small_codebook_is_accepted_and_a_huge_one_is_refused() {
        assert_eq!(check(&book(2, 16).packet()), Ok(()));
        for (dimensions, entries) in [(65_535, 16), (2, (1 << 24) - 1), (64, 1 << 17)] {
            assert_eq!(check(&book(dimensions, entries).packet()), Err(SetupError::TooLarge), "{dimensions}");
        }
        for (dimensions, entries) in [(0, 16), (2, 0)] {
            assert_eq!(check(&book(dimensions, entries).packet()), Err(SetupError::Broken), "{dimensions}");
        }
        let packet = book(2, 16).packet();
        for end in 0..packet.len() - 9 {
            assert_eq!(check(&packet[..end]), Err(SetupError::Broken), "{end}");
        }
    }

    #[test]
    fn lattice_is_the_integer_root() {
        assert_eq!(lattice(3125, 5), 5);
        assert_eq!(lattice(3124, 5), 4);
        assert_eq!(lattice(1, 64), 1);
        assert_eq!(lattice(1 << 17, 1), 1 << 17);
    }
}
