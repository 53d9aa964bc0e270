//! Checks audio files: detects their format and reads them completely.
//!
//! A file is read once before it is played, to check that it is complete and to get its length.
//! Players get the original bytes of the file, so the samples are only counted. For FLAC and
//! Vorbis, this works without decoding the samples, and checksums show damage. Many MP3 files have
//! no checksums. Therefore the frames of an MP3 file are decoded, and the samples are discarded.
//!
//! A file can be malicious. [`Budget`](clip::Budget) limits the number of samples that a few bytes
//! can expand to. No memory is allocated for a size that a header declares. The caller can stop the
//! decoder after each frame or packet of the file. The MP3 decoder is a third-party crate that can
//! panic, so the caller has to catch panics.

mod clip;
mod crc;
mod flac;
mod mp3;
mod ogg;
mod vorbis;
mod wav;

pub use clip::{Clip, DecodeError, Format};

impl Format {
    /// Detects the format from the content of a file; `None` if the format is not supported.
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

/// Reads a file completely and returns its properties. `declared` is the format that the caller
/// expects; `None` accepts every format. The decoder calls `may_continue` after each frame or
/// packet, and once for a WAVE file. It fails with [`DecodeError::TooSlow`] if `may_continue`
/// returns false.
pub fn decode_while(
    file: &[u8],
    declared: Option<Format>,
    may_continue: &dyn Fn() -> bool,
) -> Result<Clip, DecodeError> {
    if file.is_empty() {
        return Err(DecodeError::Empty);
    }
    let found = Format::of(file).ok_or(DecodeError::Unknown)?;
    if let Some(declared) = declared.filter(|declared| *declared != found) {
        return Err(DecodeError::Mismatch { declared, found });
    }
    let clip = match found {
        Format::Wav => wav::decode(file, may_continue),
        Format::Mp3 => mp3::decode(file, may_continue),
        Format::Ogg => vorbis::decode(file, may_continue),
        Format::Flac => flac::decode(file, may_continue),
    }?;
    if clip.frames == 0 { Err(DecodeError::Empty) } else { Ok(clip) }
}

#[cfg(test)]
mod tests;
