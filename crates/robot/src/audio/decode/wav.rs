//! RIFF WAVE: a format chunk describes the samples in the data chunk. Only uncompressed samples are
//! supported. They need no decoder, so this module only checks that the data is complete.

use super::clip::{Budget, Clip, DecodeError, Format};

const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;
/// The bytes that follow the two-byte format tag in the extensible format.
const SUBFORMAT: &[u8] = b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71";
/// A data chunk with this length extends to the end of the file. Programs write this length when
/// they do not know the size of the data in advance.
const UNTIL_THE_END: u32 = u32::MAX;

const TRUNCATED: DecodeError = DecodeError::Truncated(Format::Wav);

fn damaged(what: &'static str) -> DecodeError {
    DecodeError::Damaged { format: Format::Wav, what }
}

/// The layout of the samples.
struct Layout {
    sample_rate: u32,
    channels: u16,
    /// Number of bytes for one sample of every channel.
    stride: usize,
}

pub(super) fn decode(file: &[u8], may_continue: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let mut layout = None;
    let mut rest = file.get(12..).ok_or(TRUNCATED)?;
    loop {
        let (head, after) = rest.split_first_chunk::<8>().ok_or(TRUNCATED)?;
        let [i, d, e, n, length @ ..] = *head;
        let declared = u32::from_le_bytes(length);
        let length = if declared == UNTIL_THE_END { after.len() } else { declared as usize };
        let body = after.get(..length).ok_or(TRUNCATED)?;
        match &[i, d, e, n] {
            b"fmt " => layout = Some(read_layout(body)?),
            b"data" => {
                return count(body, layout.ok_or(damaged("its data comes before its format"))?, may_continue);
            }
            _ => {}
        }
        // Chunks start at even offsets.
        rest = after.get(length + length % 2..).ok_or(TRUNCATED)?;
    }
}

fn read_layout(body: &[u8]) -> Result<Layout, DecodeError> {
    let two = |at: usize| body.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let four = |at: usize| body.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let (Some(tag), Some(channels), Some(sample_rate), Some(stride), Some(bits)) =
        (two(0), two(2), four(4), two(12), two(14))
    else {
        return Err(damaged("its format chunk is too short"));
    };
    let tag = match tag {
        EXTENSIBLE if body.get(26..40) == Some(SUBFORMAT) => two(24).unwrap_or(tag),
        _ => tag,
    };
    if !matches!((tag, bits), (PCM, 8 | 16 | 24 | 32) | (FLOAT, 32 | 64)) {
        let what = "its samples are neither PCM of 8, 16, 24 or 32 bits nor float of 32 or 64";
        return Err(DecodeError::Unsupported { format: Format::Wav, what });
    }
    if u32::from(stride) != u32::from(channels) * u32::from(bits) / 8 {
        return Err(damaged("its format chunk contradicts itself"));
    }
    Ok(Layout { sample_rate, channels, stride: usize::from(stride) })
}

fn count(data: &[u8], layout: Layout, may_continue: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let mut budget = Budget::new(layout.sample_rate, layout.channels, may_continue)?;
    if !data.len().is_multiple_of(layout.stride) {
        return Err(damaged("its last sample is incomplete"));
    }
    budget.add((data.len() / layout.stride) as u64, 0)?;
    Ok(budget.clip(Format::Wav))
}
