//! The third header of a Vorbis stream: codebooks, floors, residues, mappings and modes. Only the
//! modes are needed, because they give the length of each packet in samples. The modes come last,
//! so this module has to read the other parts too. It also checks the references between the parts.

use super::bits::Bits;
use super::codebooks;

/// The first bytes of a setup header.
const MAGIC: &[u8] = b"\x05vorbis";

/// The defect of a setup header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetupError {
    /// The header is invalid or too short.
    Broken,
    /// The codebooks are larger than in any real file.
    TooLarge,
}

/// The modes of a stream. Each packet has a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Modes {
    /// Number of modes, 1 to 64.
    count: u32,
    /// Bit k is set if mode k has long blocks.
    long: u64,
}

impl Modes {
    /// Reads the start of an audio packet. Returns whether its block is long; `None` if the packet
    /// is invalid.
    pub(super) fn is_long(&self, packet: &[u8]) -> Option<bool> {
        let mut bits = Bits::new(packet);
        if bits.flag()? {
            return None;
        }
        let mode = bits.take(width(self.count - 1))?;
        let long = self.long >> mode & 1 == 1;
        if long {
            // These two bits are the shape of the window on both sides. The shape does not change
            // the number of samples.
            bits.skip(2)?;
        }
        (mode < self.count).then_some(long)
    }
}

/// Reads a setup header. `channels` is the number of channels in the first header.
pub(super) fn read(packet: &[u8], channels: u32) -> Result<Modes, SetupError> {
    let mut bits = Bits::new(packet.strip_prefix(MAGIC).ok_or(SetupError::Broken)?);
    let books = codebooks::skip(&mut bits)?;
    read_modes(&mut bits, books, channels).ok_or(SetupError::Broken)
}

fn read_modes(bits: &mut Bits<'_>, books: u32, channels: u32) -> Option<Modes> {
    for _ in 0..=bits.take(6)? {
        expect_zero(bits, 16)?;
    }
    let floors = bits.take(6)? + 1;
    for _ in 0..floors {
        skip_floor(bits, books)?;
    }
    let residues = bits.take(6)? + 1;
    for _ in 0..residues {
        skip_residue(bits, books)?;
    }
    let mappings = bits.take(6)? + 1;
    for _ in 0..mappings {
        skip_mapping(bits, channels, floors, residues)?;
    }
    let mut modes = Modes { count: bits.take(6)? + 1, long: 0 };
    for mode in 0..modes.count {
        modes.long |= u64::from(bits.flag()?) << mode;
        expect_zero(bits, 32)?;
        take_below(bits, 8, mappings)?;
    }
    bits.flag()?.then_some(modes)
}

/// Number of bits that are needed for `largest`.
fn width(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Reads a number of `count` bits. Returns `None` if the number is not smaller than `limit`, or if
/// the header is too short.
fn take_below(bits: &mut Bits<'_>, count: u32, limit: u32) -> Option<u32> {
    bits.take(count).filter(|number| *number < limit)
}

fn expect_zero(bits: &mut Bits<'_>, count: u32) -> Option<()> {
    take_below(bits, count, 1).map(|_| ())
}

fn skip_floor(bits: &mut Bits<'_>, books: u32) -> Option<()> {
    match bits.take(16)? {
        0 => {
            // Order, rate, size of the map, and two properties of the amplitude.
            bits.skip(8 + 16 + 16 + 6 + 8)?;
            for _ in 0..=bits.take(4)? {
                take_below(bits, 8, books)?;
            }
            Some(())
        }
        1 => skip_floor_1(bits, books),
        _ => None,
    }
}

fn skip_floor_1(bits: &mut Bits<'_>, books: u32) -> Option<()> {
    // The class of each partition.
    let mut partitions = [0; 31];
    let partitions = &mut partitions[..bits.take(5)? as usize];
    for class in partitions.iter_mut() {
        *class = bits.take(4)? as usize;
    }
    // The number of points of a partition of each class.
    let mut points = [0; 16];
    let classes = partitions.iter().max().map_or(0, |largest| largest + 1);
    for count in &mut points[..classes] {
        *count = bits.take(3)? as usize + 1;
        let subclasses = bits.take(2)?;
        if subclasses > 0 {
            take_below(bits, 8, books)?;
        }
        for _ in 0..1 << subclasses {
            // 0 means that the subclass has no codebook.
            take_below(bits, 8, books + 1)?;
        }
    }
    bits.skip(2)?;
    let size = bits.take(4)? as usize;
    bits.skip(partitions.iter().map(|class| points[*class]).sum::<usize>() * size)
}

fn skip_residue(bits: &mut Bits<'_>, books: u32) -> Option<()> {
    take_below(bits, 16, 3)?;
    // Start, end and size of the partitions.
    bits.skip(24 + 24 + 24)?;
    let classes = bits.take(6)? + 1;
    take_below(bits, 8, books)?;
    // Each class has up to eight codebooks, and a set bit for each codebook that it uses.
    let mut used = 0;
    for _ in 0..classes {
        let low = bits.take(3)?;
        let high = if bits.flag()? { bits.take(5)? } else { 0 };
        used += low.count_ones() + high.count_ones();
    }
    for _ in 0..used {
        take_below(bits, 8, books)?;
    }
    Some(())
}

fn skip_mapping(bits: &mut Bits<'_>, channels: u32, floors: u32, residues: u32) -> Option<()> {
    expect_zero(bits, 16)?;
    let submaps = if bits.flag()? { bits.take(4)? + 1 } else { 1 };
    if bits.flag()? {
        for _ in 0..=bits.take(8)? {
            let magnitude = take_below(bits, width(channels - 1), channels)?;
            take_below(bits, width(channels - 1), channels).filter(|angle| *angle != magnitude)?;
        }
    }
    expect_zero(bits, 2)?;
    if submaps > 1 {
        for _ in 0..channels {
            take_below(bits, 4, submaps)?;
        }
    }
    for _ in 0..submaps {
        bits.skip(8)?;
        take_below(bits, 8, floors)?;
        take_below(bits, 8, residues)?;
    }
    Some(())
}
