//! Audio files: what they are, and that they can be decoded to their end.
//!
//! A file is decoded once before it is played, only to know that it is whole and how long it lasts:
//! samples are counted and none is kept. What is served and played are the bytes as they came.
//!
//! A file may be hostile. What a few bytes can blow up to is counted while decoding ([`Budget`]), sizes
//! in headers are checked before a decoder may allocate by them, and the caller can end it at any
//! time. A decoder that panics all the same is the caller's to catch.

mod bits;
mod codebooks;
mod flac;
mod mp3;
mod ogg;
mod vorbis;
mod wav;

/// The longest clip, seconds.
const MAX_CLIP_S: f64 = 600.0;
/// Samples of all channels: 600 s of stereo at 48 kHz.
const MAX_CLIP_SAMPLES: u64 = 600 * 48_000 * 2;
/// Sample rates that can be played, Hz.
const SAMPLE_RATES: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// The kinds of files that can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Every kind.
    pub const ALL: [Format; 4] = [Format::Wav, Format::Mp3, Format::Ogg, Format::Flac];

    /// As it is called, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Format::Wav => "wav",
            Format::Mp3 => "mp3",
            Format::Ogg => "ogg",
            Format::Flac => "flac",
        }
    }

    /// What the content of a file says.
    pub fn of(file: &[u8]) -> Option<Format> {
        if file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WAVE") {
            Some(Format::Wav)
        } else if file.starts_with(b"OggS") {
            Some(Format::Ogg)
        } else if file.starts_with(b"fLaC") {
            Some(Format::Flac)
        } else {
            mp3::is_mp3(file).then_some(Format::Mp3)
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clip {
    /// The kind of file.
    pub format: Format,
    /// Hz.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
    /// Samples a channel.
    pub frames: u64,
}

impl Clip {
    /// Seconds.
    pub fn duration_s(&self) -> f64 {
        self.frames as f64 / f64::from(self.sample_rate)
    }
}

/// Why a file can't be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Not one of the kinds.
    #[error("this is no wav, mp3, ogg or flac file")]
    Unknown,
    /// Another kind than it was said to be.
    #[error("format says {said}, but the file is {found}")]
    Other {
        /// What it was said to be.
        said: Format,
        /// What it is.
        found: Format,
    },
    /// Its end is missing.
    #[error("the {0} file is cut off: its end is missing")]
    Truncated(Format),
    /// It breaks the rules of its kind.
    #[error("the {format} file is damaged: {what}")]
    Damaged {
        /// The kind.
        format: Format,
        /// Where.
        what: &'static str,
    },
    /// It is well, but of a sort that is not played.
    #[error("this {format} file can't be played: {what}")]
    Unsupported {
        /// The kind.
        format: Format,
        /// What it has, and what would do.
        what: &'static str,
    },
    /// Too much sound.
    #[error("the clip is too long: at most 600 s, and at most 57.6 million samples")]
    TooLong,
    /// Neither mono nor stereo.
    #[error("the clip has {0} channels; 1 or 2 can be played")]
    Channels(u16),
    /// Too coarse, too fine or nonsense.
    #[error("the clip has {0} samples a second; 8000 to 192000 can be played")]
    SampleRate(u32),
    /// No sound.
    #[error("there is no sound in the file")]
    Empty,
    /// The caller would wait no longer.
    #[error("decoding the file takes too long")]
    TooSlow,
}

/// Decodes a file to its end and says what it holds, as long as the caller wants: `go_on` is asked every
/// few milliseconds.
pub fn decode_while(
    file: &[u8],
    said: Option<Format>,
    go_on: &dyn Fn() -> bool,
) -> Result<Clip, DecodeError> {
    if file.is_empty() {
        return Err(DecodeError::Empty);
    }
    let found = Format::of(file).ok_or(DecodeError::Unknown)?;
    if let Some(said) = said.filter(|said| *said != found) {
        return Err(DecodeError::Other { said, found });
    }
    let clip = match found {
        Format::Wav => wav::decode(file, go_on),
        Format::Mp3 => mp3::decode(file, go_on),
        Format::Ogg => vorbis::decode(file, go_on),
        Format::Flac => flac::decode(file, go_on),
    }?;
    if clip.frames == 0 { Err(DecodeError::Empty) } else { Ok(clip) }
}

/// What a clip may cost, counted while it is decoded.
struct Budget<'a> {
    sample_rate: u32,
    channels: u16,
    frames: u64,
    work: u64,
    go_on: &'a dyn Fn() -> bool,
}

impl<'a> Budget<'a> {
    /// Refuses what can't be played at all.
    fn new(sample_rate: u32, channels: u16, go_on: &'a dyn Fn() -> bool) -> Result<Self, DecodeError> {
        if !(1..=2).contains(&channels) {
            return Err(DecodeError::Channels(channels));
        }
        if !SAMPLE_RATES.contains(&sample_rate) {
            return Err(DecodeError::SampleRate(sample_rate));
        }
        Ok(Budget { sample_rate, channels, frames: 0, work: 0, go_on })
    }

    /// Counts samples a channel. What gives few of them costs as much as `least`: taking a packet apart
    /// is work too.
    fn add(&mut self, frames: u64, least: u64) -> Result<(), DecodeError> {
        self.frames = self.frames.saturating_add(frames);
        self.work = self.work.saturating_add(frames.max(least).saturating_mul(u64::from(self.channels)));
        if self.frames as f64 > MAX_CLIP_S * f64::from(self.sample_rate) || self.work > MAX_CLIP_SAMPLES {
            return Err(DecodeError::TooLong);
        }
        if (self.go_on)() { Ok(()) } else { Err(DecodeError::TooSlow) }
    }

    /// Whether so many more samples a channel would be too many.
    fn check(&self, frames: u64) -> Result<(), DecodeError> {
        Budget { go_on: &|| true, ..*self }.add(frames, 0)
    }

    /// The clip, when all of it was counted.
    fn clip(&self, format: Format) -> Clip {
        Clip { format, sample_rate: self.sample_rate, channels: self.channels, frames: self.frames }
    }
}

#[cfg(test)]
mod tests;
