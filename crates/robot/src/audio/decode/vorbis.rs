//! Vorbis in Ogg: three header packets, then sound. The comments are not read at all, and the setup
//! header is measured before the decoder sees it.

use super::codebooks::{self, Wrong};
use super::ogg::{Pages, damaged, unsupported};
use super::{Budget, Clip, DecodeError, Format};
use lewton::audio::{PreviousWindowRight, read_audio_packet_generic};
use lewton::header::{IdentHeader, SetupHeader, read_header_ident, read_header_setup};

/// The least that a packet costs, in samples a channel.
const LEAST: u64 = 512;
/// Where the number of channels is in the first packet.
const CHANNELS_AT: usize = 11;

/// What is known after so many packets.
enum Stage {
    Nothing,
    Named(IdentHeader),
    Commented(IdentHeader),
    Sound(Box<(IdentHeader, SetupHeader, PreviousWindowRight)>),
}

struct Decoding<'a> {
    stage: Stage,
    budget: Option<Budget<'a>>,
    go_on: &'a dyn Fn() -> bool,
}

pub(super) fn decode(file: &[u8], go_on: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let mut pages = Pages::new(file);
    let mut decoding = Decoding { stage: Stage::Nothing, budget: None, go_on };
    // Where the stream begins: 0, or later if it was cut out of another.
    let mut start = None;
    let mut end = -1;
    while let Some(page) = pages.next()? {
        pages.packets(&page, |packet| decoding.take(packet))?;
        let frames = decoding.frames();
        if page.position > 0 && frames > 0 && start.is_none() {
            start = Some(if page.is_last() { 0 } else { page.position.saturating_sub(frames).max(0) });
        }
        end = page.position;
    }
    let Stage::Sound(_) = decoding.stage else { return Err(DecodeError::Truncated(Format::Ogg)) };
    if pages.is_torn() {
        return Err(DecodeError::Truncated(Format::Ogg));
    }
    let budget = decoding.budget.ok_or(DecodeError::Empty)?;
    let mut clip = budget.clip(Format::Ogg);
    // The last packet may hold more than there is.
    let said = u64::try_from(end.saturating_sub(start.unwrap_or(0))).unwrap_or(clip.frames);
    clip.frames = clip.frames.min(said);
    Ok(clip)
}

impl Decoding<'_> {
    fn frames(&self) -> i64 {
        self.budget.as_ref().and_then(|b| i64::try_from(b.frames).ok()).unwrap_or(0)
    }

    fn take(&mut self, packet: &[u8]) -> Result<(), DecodeError> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Nothing) {
            Stage::Nothing => {
                if !packet.starts_with(b"\x01vorbis") {
                    return Err(unsupported("what it holds is not Vorbis"));
                }
                let channels = u16::from(*packet.get(CHANNELS_AT).unwrap_or(&0));
                let ident = read_header_ident(packet).map_err(|_| damaged("its first header is broken"))?;
                self.budget = Some(Budget::new(ident.audio_sample_rate, channels, self.go_on)?);
                Stage::Named(ident)
            }
            Stage::Named(ident) if packet.starts_with(b"\x03vorbis") => Stage::Commented(ident),
            Stage::Named(_) => return Err(damaged("its second header is broken")),
            Stage::Commented(ident) => {
                codebooks::check(packet).map_err(|wrong| match wrong {
                    Wrong::Broken => damaged("its third header is broken"),
                    Wrong::TooLarge => unsupported("its codebooks are larger than any encoder makes them"),
                })?;
                let sizes = (ident.blocksize_0, ident.blocksize_1);
                let setup = read_header_setup(packet, ident.audio_channels, sizes)
                    .map_err(|_| damaged("its third header is broken"))?;
                Stage::Sound(Box::new((ident, setup, PreviousWindowRight::new())))
            }
            Stage::Sound(mut parts) => {
                let frames = sound(packet, &mut parts)?;
                if let Some(budget) = &mut self.budget {
                    budget.add(frames, LEAST)?;
                }
                Stage::Sound(parts)
            }
        };
        Ok(())
    }
}

/// Decodes a packet; samples a channel.
fn sound(
    packet: &[u8],
    (ident, setup, window): &mut (IdentHeader, SetupHeader, PreviousWindowRight),
) -> Result<u64, DecodeError> {
    if packet.is_empty() {
        return Ok(0);
    }
    let samples: Vec<Vec<f32>> = read_audio_packet_generic(ident, setup, packet, window)
        .map_err(|_| damaged("one of its packets can't be decoded"))?;
    Ok(samples.first().map_or(0, |channel| channel.len() as u64))
}
