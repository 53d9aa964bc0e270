//! Reads the codebooks of a Vorbis setup header without storing their content. A few bytes in this
//! header can describe tables of gigabytes, which a player of the file would allocate at once.
//! Therefore this module refuses codebooks that are larger than any encoder writes.

use super::bits::Bits;
use super::setup::SetupError;

/// Maximum number of codewords in all codebooks. Real files have some tens of thousands.
const MAX_ENTRIES: u64 = 1 << 17;
/// Maximum number of values in the tables of all codebooks. Real files have some hundreds of
/// thousands.
const MAX_VALUES: u64 = 1 << 20;
/// Maximum number of values per codeword. Real codebooks have up to 8.
const MAX_DIMENSIONS: u32 = 64;
/// The first bits of a codebook.
const SYNC: u32 = 0x56_43_42;

/// Skips all codebooks and checks their sizes. Returns the number of codebooks.
pub(super) fn skip(bits: &mut Bits<'_>) -> Result<u32, SetupError> {
    let books = bits.take(8).ok_or(SetupError::Broken)? + 1;
    let (mut entries, mut values) = (0, 0);
    for _ in 0..books {
        let (e, v) = measure(bits)?;
        (entries, values) = (entries + e, values + v);
        if entries > MAX_ENTRIES || values > MAX_VALUES {
            return Err(SetupError::TooLarge);
        }
    }
    Ok(books)
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

/// Reads the lengths of the codewords. Returns `None` if they are invalid.
fn skip_lengths(bits: &mut Bits<'_>, entries: u32) -> Option<()> {
    let mut code = PrefixCode::default();
    if bits.flag()? {
        // In the ordered form, the header gives the number of codewords for each length.
        let mut length = bits.take(5)? + 1;
        let mut done = 0;
        while done < entries {
            let width = u32::BITS - (entries - done).leading_zeros();
            let count = bits.take(width)?;
            code.add(length, count)?;
            (done, length) = (done + count, length + 1);
        }
        return (done == entries && code.is_complete()).then_some(());
    }
    let sparse = bits.flag()?;
    for _ in 0..entries {
        if !sparse || bits.flag()? {
            code.add(bits.take(5)? + 1, 1)?;
        }
    }
    code.is_complete().then_some(())
}

/// Checks that the lengths of codewords belong to a prefix code.
#[derive(Default)]
struct PrefixCode {
    /// Number of codewords.
    count: u64,
    /// Number of 32-bit words that start with one of the codewords. A complete code covers all 2^32
    /// words.
    covered: u64,
}

impl PrefixCode {
    /// Adds `count` codewords of the same length. Returns `None` if the length is invalid.
    fn add(&mut self, length: u32, count: u32) -> Option<()> {
        self.count += u64::from(count);
        self.covered += u64::from(count) << 32u32.checked_sub(length)?;
        Some(())
    }

    /// Whether every sequence of bits starts with exactly one codeword. A code with at most one
    /// codeword is accepted too, because encoders write such codes.
    fn is_complete(&self) -> bool {
        self.count < 2 || self.covered == 1 << 32
    }
}

/// Skips the value table: minimum, step and values. Returns `None` if the header is too short.
fn skip_table(bits: &mut Bits<'_>, numbers: u64) -> Option<()> {
    bits.skip(64)?;
    let width = bits.take(4)? + 1;
    bits.skip(1)?;
    bits.skip(usize::try_from(numbers).ok()? * width as usize)
}

/// The greatest number n with n^`dimensions` ≤ `entries`. A value table of type 1 stores this
/// number of values.
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
            self.0.chunks(8).map(byte).collect()
        }
    }

    /// The codebooks of a setup header: one codebook of `entries` codewords. All codewords have the
    /// same length.
    fn book(dimensions: u64, entries: u64) -> Writer {
        let head = Writer::default().put(0, 8).put(SYNC.into(), 24).put(dimensions, 16).put(entries, 24);
        let width = u64::BITS - entries.leading_zeros();
        let length = u64::from(entries.max(2).ilog2()) - 1;
        head.put(1, 1).put(length, 5).put(entries, width).put(1, 4).put(0, 64).put(0, 4).put(0, 1).put(0, 64)
    }

    fn check(packet: &[u8]) -> Result<u32, SetupError> {
        skip(&mut Bits::new(packet))
    }

    #[test]
    fn a_small_codebook_is_accepted_and_a_huge_one_is_refused() {
        assert_eq!(check(&book(2, 16).packet()), Ok(1));
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
    fn codewords_that_are_ambiguous_or_missing_are_refused() {
        let code = |lengths: &[u32]| {
            let mut code = PrefixCode::default();
            lengths.iter().try_for_each(|length| code.add(*length, 1)).is_some() && code.is_complete()
        };
        for lengths in [&[][..], &[1], &[7], &[1, 1], &[1, 2, 3, 3], &[2, 2, 2, 2]] {
            assert!(code(lengths), "{lengths:?}");
        }
        for lengths in [&[1, 2][..], &[1, 1, 1], &[1, 2, 3], &[1, 1, 32], &[33]] {
            assert!(!code(lengths), "{lengths:?}");
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
