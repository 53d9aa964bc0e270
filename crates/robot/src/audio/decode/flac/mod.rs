//! FLAC files: metadata blocks, then frames with checksums. This module reads the first metadata
//! block and skips the others. It reads the frames to check their checksums and to count their
//! samples. It allocates no memory.

mod bits;
mod frame;

use super::clip::{Budget, Clip, DecodeError, Format};

/// Minimum cost of a frame in [`Budget::add`], in samples per channel.
const MIN_FRAME_COST: u64 = 64;
const TRUNCATED: DecodeError = DecodeError::Truncated(Format::Flac);

fn damaged(what: &'static str) -> DecodeError {
    DecodeError::Damaged { format: Format::Flac, what }
}

/// The content of the first metadata block.
struct StreamInfo {
    sample_rate: u32,
    channels: u16,
    /// Bits per sample.
    depth: u32,
    /// Number of samples per channel; 0 if unknown.
    total: u64,
}

pub(super) fn decode(file: &[u8], may_continue: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let (info, mut rest) = read_blocks(file.get(4..).ok_or(TRUNCATED)?)?;
    let mut budget = Budget::new(info.sample_rate, info.channels, may_continue)?;
    budget.check(info.total)?;
    // If the number of samples is known, the loop stops after the last sample, because a tag can
    // follow this sample.
    while !rest.is_empty() && (info.total == 0 || budget.frames < info.total) {
        let (frame, after) = frame::read(rest, info.depth)?;
        if frame.channels != info.channels {
            return Err(damaged("its number of channels changes"));
        }
        budget.add(frame.samples.into(), MIN_FRAME_COST)?;
        rest = after;
    }
    match budget.frames {
        frames if frames < info.total => Err(TRUNCATED),
        frames if info.total > 0 && frames > info.total => {
            Err(damaged("it contains more samples than its stream info declares"))
        }
        _ => Ok(budget.clip(Format::Flac)),
    }
}

/// Reads the first metadata block. Returns this block, and the bytes after the last block.
fn read_blocks(mut rest: &[u8]) -> Result<(StreamInfo, &[u8]), DecodeError> {
    let mut info = None;
    loop {
        let (&[kind, a, b, c], after) = rest.split_first_chunk::<4>().ok_or(TRUNCATED)?;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let (body, after) = after.split_at_checked(length).ok_or(TRUNCATED)?;
        let found = match info.take() {
            Some(info) => info,
            None if kind & 0x7f == 0 => read_info(body)?,
            None => return Err(damaged("its stream info is missing")),
        };
        if kind & 0x80 != 0 {
            return Ok((found, after));
        }
        (info, rest) = (Some(found), after);
    }
}

fn read_info(body: &[u8]) -> Result<StreamInfo, DecodeError> {
    let packed = body.get(10..18).filter(|_| body.len() == 34);
    let packed = packed.and_then(|b| b.try_into().ok()).map(u64::from_be_bytes);
    // The fields are: 20 bits sample rate, 3 bits channels − 1, 5 bits sample size − 1, 36 bits
    // sample count.
    let packed = packed.ok_or(damaged("its stream info has a wrong length"))?;
    Ok(StreamInfo {
        sample_rate: (packed >> 44) as u32,
        channels: (packed >> 41 & 7) as u16 + 1,
        depth: (packed >> 36 & 31) as u32 + 1,
        total: packed & ((1 << 36) - 1),
    })
}

#[cfg(test)]
mod tests;
