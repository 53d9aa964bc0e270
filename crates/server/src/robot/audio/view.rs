//! From what the player says to the words of the API.

pub(super) use chicane_host::view::sound_id as id;
use chicane_robot::audio::{Format, Playing, SoundSource};
use chicane_wire::{Num, SoundBegun, SoundFormat, SoundKind, SoundPlaying};
use std::sync::Arc;

pub(super) fn format(format: Format) -> SoundFormat {
    match format {
        Format::Wav => SoundFormat::Wav,
        Format::Mp3 => SoundFormat::Mp3,
        Format::Ogg => SoundFormat::Ogg,
        Format::Flac => SoundFormat::Flac,
    }
}

/// The other way.
pub(super) fn said(format: SoundFormat) -> Format {
    match format {
        SoundFormat::Wav => Format::Wav,
        SoundFormat::Mp3 => Format::Mp3,
        SoundFormat::Ogg => Format::Ogg,
        SoundFormat::Flac => Format::Flac,
    }
}

/// As browsers know it.
pub(super) fn content_type(format: Format) -> &'static str {
    match format {
        Format::Wav => "audio/wav",
        Format::Mp3 => "audio/mpeg",
        Format::Ogg => "audio/ogg",
        Format::Flac => "audio/flac",
    }
}

fn kind(kind: SoundSource) -> SoundKind {
    match kind {
        SoundSource::File => SoundKind::File,
        SoundSource::Stream => SoundKind::Stream,
    }
}

pub(super) fn playing(playing: &Playing) -> SoundPlaying {
    SoundPlaying {
        id: id(playing.id),
        kind: kind(playing.kind),
        source: Arc::clone(&playing.source),
        format: playing.format.map(format),
        volume: Num(playing.volume),
        looped: playing.looped,
        position: Num(playing.position_s),
        duration: playing.duration_s.map(Num),
        sample_rate: playing.sample_rate,
        channels: playing.channels,
    }
}

pub(super) fn begun(playing: &Playing, time_s: f64) -> SoundBegun {
    SoundBegun {
        id: id(playing.id),
        kind: kind(playing.kind),
        url: (playing.kind == SoundSource::File).then(|| format!("/audio/file/{}", id(playing.id))),
        format: playing.format.map(format),
        volume: Num(playing.volume),
        looped: playing.looped,
        position: Num(playing.position_s),
        duration: playing.duration_s.map(Num),
        sample_rate: playing.sample_rate,
        channels: playing.channels,
        time: Num(time_s),
    }
}
