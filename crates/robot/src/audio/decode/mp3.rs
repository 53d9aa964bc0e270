//! MPEG audio layer III: frames one after the other, each with a header that says how long it is, with
//! tags before and behind. Frames are found here and given to the decoder one by one, so that the end of
//! a file is seen as what it is.

use super::{Budget, Clip, DecodeError, Format};
use nanomp3::{Decoder, MAX_SAMPLES_PER_FRAME, VbrTag, id3v2_len, strip_trailing_tags};

/// What may come before the first frame, beside tags.
const MAX_JUNK: usize = 4 << 10;
/// Of the encoder's delay that a decoder adds, in samples.
const DECODER_DELAY: u64 = 529;
const CUT_OFF: DecodeError = DecodeError::Truncated(Format::Mp3);

fn damaged(what: &'static str) -> DecodeError {
    DecodeError::Damaged { format: Format::Mp3, what }
}

/// The header of a frame of layer III.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    sample_rate: u32,
    channels: u16,
    /// Bytes, header included.
    length: usize,
    /// Samples a channel.
    samples: u64,
}

impl Header {
    /// The header at the start of these bytes.
    fn read(bytes: &[u8]) -> Option<Header> {
        const RATES: [u32; 3] = [44_100, 48_000, 32_000];
        const KBPS_1: [usize; 14] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
        const KBPS_2: [usize; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
        let &[0xff, b, c, d] = bytes.first_chunk::<4>()? else { return None };
        // Eleven bits of sync; layer III.
        if b & 0xe6 != 0xe2 {
            return None;
        }
        // Version 1, 2 or 2.5.
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
        Some(Header { sample_rate, channels, length, samples: samples as u64 })
    }

    /// Whether the other may be a frame of the same stream.
    fn agrees(&self, other: &Header) -> bool {
        (self.sample_rate, self.samples) == (other.sample_rate, other.samples)
    }
}

/// The first place with two frames in a row, or with one that fills the file.
fn first_frame(bytes: &[u8], within: usize) -> Option<usize> {
    (0..bytes.len().min(within)).find(|&at| {
        let Some(header) = Header::read(&bytes[at..]) else { return false };
        match bytes.len().checked_sub(at + header.length) {
            Some(0) => true,
            Some(_) => {
                let next = Header::read(&bytes[at + header.length..]);
                next.is_some_and(|next| next.agrees(&header))
            }
            None => false,
        }
    })
}

/// What follows the tags at the start.
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

pub(super) fn decode(file: &[u8], go_on: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let body = strip_trailing_tags(skip_tags(file));
    let none = if body.is_empty() { CUT_OFF } else { damaged("no sound follows its tags") };
    let mut rest = &body[first_frame(body, MAX_JUNK).ok_or(none)?..];
    let first = Header::read(rest).ok_or(none)?;
    let mut budget = Budget::new(first.sample_rate, first.channels, go_on)?;
    let tag = rest.get(..first.length).and_then(VbrTag::parse);
    if tag.is_some() {
        // The frame of the tag is silent and is not played.
        rest = &rest[first.length..];
    }
    let mut decoder = Decoder::new();
    let mut pcm = [0f32; MAX_SAMPLES_PER_FRAME];
    while let Some(header) = Header::read(rest).filter(|h| h.agrees(&first)) {
        let (frame, after) = rest.split_at_checked(header.length).ok_or(CUT_OFF)?;
        if header.channels != first.channels {
            return Err(damaged("its number of channels changes"));
        }
        take(&mut decoder, frame, &mut pcm)?;
        budget.add(header.samples, 0)?;
        rest = skip_tags(after);
    }
    if rest.len() < 4 && rest.first() == Some(&0xff) {
        return Err(CUT_OFF);
    }
    // Whatever follows the last frame is no matter, but a frame that was lost on the way is.
    if first_frame(rest, usize::MAX).is_some() {
        return Err(damaged("there is something else between its frames"));
    }
    let clip = budget.clip(Format::Mp3);
    tag.map_or(Ok(clip), |tag| trimmed(clip, first.samples, tag))
}

fn take(decoder: &mut Decoder, frame: &[u8], pcm: &mut [f32]) -> Result<(), DecodeError> {
    match decoder.decode(frame, pcm).1 {
        // The first frames of a piece that was cut out need what came before it; they are silent.
        Ok(_) | Err(nanomp3::DecodeError::ReservoirUnavailable(_)) => Ok(()),
        Err(_) => Err(damaged("one of its frames can't be decoded")),
    }
}

/// Without what the encoder added, if the tag says so; the tag may also know how many frames there are.
fn trimmed(mut clip: Clip, frame: u64, tag: VbrTag) -> Result<Clip, DecodeError> {
    // Some count the frame of the tag too.
    if tag.frames.is_some_and(|said| clip.frames / frame + 1 < u64::from(said)) {
        return Err(CUT_OFF);
    }
    if let Some((delay, padding)) = tag.encoder_delay_padding {
        let (delay, padding) = (u64::from(delay) + DECODER_DELAY, u64::from(padding));
        clip.frames = clip.frames.saturating_sub(delay + padding.saturating_sub(DECODER_DELAY));
    }
    Ok(clip)
}
