//! Vorbis in Ogg: three header packets, then audio packets. The comment header is skipped. The
//! sizes in the setup header are checked before the decoder reads the setup header.

use super::clip::{Budget, Clip, DecodeError, Format};
use super::codebooks::{self, SetupError};
use super::ogg::{Pages, damaged, unsupported};
use lewton::audio::{PreviousWindowRight, read_audio_packet_generic};
use lewton::header::{IdentHeader, SetupHeader, read_header_ident, read_header_setup};

/// Minimum cost of a packet, in samples per channel.
const MIN_PACKET_COST: u64 = 512;
/// Position of the number of channels in the first packet.
const CHANNELS_AT: usize = 11;

/// Shows which headers were read so far.
enum HeaderStage {
    Start,
    HasIdent(IdentHeader),
    HasComment(IdentHeader),
    Audio(Box<(IdentHeader, SetupHeader, PreviousWindowRight)>),
}

struct Decoding<'a> {
    stage: HeaderStage,
    budget: Option<Budget<'a>>,
    may_continue: &'a dyn Fn() -> bool,
}

pub(super) fn decode(file: &[u8], may_continue: &dyn Fn() -> bool) -> Result<Clip, DecodeError> {
    let mut pages = Pages::new(file);
    let mut decoding = Decoding { stage: HeaderStage::Start, budget: None, may_continue };
    // Position of the first sample. It is 0, or larger in an excerpt of a longer stream.
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
    let HeaderStage::Audio(_) = decoding.stage else { return Err(DecodeError::Truncated(Format::Ogg)) };
    if pages.has_partial_packet() {
        return Err(DecodeError::Truncated(Format::Ogg));
    }
    let budget = decoding.budget.ok_or(DecodeError::Empty)?;
    let mut clip = budget.clip(Format::Ogg);
    // The last packet can contain more samples than the stream. Therefore the number of samples is
    // limited by the position at the end of the stream.
    let declared = u64::try_from(end.saturating_sub(start.unwrap_or(0))).unwrap_or(clip.frames);
    clip.frames = clip.frames.min(declared);
    Ok(clip)
}

impl Decoding<'_> {
    fn frames(&self) -> i64 {
        self.budget.as_ref().and_then(|b| i64::try_from(b.frames).ok()).unwrap_or(0)
    }

    fn take(&mut self, packet: &[u8]) -> Result<(), DecodeError> {
        self.stage = match std::mem::replace(&mut self.stage, HeaderStage::Start) {
            HeaderStage::Start => {
                if !packet.starts_with(b"\x01vorbis") {
                    return Err(unsupported("its stream is not Vorbis"));
                }
                let channels = u16::from(*packet.get(CHANNELS_AT).unwrap_or(&0));
                let ident = read_header_ident(packet).map_err(|_| damaged("its first header is invalid"))?;
                self.budget = Some(Budget::new(ident.audio_sample_rate, channels, self.may_continue)?);
                HeaderStage::HasIdent(ident)
            }
            HeaderStage::HasIdent(ident) if packet.starts_with(b"\x03vorbis") => {
                HeaderStage::HasComment(ident)
            }
            HeaderStage::HasIdent(_) => return Err(damaged("its second header is invalid")),
            HeaderStage::HasComment(ident) => {
                codebooks::check(packet).map_err(|wrong| match wrong {
                    SetupError::Broken => damaged("its third header is invalid"),
                    SetupError::TooLarge => unsupported("its codebooks are too large"),
                })?;
                let sizes = (ident.blocksize_0, ident.blocksize_1);
                let setup = read_header_setup(packet, ident.audio_channels, sizes)
                    .map_err(|_| damaged("its third header is invalid"))?;
                HeaderStage::Audio(Box::new((ident, setup, PreviousWindowRight::new())))
            }
            HeaderStage::Audio(mut parts) => {
                let frames = decode_packet(packet, &mut parts)?;
                if let Some(budget) = &mut self.budget {
                    budget.add(frames, MIN_PACKET_COST)?;
                }
                HeaderStage::Audio(parts)
            }
        };
        Ok(())
    }
}

/// Decodes an audio packet. Returns the number of samples per channel.
fn decode_packet(
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
