//! MPEG audio layer III. A file is a sequence of frames, and can have tags before and after them.
//! The length of each frame follows from its header. This module finds the frames itself and passes
//! them to the decoder one by one, so that it can refuse a file that ends within a frame.

use super::clip::{Budget, Clip, DecodeError, Format};
use nanomp3::{Decoder, MAX_SAMPLES_PER_FRAME, VbrTag, id3v2_len, strip_trailing_tags};

/// Maximum number of unknown bytes between the tags and the first frame.
const MAX_JUNK: usize = 4 << 10;
/// Delay of every decoder, in samples. The delay in an encoder's tag does not include this delay.
const DECODER_DELAY: u64 = 529;
const TRUNCATED: DecodeError = DecodeError::Truncated(Format::Mp3);

fn damaged(what: &'static str) -> DecodeError {
    DecodeError::Damaged { format: Format::Mp3, what }
}

/// The header of a layer III frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FrameHeader {
    sample_rate: u32,
    channels: u16,
    /// Length of the frame in bytes, including the header.
    length: usize,
    /// Samples per channel.
    samples: u64,
}

impl FrameHeader {
    /// Reads the header at the start of `bytes`; `None` if there is no valid header.
    fn read(bytes: &[u8]) -> Option<FrameHeader> {
        const RATES: [u32; 3] = [44_100, 48_000, 32_000];
        const KBPS_1: [usize; 14] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
        const KBPS_2: [usize; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
        let &[0xff, b, c, d] = bytes.first_chunk::<4>()? else { return None };
        // The eleven sync bits must be set, and the layer must be III.
        if b & 0xe6 != 0xe2 {
            return None;
        }
        // The MPEG version: 1, 2 or 2.5.
        let halvings = match b >> 3 & 3 {
            3 => 0,
            2 => 1,
            0 => 2,
            _ => return None,
        };
        let sample_rate = RATES.get(usize::from(c >> 2 & 3))? >> halvings;
        let kbps = if halvings == 0 { KBPS_1 } else { KBPS_2 };
        let kbps = kbps.get(usize::from(c >> 4).checked_sub(1)?)?;
        let samples = if halvings == 0 { 1152 } else { 576 };
        let padding = usize::from(c >> 1 & 1);
        let length = samples / 8 * kbps * 1000 / sample_rate as usize + padding;
        let channels = if d >> 6 == 3 { 1 } else { 2 };
        Some(FrameHeader { sample_rate, channels, length, samples: samples as u64 })
    }

    /// Whether both frames can belong to the same stream.
    fn agrees(&self, other: &FrameHeader) -> bool {
        (self.sample_rate, self.samples) == (other.sample_rate, other.samples)
    }
}

/// Position of the first frame that is followed by another frame or by the end of the file; `None`
/// if no such frame starts in the first `within` bytes.
fn first_frame(bytes: &[u8], within: usize) -> Option<usize> {
    (0..bytes.len().min(within)).find(|&at| {
        let Some(header) = FrameHeader::read(&bytes[at..]) else { return false };
        match bytes.len().checked_sub(at + header.length) {
            Some(0) => true,
            Some(_) => {
                let next = FrameHeader::read(&bytes[at + header.length..]);
                next.is_some_and(|next| next.agrees(&header))
            }
            None => false,
        }
    })
}

/// The bytes after the tags at the start.
fn skip_tags(mut file: &[u8]) -> &[u8] {
    loop {
        match id3v2_len(file) {
            0 => return file,
            length => file = file.get(length..).unwrap_or_default(),
        }
    }
}

pub(super) fn is_mp3(file: &[u8]) -> bool {
    id3v2_len(file) > 0 || first_frame(strip_trailing_tags(file), MAX_JUNK).is_some()
}

pub(super) fn decode(file: &[u8], may_continue: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let body = strip_trailing_tags(skip_tags(file));
    let none = if body.is_empty() { TRUNCATED } else { damaged("no audio frame follows its tags") };
    let mut rest = &body[first_frame(body, MAX_JUNK).ok_or(none)?..];
    let first = FrameHeader::read(rest).ok_or(none)?;
    let mut budget = Budget::new(first.sample_rate, first.channels, may_continue)?;
    let tag = rest.get(..first.length).and_then(VbrTag::parse);
    if tag.is_some() {
        // The frame that contains the tag is silent and is not played.
        rest = &rest[first.length..];
    }
    let mut decoder = Decoder::new();
    let mut pcm = [0f32; MAX_SAMPLES_PER_FRAME];
    while let Some(header) = FrameHeader::read(rest).filter(|h| h.agrees(&first)) {
        let (frame, after) = rest.split_at_checked(header.length).ok_or(TRUNCATED)?;
        if header.channels != first.channels {
            return Err(damaged("its number of channels changes"));
        }
        decode_frame(&mut decoder, frame, &mut pcm)?;
        budget.add(header.samples, 0)?;
        rest = skip_tags(after);
    }
    if rest.len() < 4 && rest.first() == Some(&0xff) {
        return Err(TRUNCATED);
    }
    // Unknown data after the last frame is allowed, but more frames after that data mean that the
    // file is damaged.
    if first_frame(rest, usize::MAX).is_some() {
        return Err(damaged("there is unknown data between its frames"));
    }
    let clip = budget.clip(Format::Mp3);
    tag.map_or(Ok(clip), |tag| trimmed(clip, first.samples, tag))
}

fn decode_frame(decoder: &mut Decoder, frame: &[u8], pcm: &mut [f32]) -> Result<(), DecodeError> {
    match decoder.decode(frame, pcm).1 {
        // The first frames of an excerpt can refer to earlier data that is missing. Such frames are
        // silent.
        Ok(_) | Err(nanomp3::DecodeError::ReservoirUnavailable(_)) => Ok(()),
        Err(_) => Err(damaged("one of its frames can't be decoded")),
    }
}

/// Subtracts the samples that the encoder added, if the tag gives their number. Fails if the tag
/// declares more frames than the file contains.
fn trimmed(mut clip: Clip, frame: u64, tag: VbrTag) -> Result<Clip, DecodeError> {
    // The tolerance is one frame, because some encoders also count the frame that contains the tag.
    if tag.frames.is_some_and(|declared| clip.frames / frame + 1 < u64::from(declared)) {
        return Err(TRUNCATED);
    }
    if let Some((delay, padding)) = tag.encoder_delay_padding {
        let (delay, padding) = (u64::from(delay) + DECODER_DELAY, u64::from(padding));
        clip.frames = clip.frames.saturating_sub(delay + padding.saturating_sub(DECODER_DELAY));
    }
    Ok(clip)
}
