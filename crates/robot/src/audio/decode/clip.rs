//! The types that all decoders share: formats, clips, errors, and the [`Budget`] of a decoder.

use serde::{Deserialize, Serialize};

/// Maximum length of a clip, seconds.
pub(super) const MAX_CLIP_S: f64 = 600.0;
/// Maximum number of samples in all channels: 600 s of stereo at 48 kHz.
const MAX_CLIP_SAMPLES: u64 = 600 * 48_000 * 2;
/// Supported sample rates, Hz.
const SAMPLE_RATES: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// The supported file formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// RIFF WAVE.
    Wav,
    /// MPEG audio layer III.
    Mp3,
    /// Vorbis in Ogg.
    Ogg,
    /// FLAC.
    Flac,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Wav, Format::Mp3, Format::Ogg, Format::Flac];

    /// Name of the format in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Format::Wav => "wav",
            Format::Mp3 => "mp3",
            Format::Ogg => "ogg",
            Format::Flac => "flac",
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Properties of an audio file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Clip {
    /// Format of the file.
    pub format: Format,
    /// Sample rate, Hz.
    pub sample_rate: u32,
    /// Number of channels, 1 or 2.
    pub channels: u16,
    /// Number of samples per channel.
    pub frames: u64,
}

impl Clip {
    /// Length in seconds.
    pub fn duration_s(&self) -> f64 {
        self.frames as f64 / f64::from(self.sample_rate)
    }
}

/// The reason why a file cannot be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The content has none of the supported formats.
    #[error("the file is not a wav, mp3, ogg or flac file")]
    Unknown,
    /// The content has another format than the caller declared.
    #[error("\"format\" is {declared}, but the file is a {found} file; set \"format\" to {found} or omit it")]
    Mismatch {
        /// The declared format.
        declared: Format,
        /// The format of the content.
        found: Format,
    },
    /// The end of the file is missing.
    #[error("the {0} file is truncated: its end is missing")]
    Truncated(Format),
    /// The file violates its format.
    #[error("the {format} file is damaged: {what}")]
    Damaged {
        /// The format.
        format: Format,
        /// Description of the damage.
        what: &'static str,
    },
    /// The file is valid, but uses an unsupported feature of its format.
    #[error("this {format} file is not supported: {what}")]
    Unsupported {
        /// The format.
        format: Format,
        /// The unsupported feature, and the supported alternative if there is one.
        what: &'static str,
    },
    /// The clip exceeds the maximum length or the maximum number of samples.
    #[error("the clip is too long: the limits are 600 s and 57.6 million samples")]
    TooLong,
    /// The clip is neither mono nor stereo.
    #[error("the clip has {0} channels; only 1 or 2 are supported")]
    Channels(u16),
    /// The sample rate is not supported.
    #[error("the clip has a sample rate of {0} Hz; 8000 to 192000 Hz are supported")]
    SampleRate(u32),
    /// The file contains no samples.
    #[error("the file contains no sound")]
    Empty,
    /// The caller stopped the decoder.
    #[error("decoding the file takes too long")]
    TooSlow,
}

/// Counts the samples and the work of a decoder, and enforces the limits of both.
pub(super) struct Budget<'a> {
    sample_rate: u32,
    channels: u16,
    pub(super) frames: u64,
    work: u64,
    may_continue: &'a dyn Fn() -> bool,
}

impl<'a> Budget<'a> {
    /// Creates a budget. Fails if the sample rate or the number of channels is not supported.
    pub(super) fn new(
        sample_rate: u32,
        channels: u16,
        may_continue: &'a dyn Fn() -> bool,
    ) -> Result<Self, DecodeError> {
        if !(1..=2).contains(&channels) {
            return Err(DecodeError::Channels(channels));
        }
        if !SAMPLE_RATES.contains(&sample_rate) {
            return Err(DecodeError::SampleRate(sample_rate));
        }
        Ok(Budget { sample_rate, channels, frames: 0, work: 0, may_continue })
    }

    /// Counts samples per channel. `least` is the minimum cost of a packet, in samples per channel,
    /// because parsing takes time even for a packet with few samples. Fails if a limit is exceeded
    /// or the caller stops the decoder.
    pub(super) fn add(&mut self, frames: u64, least: u64) -> Result<(), DecodeError> {
        self.frames = self.frames.saturating_add(frames);
        self.work = self.work.saturating_add(frames.max(least).saturating_mul(u64::from(self.channels)));
        if self.frames as f64 > MAX_CLIP_S * f64::from(self.sample_rate) || self.work > MAX_CLIP_SAMPLES {
            return Err(DecodeError::TooLong);
        }
        if (self.may_continue)() { Ok(()) } else { Err(DecodeError::TooSlow) }
    }

    /// Fails if `frames` more samples per channel would exceed the limits.
    pub(super) fn check(&self, frames: u64) -> Result<(), DecodeError> {
        Budget { may_continue: &|| true, ..*self }.add(frames, 0)
    }

    /// Returns the clip, after all of its samples were counted.
    pub(super) fn clip(&self, format: Format) -> Clip {
        Clip { format, sample_rate: self.sample_rate, channels: self.channels, frames: self.frames }
    }
}
