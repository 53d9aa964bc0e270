//! The player: the playing sounds by id. Times are in ticks, except the fields `position_s` and
//! `duration_s`, which are in seconds.

use super::decode::{Clip, Format};
use chicane_world::readings::{TICK_S, TICKS_PER_SECOND};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of sounds that play at the same time.
const MAX_SOUNDS: usize = 16;
/// Maximum number of files in the cache. A file stays in the cache after its sound ended.
const MAX_FILES: usize = 32;
/// Maximum total size of the files in the cache, bytes. The files of playing sounds alone may
/// exceed this limit.
const MAX_FILE_BYTES: usize = 64 << 20;

/// A sound to play. The caller has already checked the file of the sound.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// Properties of the file.
    pub clip: Clip,
    /// Bytes of the file.
    pub file: Arc<[u8]>,
    /// Displayed source of the file: a name, a URL, or `data`.
    pub source: Arc<str>,
    /// Volume, 0 to 1.
    pub volume: f64,
    /// Whether the sound repeats.
    pub looped: bool,
    /// Whether all other sounds stop first.
    pub replace: bool,
}

/// A stream of PCM samples that a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Sample rate, Hz.
    pub sample_rate: u32,
    /// Number of channels, 1 or 2.
    pub channels: u16,
    /// Volume, 0 to 1.
    pub volume: f64,
}

/// The source of a sound's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoundSource {
    /// An audio file.
    File,
    /// A stream of samples that a client sends.
    Stream,
}

/// An event of the player.
#[derive(Debug, Clone, PartialEq)]
pub enum AudioEvent {
    /// A sound started.
    Play {
        /// The sound at position 0.
        playing: Playing,
        /// Bytes of the file; `None` for a stream.
        file: Option<Arc<[u8]>>,
    },
    /// A stream received samples.
    Pcm {
        /// Id of the stream.
        id: u64,
        /// Sample rate, Hz.
        sample_rate: u32,
        /// Number of channels, 1 or 2.
        channels: u16,
        /// 16-bit little-endian samples, channels interleaved.
        data: Arc<[u8]>,
    },
    /// The volume of a sound changed.
    Volume {
        /// Id of the sound.
        id: u64,
        /// Volume, 0 to 1.
        volume: f64,
    },
    /// A sound was stopped.
    Stop {
        /// Id of the sound.
        id: u64,
    },
    /// All sounds were stopped.
    StopAll,
    /// A sound reached its end.
    Ended {
        /// Id of the sound.
        id: u64,
    },
}

/// A sound that is playing.
#[derive(Debug, Clone, PartialEq)]
pub struct Playing {
    /// Id of the sound.
    pub id: u64,
    /// Whether the samples come from a file or a stream.
    pub kind: SoundSource,
    /// Displayed source: the name of a file, a URL, or `data`; `stream` for a stream.
    pub source: Arc<str>,
    /// Format of the file; `None` for a stream.
    pub format: Option<Format>,
    /// Volume, 0 to 1.
    pub volume: f64,
    /// Whether the sound repeats.
    pub looped: bool,
    /// Position in the sound, seconds.
    pub position_s: f64,
    /// Length of the sound in seconds; `None` for a stream.
    pub duration_s: Option<f64>,
    /// Sample rate, Hz.
    pub sample_rate: u32,
    /// Number of channels, 1 or 2.
    pub channels: u16,
}

/// A sound and its playback state.
#[derive(Debug, Clone, PartialEq)]
struct Track {
    playing: Playing,
    /// Tick at which the sound started. If a stream had a buffer underrun, this is the tick at
    /// which the stream continued.
    since: u64,
    /// Number of samples per channel that a stream received since tick `since`.
    frames: u64,
    /// Number of samples per channel of a stream that were played before tick `since`.
    played: u64,
}

/// The cached files, by the id of their sound.
pub type Files = Arc<BTreeMap<u64, (Format, Arc<[u8]>)>>;

/// The audio player.
#[derive(Debug, Clone, Default)]
pub struct Player {
    tracks: BTreeMap<u64, Track>,
    files: Files,
    events: Vec<AudioEvent>,
    last: u64,
}

impl Player {
    /// Starts a sound and returns its id. Returns `None` if too many sounds are playing.
    pub(crate) fn play(&mut self, sound: Sound, tick: u64) -> Option<u64> {
        if sound.replace {
            self.stop_all();
        }
        let Sound { clip, file, source, volume, looped, .. } = sound;
        let id = self.begin(tick, |id| Playing {
            id,
            kind: SoundSource::File,
            source,
            format: Some(clip.format),
            volume,
            looped,
            position_s: 0.0,
            duration_s: Some(clip.duration_s()),
            sample_rate: clip.sample_rate,
            channels: clip.channels,
        })?;
        self.keep_file(id, clip.format, Arc::clone(&file));
        let playing = self.tracks[&id].playing.clone();
        self.events.push(AudioEvent::Play { playing, file: Some(file) });
        Some(id)
    }

    /// Opens a stream and returns its id. Returns `None` if too many sounds are playing.
    pub(crate) fn open(&mut self, stream: Stream, tick: u64) -> Option<u64> {
        let id = self.begin(tick, |id| Playing {
            id,
            kind: SoundSource::Stream,
            source: Arc::from("stream"),
            format: None,
            volume: stream.volume,
            looped: false,
            position_s: 0.0,
            duration_s: None,
            sample_rate: stream.sample_rate,
            channels: stream.channels,
        })?;
        self.events.push(AudioEvent::Play { playing: self.tracks[&id].playing.clone(), file: None });
        Some(id)
    }

    fn begin(&mut self, tick: u64, playing: impl FnOnce(u64) -> Playing) -> Option<u64> {
        if self.tracks.len() >= MAX_SOUNDS {
            return None;
        }
        self.last += 1;
        let track = Track { playing: playing(self.last), since: tick, frames: 0, played: 0 };
        self.tracks.insert(self.last, track);
        Some(self.last)
    }

    /// Adds samples to a stream. Returns the playing time of all samples in the stream's buffer, in
    /// ticks, or `None` if there is no such stream.
    pub(crate) fn pcm(&mut self, id: u64, data: Arc<[u8]>, tick: u64) -> Option<u64> {
        let track = self.tracks.get_mut(&id).filter(|t| t.playing.kind == SoundSource::Stream)?;
        let (sample_rate, channels) = (track.playing.sample_rate, track.playing.channels);
        let ticks = |frames: u64| frames * TICKS_PER_SECOND / u64::from(sample_rate);
        if tick - track.since > ticks(track.frames) {
            // After a buffer underrun, all earlier samples were played. The silence of the underrun
            // is not part of the position.
            track.played += std::mem::take(&mut track.frames);
            track.since = tick;
        }
        track.frames += data.len() as u64 / (2 * u64::from(channels));
        let (received, passed) = (ticks(track.frames), tick - track.since);
        self.events.push(AudioEvent::Pcm { id, sample_rate, channels, data });
        Some(received.saturating_sub(passed))
    }

    /// Sets the volume of a sound. Returns false if there is no such sound.
    pub(crate) fn set_volume(&mut self, id: u64, volume: f64) -> bool {
        let Some(track) = self.tracks.get_mut(&id) else { return false };
        track.playing.volume = volume;
        self.events.push(AudioEvent::Volume { id, volume });
        true
    }

    /// Stops a sound. Returns false if there is no such sound.
    pub(crate) fn stop(&mut self, id: u64) -> bool {
        let was = self.tracks.remove(&id).is_some();
        if was {
            self.events.push(AudioEvent::Stop { id });
        }
        was
    }

    /// Stops every sound.
    pub(crate) fn stop_all(&mut self) {
        if !self.tracks.is_empty() {
            self.tracks.clear();
            self.events.push(AudioEvent::StopAll);
        }
    }

    /// Removes the sounds that have reached their end.
    pub(crate) fn tick(&mut self, tick: u64) {
        if self.tracks.is_empty() {
            return;
        }
        let over = |t: &Track| {
            let length = t.playing.duration_s.filter(|_| !t.playing.looped);
            length.is_some_and(|length| (tick - t.since) as f64 * TICK_S >= length)
        };
        while let Some(id) = self.tracks.iter().find(|(_, t)| over(t)).map(|(id, _)| *id) {
            self.tracks.remove(&id);
            self.events.push(AudioEvent::Ended { id });
        }
    }

    /// The sounds that are playing at a tick, in the order of their start.
    pub fn playing(&self, tick: u64) -> Vec<Playing> {
        let at = |track: &Track| {
            let passed = (tick - track.since) as f64 * TICK_S;
            let position_s = match track.playing.duration_s {
                Some(length) if track.playing.looped => passed % length,
                Some(length) => passed.min(length),
                None => {
                    let rate = f64::from(track.playing.sample_rate);
                    track.played as f64 / rate + passed.min(track.frames as f64 / rate)
                }
            };
            Playing { position_s, ..track.playing.clone() }
        };
        self.tracks.values().map(at).collect()
    }

    /// Whether no sound is playing.
    pub fn is_silent(&self) -> bool {
        self.tracks.is_empty()
    }

    /// The cached files, including those of sounds that have ended.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the events since the last call, in order.
    pub fn take_events(&mut self) -> Vec<AudioEvent> {
        std::mem::take(&mut self.events)
    }

    /// Adds a file to the cache. If a limit is exceeded, the oldest files are removed. The files of
    /// sounds that are playing are never removed.
    fn keep_file(&mut self, id: u64, format: Format, file: Arc<[u8]>) {
        let files = Arc::make_mut(&mut self.files);
        files.insert(id, (format, file));
        while files.len() > MAX_FILES || files.values().map(|f| f.1.len()).sum::<usize>() > MAX_FILE_BYTES {
            let Some(old) = files.keys().copied().find(|id| !self.tracks.contains_key(id)) else { return };
            files.remove(&old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(frames: u64) -> Sound {
        Sound {
            clip: Clip { format: Format::Wav, sample_rate: 8000, channels: 1, frames },
            file: Arc::from([1, 2, 3].as_slice()),
            source: Arc::from("beep.wav"),
            volume: 1.0,
            looped: false,
            replace: false,
        }
    }

    #[test]
    fn a_sound_plays_for_its_length_and_ends() {
        let mut player = Player::default();
        let id = player.play(sound(8000), 100).expect("a sound");
        player.tick(200);
        assert_eq!(player.playing(200)[0].position_s, 0.5);
        player.tick(299);
        assert!(!player.is_silent());
        player.tick(300);
        assert!(player.is_silent());
        let events = player.take_events();
        assert!(
            matches!(&events[..], [AudioEvent::Play { .. }, AudioEvent::Ended { id: ended }] if *ended == id)
        );
        assert!(player.take_events().is_empty());
        assert_eq!(player.files()[&id].1[..], [1, 2, 3]);
    }

    #[test]
    fn a_looped_sound_plays_until_it_is_stopped() {
        let mut player = Player::default();
        let id = player.play(Sound { looped: true, ..sound(8000) }, 0).expect("a sound");
        player.tick(10_050);
        assert!((player.playing(10_050)[0].position_s - 0.25).abs() < 1e-9);
        assert!(player.stop(id) && !player.stop(id));
        assert!(player.is_silent());
    }

    #[test]
    fn the_number_of_sounds_is_limited_and_a_sound_can_replace_all_others() {
        let mut player = Player::default();
        for _ in 0..MAX_SOUNDS {
            assert!(player.play(sound(8000), 0).is_some());
        }
        assert_eq!(player.play(sound(8000), 0), None);
        let id = player.play(Sound { replace: true, ..sound(8000) }, 0).expect("it stops the others");
        assert_eq!(player.playing(0).iter().map(|p| p.id).collect::<Vec<_>>(), [id]);
        assert!(player.take_events().contains(&AudioEvent::StopAll));
    }

    #[test]
    fn a_stream_returns_the_length_of_its_buffer() {
        let mut player = Player::default();
        let id = player.open(Stream { sample_rate: 24_000, channels: 2, volume: 0.5 }, 0).expect("a stream");
        let second: Arc<[u8]> = Arc::from(vec![0; 96_000]);
        assert_eq!(player.pcm(id, Arc::clone(&second), 0), Some(200));
        assert_eq!(player.pcm(id, second, 100), Some(300));
        assert_eq!(player.playing(300)[0].position_s, 1.5);
        assert_eq!(player.playing(3000)[0].position_s, 2.0, "all samples were played");
        assert_eq!(player.pcm(7, Arc::from([0, 0].as_slice()), 0), None);
    }

    #[test]
    fn the_position_of_a_stream_does_not_include_buffer_underruns() {
        let mut player = Player::default();
        let id = player.open(Stream { sample_rate: 24_000, channels: 1, volume: 1.0 }, 0).expect("a stream");
        let second: Arc<[u8]> = Arc::from(vec![0; 48_000]);
        assert_eq!(player.pcm(id, Arc::clone(&second), 1000), Some(200), "nothing was played before");
        assert_eq!(player.playing(1100)[0].position_s, 0.5);
        for more in 1..=5 {
            let ahead = player.pcm(id, Arc::clone(&second), 100_000);
            assert_eq!(ahead, Some(200 * more), "the pause does not shorten the buffer");
        }
        assert_eq!(player.playing(100_000)[0].position_s, 1.0, "only the played samples count");
        assert_eq!(player.playing(100_100)[0].position_s, 1.5);
        assert_eq!(player.playing(200_000)[0].position_s, 6.0);
    }

    #[test]
    fn old_files_are_removed_from_the_cache() {
        let mut player = Player::default();
        for i in 0..100 {
            player.play(sound(8), i * 10);
            player.tick(i * 10 + 9);
        }
        assert!(!player.files().contains_key(&1) && player.files().contains_key(&100));
        assert_eq!(player.files().len(), MAX_FILES);
    }
}
