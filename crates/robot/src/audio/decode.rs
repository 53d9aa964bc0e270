//! Audio files: what they are, and that they can be decoded to their end.

/// The longest clip, seconds.
pub const MAX_CLIP_S: f64 = 600.0;

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Not one of the kinds.
    #[error("this is no wav, mp3, ogg or flac file")]
    Unknown,
}

/// Decodes a file to its end and says what it holds.
pub fn decode(_file: &[u8], _said: Option<Format>) -> Result<Clip, DecodeError> {
    Err(DecodeError::Unknown)
}
