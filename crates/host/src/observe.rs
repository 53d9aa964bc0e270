//! Makes the observations that a judging script gets.

use crate::served_world::ServedWorld;
use crate::view::{self, sound_id};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_robot::audio::{AudioEvent, Playing, SoundSource};
use chicane_sim::{Lamp, Snapshot};
use chicane_wire::{
    JudgeAudio, JudgeSound, JudgeSoundEvent, JudgeTrack, Named, Num, Observation, RunState, Statics,
};
use std::sync::Arc;

/// The clock and the brightness at the time of an observation.
#[derive(Debug, Clone, Copy)]
pub struct ObservedClock {
    /// Simulated seconds since the session began to run.
    pub time_s: f64,
    /// Whether time is paused.
    pub paused: bool,
    /// Measured real-time factor; 1 if the session began in virtual time.
    pub rtf: f64,
    /// Every channel of a shown pixel is multiplied by this factor.
    pub brightness: f64,
}

/// Why a world can't be described to a judging script.
#[derive(Debug, thiserror::Error)]
pub enum StaticsError {
    /// The evaluation's configuration is not valid JSON.
    #[error(transparent)]
    Config(#[from] serde_json::Error),
}

/// The parts of a world that do not change during a session.
pub fn statics(served: &ServedWorld, script: &str, seed: u64) -> Result<Statics, StaticsError> {
    let world = &served.world;
    // A world may have no evaluation, because a program can also run without a judge. The
    // configuration is then empty.
    let config = world.evaluation.as_ref().map_or("{}", |evaluation| &evaluation.config_json);
    let config = serde_json::value::RawValue::from_string(config.to_owned())?;
    let lines = world.published_route().map(view::route_lines);
    let bounds = world.ground.bounds.as_ref().map(view::rect);
    Ok(Statics {
        script: script.to_owned(),
        config,
        track: JudgeTrack::new(lines, bounds),
        objects: Named(world.objects.iter().map(|o| (o.name.clone(), view::catalogue_entry(o))).collect()),
        seed,
    })
}

/// The state of the world at one tick as the script gets it. `sounds` are the sound events since
/// the last observation.
pub fn observation(
    served: &ServedWorld,
    snapshot: &Snapshot,
    clock: ObservedClock,
    playing: &[Playing],
    sounds: &[AudioEvent],
) -> Observation {
    let names = served.names.iter().cloned();
    let light = |(i, lamp): &(usize, Lamp)| (Arc::clone(&served.names[*i]), view::light_state(*lamp));
    Observation {
        time: Num(clock.time_s),
        paused: clock.paused,
        rtf: Num(clock.rtf),
        brightness: Num(clock.brightness),
        pose: view::vehicle(&snapshot.vehicle),
        objects: Named(names.zip(snapshot.objects.iter().map(view::pose)).collect()),
        lights: Named(snapshot.lights.iter().map(light).collect()),
        contacts: snapshot.contacts.iter().map(|&i| Arc::clone(&served.names[i])).collect(),
        run: RunState::default(),
        audio: JudgeAudio {
            playing: playing.iter().map(sound).collect(),
            events: sounds.iter().filter_map(sound_event).collect(),
        },
    }
}

/// A playing sound as the script gets it.
fn sound(playing: &Playing) -> JudgeSound {
    JudgeSound {
        id: sound_id(playing.id),
        kind: match playing.kind {
            SoundSource::File => "file",
            SoundSource::Stream => "stream",
        },
        source: Arc::clone(&playing.source),
        volume: Num(playing.volume),
        position: Num(playing.position_s),
    }
}

/// A sound event as the script gets it; `None` for `StopAll`. `SoundLog` has replaced each
/// `StopAll` by a stop event for every sound.
fn sound_event(event: &AudioEvent) -> Option<JudgeSoundEvent> {
    Some(match event {
        AudioEvent::Play { playing, file } => JudgeSoundEvent::Play {
            sound: sound(playing),
            data: file.as_ref().map(|file| STANDARD.encode(file)),
            sample_rate: playing.sample_rate,
            channels: playing.channels,
        },
        AudioEvent::Pcm { id: number, sample_rate, channels, data } => JudgeSoundEvent::Pcm {
            id: sound_id(*number),
            data: STANDARD.encode(data),
            sample_rate: *sample_rate,
            channels: *channels,
        },
        AudioEvent::Volume { id: number, volume } => {
            JudgeSoundEvent::Volume { id: sound_id(*number), volume: Num(*volume) }
        }
        AudioEvent::Stop { id: number } => JudgeSoundEvent::Stop { id: sound_id(*number) },
        AudioEvent::Ended { id: number } => JudgeSoundEvent::Ended { id: sound_id(*number) },
        AudioEvent::StopAll => return None,
    })
}
