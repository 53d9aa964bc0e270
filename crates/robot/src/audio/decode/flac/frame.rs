//! A frame of a FLAC file: a header, one subframe for each channel, and a checksum. The frame does
//! not give its length in bytes, so this module reads the subframes to find the end. It does not
//! compute the samples.

use super::bits::Bits;
use super::{TRUNCATED, damaged};
use crate::audio::decode::clip::DecodeError;
use crate::audio::decode::crc::{CRC_8, CRC_16};

/// The first bits of a frame, and their number. The last bit is reserved.
const SYNC: (u32, u32) = (0b111_1111_1111_1100, 15);

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Samples per channel.
    pub(super) samples: u32,
    pub(super) channels: u16,
    /// The channel that contains a difference of two channels; `None` if no channel does. Its
    /// samples have one bit more than those of the other channel.
    side: Option<u16>,
    /// Bits per sample.
    depth: u32,
}

/// Reads the frame at the start of `bytes`. `depth` is the number of bits per sample in the stream
/// info. Returns the header and the bytes after the frame.
pub(super) fn read(bytes: &[u8], depth: u32) -> Result<(Frame, &[u8]), DecodeError> {
    let mut bits = Bits::new(bytes);
    let frame = read_header(&mut bits, depth)?;
    let length = bits.align();
    if CRC_8.add(0, &bytes[..length]) >> 24 != bits.take(8)? {
        return Err(damaged("the checksum of a frame header is wrong"));
    }
    for channel in 0..frame.channels {
        let extra = u32::from(frame.side == Some(channel));
        skip_subframe(&mut bits, frame.samples, frame.depth + extra)?;
    }
    let (body, after) = bytes.split_at_checked(bits.align()).ok_or(TRUNCATED)?;
    let (sum, after) = after.split_first_chunk::<2>().ok_or(TRUNCATED)?;
    if CRC_16.add(0, body) >> 16 != u32::from(u16::from_be_bytes(*sum)) {
        return Err(damaged("the checksum of a frame is wrong"));
    }
    Ok((frame, after))
}

fn read_header(bits: &mut Bits<'_>, depth: u32) -> Result<Frame, DecodeError> {
    if bits.take(SYNC.1)? != SYNC.0 {
        return Err(damaged("there is unknown data between its frames"));
    }
    // The next bit tells whether the number that `skip_number` skips counts frames or samples.
    bits.skip(1)?;
    let (size, rate) = (bits.take(4)?, bits.take(4)?);
    let (channels, side) = match bits.take(4)? {
        independent @ 0..=7 => (independent as u16 + 1, None),
        8 | 10 => (2, Some(1)),
        9 => (2, Some(0)),
        _ => return Err(damaged("the channels of a frame are invalid")),
    };
    let depth = match bits.take(3)? {
        0 => depth,
        1 => 8,
        2 => 12,
        4 => 16,
        5 => 20,
        6 => 24,
        7 => 32,
        _ => return Err(damaged("the sample size of a frame is invalid")),
    };
    if bits.take(1)? != 0 {
        return Err(damaged("a frame header is invalid"));
    }
    skip_number(bits)?;
    let samples = match size {
        1 => 192,
        2..=5 => 576 << (size - 2),
        6 => bits.take(8)? + 1,
        7 => bits.take(16)? + 1,
        8.. => 256 << (size - 8),
        0 => return Err(damaged("the block size of a frame is invalid")),
    };
    // The sample rate is skipped, because the stream info also contains it.
    match rate {
        12 => bits.skip(8)?,
        13 | 14 => bits.skip(16)?,
        15 => return Err(damaged("the sample rate of a frame is invalid")),
        _ => {}
    }
    Ok(Frame { samples, channels, side, depth })
}

/// Skips the number of the frame or of its first sample. The number is encoded like UTF-8.
fn skip_number(bits: &mut Bits<'_>) -> Result<(), DecodeError> {
    let invalid = damaged("the number of a frame is invalid");
    let more = match (bits.take(8)? as u8).leading_ones() {
        0 => 0,
        ones @ 2..=7 => ones - 1,
        _ => return Err(invalid),
    };
    for _ in 0..more {
        if bits.take(8)? >> 6 != 0b10 {
            return Err(invalid);
        }
    }
    Ok(())
}

/// Skips the samples of one channel. `depth` is the number of bits per sample.
fn skip_subframe(bits: &mut Bits<'_>, samples: u32, depth: u32) -> Result<(), DecodeError> {
    let invalid = damaged("a frame contains invalid samples");
    if bits.take(1)? != 0 {
        return Err(invalid);
    }
    let kind = bits.take(6)?;
    // If the lowest bits of all samples are zero, an encoder can omit them.
    let omitted = if bits.take(1)? == 1 { bits.zeros()? + 1 } else { 0 };
    let depth = u64::from(depth).checked_sub(omitted).filter(|depth| *depth > 0).ok_or(invalid)?;
    let order = match kind {
        0 => return bits.skip(depth),
        1 => return bits.skip(depth * u64::from(samples)),
        8..=12 => kind - 8,
        32.. => kind - 31,
        _ => return Err(invalid),
    };
    if order > samples {
        return Err(invalid);
    }
    bits.skip(depth * u64::from(order))?;
    if kind >= 32 {
        skip_coefficients(bits, order)?;
    }
    skip_residual(bits, samples, order)
}

/// Skips the coefficients of a linear predictor.
fn skip_coefficients(bits: &mut Bits<'_>, order: u32) -> Result<(), DecodeError> {
    let precision = bits.take(4)? + 1;
    let shift = bits.take(5)?;
    // The shift is a signed number, and must not be negative.
    if precision == 16 || shift >= 16 {
        return Err(damaged("a predictor of a frame is invalid"));
    }
    bits.skip(u64::from(precision * order))
}

/// Skips the differences between the samples and their prediction. `order` is the number of samples
/// without a prediction.
fn skip_residual(bits: &mut Bits<'_>, samples: u32, order: u32) -> Result<(), DecodeError> {
    let invalid = damaged("a residual of a frame is invalid");
    let width = match bits.take(2)? {
        0 => 4,
        1 => 5,
        _ => return Err(invalid),
    };
    let partitions = 1 << bits.take(4)?;
    let each = samples / partitions;
    if !samples.is_multiple_of(partitions) || each < order {
        return Err(invalid);
    }
    for partition in 0..partitions {
        let count = if partition == 0 { each - order } else { each };
        let parameter = bits.take(width)?;
        // The largest parameter means that the numbers have no Rice code. Their size in bits
        // follows.
        if parameter == (1 << width) - 1 {
            let size = bits.take(5)?;
            bits.skip(u64::from(size) * u64::from(count))?;
            continue;
        }
        for _ in 0..count {
            bits.skip_rice(parameter)?;
        }
    }
    Ok(())
}
