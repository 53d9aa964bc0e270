//! The codebooks of a Vorbis setup header, only measured. A few bytes there can stand for tables of
//! gigabytes, which the decoder would allocate before it reads on: so they are measured first, and what
//! no encoder writes is refused.

use super::bits::Bits;

/// Codewords of all books; real ones have some ten thousand.
const MAX_ENTRIES: u64 = 1 << 17;
/// Numbers in the tables of all books; real ones have some hundred thousand.
const MAX_VALUES: u64 = 1 << 20;
/// Numbers a codeword stands for; real books have up to 8.
const MAX_DIMENSIONS: u32 = 64;
/// What a setup header starts with.
const MAGIC: &[u8] = b"\x05vorbis";
/// What a codebook starts with.
const SYNC: u32 = 0x56_43_42;

/// What is wrong with a setup header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// Not what it should be, or too short.
    Broken,
    /// Larger than anything that is real.
    TooLarge,
}

/// Measures the codebooks of a setup header.
pub(super) fn check(packet: &[u8]) -> Result<(), Wrong> {
    let body = packet.strip_prefix(MAGIC).ok_or(Wrong::Broken)?;
    let mut bits = Bits::new(body);
    let books = bits.take(8).ok_or(Wrong::Broken)? + 1;
    let (mut entries, mut values) = (0, 0);
    for _ in 0..books {
        let (e, v) = measure(&mut bits)?;
        (entries, values) = (entries + e, values + v);
        if entries > MAX_ENTRIES || values > MAX_VALUES {
            return Err(Wrong::TooLarge);
        }
    }
    Ok(())
}

/// Codewords and numbers of one book.
fn measure(bits: &mut Bits<'_>) -> Result<(u64, u64), Wrong> {
    let sync = bits.take(24).ok_or(Wrong::Broken)?;
    let dimensions = bits.take(16).ok_or(Wrong::Broken)?;
    let entries = bits.take(24).ok_or(Wrong::Broken)?;
    if sync != SYNC || dimensions == 0 || entries == 0 {
        return Err(Wrong::Broken);
    }
    if u64::from(entries) > MAX_ENTRIES || dimensions > MAX_DIMENSIONS {
        return Err(Wrong::TooLarge);
    }
    skip_lengths(bits, entries).ok_or(Wrong::Broken)?;
    let values = u64::from(entries) * u64::from(dimensions);
    let numbers = match bits.take(4).ok_or(Wrong::Broken)? {
        0 => return Ok((entries.into(), 0)),
        1 => lattice(entries, dimensions),
        2 => values,
        _ => return Err(Wrong::Broken),
    };
    if values > MAX_VALUES {
        return Err(Wrong::TooLarge);
    }
    skip_table(bits, numbers).ok_or(Wrong::Broken)?;
    Ok((entries.into(), values))
}

/// The lengths of the codewords.
fn skip_lengths(bits: &mut Bits<'_>, entries: u32) -> Option<()> {
    if bits.flag()? {
        // By length, with how many there are of each.
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

/// Least value, step, and the numbers themselves.
fn skip_table(bits: &mut Bits<'_>, numbers: u64) -> Option<()> {
    bits.skip(64)?;
    let width = bits.take(4)? + 1;
    bits.skip(1)?;
    bits.skip(usize::try_from(numbers).ok()? * width as usize)
}

/// The greatest number whose power of `dimensions` is not above `entries`.
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

    /// Bits, the lowest of each number first.
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

    /// One book that says how many codewords there are in a few bits.
    fn book(dimensions: u64, entries: u64) -> Writer {
        let head = Writer::default().put(0, 8).put(SYNC.into(), 24).put(dimensions, 16).put(entries, 24);
        let width = u64::BITS - entries.leading_zeros();
        head.put(1, 1).put(0, 5).put(entries, width).put(1, 4).put(0, 64).put(0, 4).put(0, 1).put(0, 64)
    }

    #[test]
    fn a_small_book_passes_and_what_stands_for_gigabytes_does_not() {
        assert_eq!(check(&book(2, 16).packet()), Ok(()));
        for (dimensions, entries) in [(65_535, 16), (2, (1 << 24) - 1), (64, 1 << 17)] {
            assert_eq!(check(&book(dimensions, entries).packet()), Err(Wrong::TooLarge), "{dimensions}");
        }
        for (dimensions, entries) in [(0, 16), (2, 0)] {
            assert_eq!(check(&book(dimensions, entries).packet()), Err(Wrong::Broken), "{dimensions}");
        }
        let packet = book(2, 16).packet();
        for end in 0..packet.len() - 9 {
            assert_eq!(check(&packet[..end]), Err(Wrong::Broken), "{end}");
        }
    }

    #[test]
    fn roots_are_whole() {
        assert_eq!(lattice(3125, 5), 5);
        assert_eq!(lattice(3124, 5), 4);
        assert_eq!(lattice(1, 64), 1);
        assert_eq!(lattice(1 << 17, 1), 1 << 17);
    }
}
