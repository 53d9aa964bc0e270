//! RIFF WAVE: chunks, one of which says what the samples of another are. Samples that are not
//! compressed need no decoder; that all of them are there is all there is to know.

use super::{Budget, Clip, DecodeError, Format};

const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;
/// What follows the two bytes of the tag in the long form.
const SUBFORMAT: &[u8] = b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71";
/// Written by programs that did not know the length yet.
const UNTIL_THE_END: u32 = u32::MAX;

const CUT_OFF: DecodeError = DecodeError::Truncated(Format::Wav);

fn damaged(what: &'static str) -> DecodeError {
    DecodeError::Damaged { format: Format::Wav, what }
}

/// What the samples are.
struct Layout {
    sample_rate: u32,
    channels: u16,
    /// Bytes of one sample of every channel.
    stride: usize,
}

pub(super) fn decode(file: &[u8], go_on: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let mut layout = None;
    let mut rest = file.get(12..).ok_or(CUT_OFF)?;
    loop {
        let (head, after) = rest.split_first_chunk::<8>().ok_or(CUT_OFF)?;
        let [i, d, e, n, length @ ..] = *head;
        let said = u32::from_le_bytes(length);
        let length = if said == UNTIL_THE_END { after.len() } else { said as usize };
        let body = after.get(..length).ok_or(CUT_OFF)?;
        match &[i, d, e, n] {
            b"fmt " => layout = Some(read_layout(body)?),
            b"data" => return count(body, layout.ok_or(damaged("its data comes before its format"))?, go_on),
            _ => {}
        }
        // Chunks begin at even places.
        rest = after.get(length + length % 2..).ok_or(CUT_OFF)?;
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

fn count(data: &[u8], layout: Layout, go_on: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let mut budget = Budget::new(layout.sample_rate, layout.channels, go_on)?;
    if !data.len().is_multiple_of(layout.stride) {
        return Err(damaged("its last sample is incomplete"));
    }
    budget.add((data.len() / layout.stride) as u64, 0)?;
    Ok(budget.clip(Format::Wav))
}
