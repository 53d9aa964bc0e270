//! Vorbis in Ogg: three header packets, then audio packets. The comment header is skipped. The
//! number of samples of an audio packet follows from its first bits, so the packets are not
//! decoded. The checksums of the Ogg pages show whether the packets are intact.

mod bits;
mod codebooks;
mod setup;

use super::clip::{Budget, Clip, DecodeError, Format};
use super::ogg::{Pages, damaged, unsupported};
use setup::{Modes, SetupError};

/// Minimum cost of a packet in [`Budget::add`], in samples per channel.
const MIN_PACKET_COST: u64 = 512;
/// Exponents of the supported block sizes: a block has 2^6 to 2^13 samples.
const BLOCK_POWERS: std::ops::RangeInclusive<u8> = 6..=13;

/// The content of the first header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ident {
    sample_rate: u32,
    channels: u8,
    /// Sizes of short and long blocks, in samples.
    short: u64,
    long: u64,
}

/// The state of a stream after its headers.
struct AudioStream {
    ident: Ident,
    modes: Modes,
    /// Size of the previous block, in samples; `None` before the first packet.
    previous: Option<u64>,
}

/// Shows which headers were read so far.
enum HeaderStage {
    Start,
    HasIdent(Ident),
    HasComment(Ident),
    Audio(AudioStream),
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
    // The last packet can contain samples beyond the end of the stream. Therefore the number of
    // samples is limited by the position at the end of the stream.
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
                let ident = Ident::read(packet).ok_or(damaged("its first header is invalid"))?;
                let budget = Budget::new(ident.sample_rate, ident.channels.into(), self.may_continue)?;
                self.budget = Some(budget);
                HeaderStage::HasIdent(ident)
            }
            HeaderStage::HasIdent(ident) if packet.starts_with(b"\x03vorbis") => {
                HeaderStage::HasComment(ident)
            }
            HeaderStage::HasIdent(_) => return Err(damaged("its second header is invalid")),
            HeaderStage::HasComment(ident) => {
                let modes = setup::read(packet, ident.channels.into()).map_err(|wrong| match wrong {
                    SetupError::Broken => damaged("its third header is invalid"),
                    SetupError::TooLarge => unsupported("its codebooks are too large"),
                })?;
                HeaderStage::Audio(AudioStream { ident, modes, previous: None })
            }
            HeaderStage::Audio(mut stream) => {
                let frames = stream.take(packet).ok_or(damaged("one of its packets is invalid"))?;
                if let Some(budget) = &mut self.budget {
                    budget.add(frames, MIN_PACKET_COST)?;
                }
                HeaderStage::Audio(stream)
            }
        };
        Ok(())
    }
}

impl Ident {
    /// Reads the first header; `None` if it is invalid.
    fn read(packet: &[u8]) -> Option<Ident> {
        let [version @ .., channels, a, b, c, d] = *packet.get(7..16)?.first_chunk::<9>()?;
        let [sizes, framing] = *packet.get(28..30)?.first_chunk::<2>()?;
        let sample_rate = u32::from_le_bytes([a, b, c, d]);
        let (short, long) = (sizes & 15, sizes >> 4);
        let sizes_are_valid = BLOCK_POWERS.contains(&short) && BLOCK_POWERS.contains(&long) && short <= long;
        let is_valid =
            version == [0; 4] && channels > 0 && sample_rate > 0 && sizes_are_valid && framing & 1 == 1;
        is_valid.then_some(Ident { sample_rate, channels, short: 1 << short, long: 1 << long })
    }
}

impl AudioStream {
    /// Reads an audio packet. Returns the number of samples per channel that the packet completes;
    /// `None` if the packet is invalid.
    fn take(&mut self, packet: &[u8]) -> Option<u64> {
        if packet.is_empty() {
            return Some(0);
        }
        let size = if self.modes.is_long(packet)? { self.ident.long } else { self.ident.short };
        // Consecutive blocks overlap. The samples between their centres are complete.
        Some(self.previous.replace(size).map_or(0, |previous| (previous + size) / 4))
    }
}
