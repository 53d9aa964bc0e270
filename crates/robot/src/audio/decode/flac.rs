//! FLAC: metadata blocks, then frames. The blocks are skipped here, so that no length in them is
//! believed by the decoder; the frames carry checksums, and what they hold is counted.

use super::{Budget, Clip, DecodeError, Format};
use claxon::frame::FrameReader;
use std::io::Cursor;

/// The least that a frame costs, in samples a channel.
const LEAST: u64 = 64;
const CUT_OFF: DecodeError = DecodeError::Truncated(Format::Flac);

fn damaged(what: &'static str) -> DecodeError {
    DecodeError::Damaged { format: Format::Flac, what }
}

/// What the first block says.
struct StreamInfo {
    sample_rate: u32,
    channels: u16,
    /// Samples a channel; 0 if the encoder did not know.
    total: u64,
}

pub(super) fn decode(file: &[u8], go_on: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let (info, frames) = read_blocks(file.get(4..).ok_or(CUT_OFF)?)?;
    let mut budget = Budget::new(info.sample_rate, info.channels, go_on)?;
    budget.check(info.total)?;
    let mut reader = FrameReader::new(Cursor::new(frames));
    let mut buffer = Vec::new();
    // What follows the last sample is a tag, or nothing.
    while info.total == 0 || budget.frames < info.total {
        let Some(block) = reader.read_next_or_eof(buffer).map_err(|e| explain(&e))? else { break };
        if block.channels() != u32::from(info.channels) {
            return Err(damaged("its number of channels changes"));
        }
        budget.add(u64::from(block.duration()), LEAST)?;
        buffer = block.into_buffer();
    }
    match budget.frames {
        frames if frames < info.total => Err(CUT_OFF),
        frames if info.total > 0 && frames > info.total => Err(damaged("it holds more than it says")),
        _ => Ok(budget.clip(Format::Flac)),
    }
}

/// The first block, and what follows the last one.
fn read_blocks(mut rest: &[u8]) -> Result<(StreamInfo, &[u8]), DecodeError> {
    let mut info = None;
    loop {
        let (&[kind, a, b, c], after) = rest.split_first_chunk::<4>().ok_or(CUT_OFF)?;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let (body, after) = after.split_at_checked(length).ok_or(CUT_OFF)?;
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
    // 20 bits rate, 3 channels − 1, 5 bits a sample − 1, 36 samples.
    let packed = packed.ok_or(damaged("its stream info has a wrong length"))?;
    Ok(StreamInfo {
        sample_rate: (packed >> 44) as u32,
        channels: (packed >> 41 & 7) as u16 + 1,
        total: packed & ((1 << 36) - 1),
    })
}

fn explain(error: &claxon::Error) -> DecodeError {
    match error {
        claxon::Error::IoError(_) => CUT_OFF,
        claxon::Error::FormatError(what) => damaged(what),
        claxon::Error::Unsupported(what) => DecodeError::Unsupported { format: Format::Flac, what },
    }
}
