//! The sound events that a judging script gets with its next observation.

use chicane_robot::audio::AudioEvent;
use std::collections::BTreeSet;

/// Size of the sound events since the last observation, in bytes, above which stream samples are
/// dropped. Files are always kept.
const MAX_SOUND_BYTES: usize = 64 << 20;

/// The sound events since the last observation.
#[derive(Debug, Clone, Default)]
pub struct SoundLog {
    events: Vec<AudioEvent>,
    /// Size of the data of all events since the last observation, bytes. Dropped samples count too.
    bytes: usize,
    /// Ids of the sounds that play, according to the events that were kept so far.
    playing: BTreeSet<u64>,
}

impl SoundLog {
    /// Keeps sound events for the next observation. Stream samples beyond the size limit are
    /// dropped.
    pub fn keep(&mut self, events: &[AudioEvent]) {
        for event in events {
            match event {
                AudioEvent::Play { playing, file } => {
                    self.playing.insert(playing.id);
                    self.bytes += file.as_ref().map_or(0, |file| file.len());
                }
                AudioEvent::Pcm { data, .. } => {
                    self.bytes += data.len();
                    if self.bytes > MAX_SOUND_BYTES {
                        continue;
                    }
                }
                AudioEvent::Stop { id } | AudioEvent::Ended { id } => drop(self.playing.remove(id)),
                // The script's API has no event that stops all sounds, so each playing sound gets a
                // stop event.
                AudioEvent::StopAll => {
                    let all = std::mem::take(&mut self.playing);
                    self.events.extend(all.into_iter().map(|id| AudioEvent::Stop { id }));
                    continue;
                }
                AudioEvent::Volume { .. } => {}
            }
            self.events.push(event.clone());
        }
    }

    /// Takes the sound events since the last observation.
    pub fn take(&mut self) -> Vec<AudioEvent> {
        self.bytes = 0;
        std::mem::take(&mut self.events)
    }
}
