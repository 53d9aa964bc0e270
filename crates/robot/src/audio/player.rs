//! The player: sounds by number, in ticks.

use super::decode::{Clip, Format};
use chicane_world::readings::{TICK_S, TICKS_PER_SECOND};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sounds at a time.
const MAX_SOUNDS: usize = 16;
/// Sounds whose file is kept, also after they ended.
const MAX_FILES: usize = 32;
/// Bytes of files that are kept.
const MAX_FILE_BYTES: usize = 64 << 20;

/// A sound to play, decoded once already.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// What decoding it found.
    pub clip: Clip,
    /// The file as it came.
    pub file: Arc<[u8]>,
    /// Where it came from, for people: a name, an address, `data`.
    pub source: Arc<str>,
    /// 0 to 1.
    pub volume: f64,
    /// Again and again.
    pub looped: bool,
    /// Everything else stops first.
    pub replace: bool,
}

/// A stream of samples that a client sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stream {
    /// Hz.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
    /// 0 to 1.
    pub volume: f64,
}

/// What kind of sound it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// Samples that a client sends.
    Stream,
}

/// Something that happened to a sound.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A sound began.
    Play {
        /// As it is now, at position 0.
        playing: Playing,
        /// The file; streams have none.
        file: Option<Arc<[u8]>>,
    },
    /// Samples of a stream came.
    Pcm {
        /// Which stream.
        id: u64,
        /// Hz.
        sample_rate: u32,
        /// 1 or 2.
        channels: u16,
        /// 16 bits a sample, little end first, channels by turns.
        data: Arc<[u8]>,
    },
    /// A sound is louder or quieter.
    Volume {
        /// Which sound.
        id: u64,
        /// 0 to 1.
        volume: f64,
    },
    /// A sound was stopped.
    Stop {
        /// Which sound.
        id: u64,
    },
    /// Everything was stopped.
    StopAll,
    /// A sound came to its end.
    Ended {
        /// Which sound.
        id: u64,
    },
}

/// A sound that plays.
#[derive(Debug, Clone, PartialEq)]
pub struct Playing {
    /// Its number.
    pub id: u64,
    /// File or stream.
    pub kind: Kind,
    /// Where it came from.
    pub source: Arc<str>,
    /// The kind of file; streams have none.
    pub format: Option<Format>,
    /// 0 to 1.
    pub volume: f64,
    /// Again and again.
    pub looped: bool,
    /// Seconds into it.
    pub position_s: f64,
    /// Seconds in all; streams have none.
    pub duration_s: Option<f64>,
    /// Hz.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
}

/// What the player keeps of a sound.
#[derive(Debug, Clone, PartialEq)]
struct Track {
    playing: Playing,
    /// When it began. A stream begins anew when samples come after it ran out of them.
    since: u64,
    /// Samples a channel that came since, of a stream.
    frames: u64,
    /// Samples a channel that were played before, of a stream.
    played: u64,
}

/// The files of sounds by their numbers.
pub type Files = Arc<BTreeMap<u64, (Format, Arc<[u8]>)>>;

/// All sounds.
#[derive(Debug, Clone, Default)]
pub struct Player {
    tracks: BTreeMap<u64, Track>,
    files: Files,
    events: Vec<Event>,
    last: u64,
}

impl Player {
    /// Starts a sound. `None` if too many play.
    pub(crate) fn play(&mut self, sound: Sound, tick: u64) -> Option<u64> {
        if sound.replace {
            self.stop_all();
        }
        let Sound { clip, file, source, volume, looped, .. } = sound;
        let id = self.begin(tick, |id| Playing {
            id,
            kind: Kind::File,
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
        self.events.push(Event::Play { playing, file: Some(file) });
        Some(id)
    }

    /// Opens a stream. `None` if too many play.
    pub(crate) fn open(&mut self, stream: Stream, tick: u64) -> Option<u64> {
        let id = self.begin(tick, |id| Playing {
            id,
            kind: Kind::Stream,
            source: Arc::from("stream"),
            format: None,
            volume: stream.volume,
            looped: false,
            position_s: 0.0,
            duration_s: None,
            sample_rate: stream.sample_rate,
            channels: stream.channels,
        })?;
        self.events.push(Event::Play { playing: self.tracks[&id].playing.clone(), file: None });
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

    /// Samples of a stream. Says by how many ticks what came is ahead of time; `None` if there is no
    /// such stream.
    pub(crate) fn pcm(&mut self, id: u64, data: Arc<[u8]>, tick: u64) -> Option<u64> {
        let track = self.tracks.get_mut(&id).filter(|t| t.playing.kind == Kind::Stream)?;
        let (sample_rate, channels) = (track.playing.sample_rate, track.playing.channels);
        let ticks = |frames: u64| frames * TICKS_PER_SECOND / u64::from(sample_rate);
        if tick - track.since > ticks(track.frames) {
            // All that came is played. The silence since is not part of the sound.
            track.played += std::mem::take(&mut track.frames);
            track.since = tick;
        }
        track.frames += data.len() as u64 / (2 * u64::from(channels));
        let (came, passed) = (ticks(track.frames), tick - track.since);
        self.events.push(Event::Pcm { id, sample_rate, channels, data });
        Some(came.saturating_sub(passed))
    }

    /// Makes a sound louder or quieter; false if there is none.
    pub(crate) fn set_volume(&mut self, id: u64, volume: f64) -> bool {
        let Some(track) = self.tracks.get_mut(&id) else { return false };
        track.playing.volume = volume;
        self.events.push(Event::Volume { id, volume });
        true
    }

    /// Stops a sound; false if there is none.
    pub(crate) fn stop(&mut self, id: u64) -> bool {
        let was = self.tracks.remove(&id).is_some();
        if was {
            self.events.push(Event::Stop { id });
        }
        was
    }

    /// Stops every sound.
    pub(crate) fn stop_all(&mut self) {
        if !self.tracks.is_empty() {
            self.tracks.clear();
            self.events.push(Event::StopAll);
        }
    }

    /// Ends what has come to its end by this tick.
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
            self.events.push(Event::Ended { id });
        }
    }

    /// What plays at a tick, in the order in which it began.
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

    /// Whether nothing plays.
    pub fn is_silent(&self) -> bool {
        self.tracks.is_empty()
    }

    /// The files of sounds, also of those that ended a while ago.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// What happened since this was last asked, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Keeps a file. The oldest ones go, but none that plays.
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
        let id = player.play(sound(8000), 100).expect("a place");
        player.tick(200);
        assert_eq!(player.playing(200)[0].position_s, 0.5);
        player.tick(299);
        assert!(!player.is_silent());
        player.tick(300);
        assert!(player.is_silent());
        let events = player.take_events();
        assert!(matches!(&events[..], [Event::Play { .. }, Event::Ended { id: ended }] if *ended == id));
        assert!(player.take_events().is_empty());
        assert_eq!(player.files()[&id].1[..], [1, 2, 3]);
    }

    #[test]
    fn a_loop_goes_on_until_it_is_stopped() {
        let mut player = Player::default();
        let id = player.play(Sound { looped: true, ..sound(8000) }, 0).expect("a place");
        player.tick(10_050);
        assert!((player.playing(10_050)[0].position_s - 0.25).abs() < 1e-9);
        assert!(player.stop(id) && !player.stop(id));
        assert!(player.is_silent());
    }

    #[test]
    fn there_is_room_for_some_sounds_and_one_may_replace_them() {
        let mut player = Player::default();
        for _ in 0..MAX_SOUNDS {
            assert!(player.play(sound(8000), 0).is_some());
        }
        assert_eq!(player.play(sound(8000), 0), None);
        let id = player.play(Sound { replace: true, ..sound(8000) }, 0).expect("it made room");
        assert_eq!(player.playing(0).iter().map(|p| p.id).collect::<Vec<_>>(), [id]);
        assert!(player.take_events().contains(&Event::StopAll));
    }

    #[test]
    fn a_stream_knows_how_far_it_is_ahead() {
        let mut player = Player::default();
        let id = player.open(Stream { sample_rate: 24_000, channels: 2, volume: 0.5 }, 0).expect("a place");
        let second: Arc<[u8]> = Arc::from(vec![0; 96_000]);
        assert_eq!(player.pcm(id, Arc::clone(&second), 0), Some(200));
        assert_eq!(player.pcm(id, second, 100), Some(300));
        assert_eq!(player.playing(300)[0].position_s, 1.5);
        assert_eq!(player.playing(3000)[0].position_s, 2.0, "nothing more came");
        assert_eq!(player.pcm(7, Arc::from([0, 0].as_slice()), 0), None);
    }

    #[test]
    fn silence_is_not_part_of_a_stream_that_ran_out_of_samples() {
        let mut player = Player::default();
        let id = player.open(Stream { sample_rate: 24_000, channels: 1, volume: 1.0 }, 0).expect("a place");
        let second: Arc<[u8]> = Arc::from(vec![0; 48_000]);
        assert_eq!(player.pcm(id, Arc::clone(&second), 1000), Some(200), "nothing was played before");
        assert_eq!(player.playing(1100)[0].position_s, 0.5);
        for more in 1..=5 {
            let ahead = player.pcm(id, Arc::clone(&second), 100_000);
            assert_eq!(ahead, Some(200 * more), "no more is taken for having waited");
        }
        assert_eq!(player.playing(100_000)[0].position_s, 1.0, "what was played, and no jump");
        assert_eq!(player.playing(100_100)[0].position_s, 1.5);
        assert_eq!(player.playing(200_000)[0].position_s, 6.0);
    }

    #[test]
    fn old_files_are_forgotten() {
        let mut player = Player::default();
        for i in 0..100 {
            player.play(sound(8), i * 10);
            player.tick(i * 10 + 9);
        }
        assert!(!player.files().contains_key(&1) && player.files().contains_key(&100));
        assert_eq!(player.files().len(), MAX_FILES);
    }
}
