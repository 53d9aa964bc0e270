//! Commands to the robot in the form of a journal. A sound file is written once and then referred
//! to by its number, because programs often play the same file many times.

use chicane_robot::audio::{Clip, Sound, Stream};
use chicane_robot::{Axis, Command};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A command to the robot. The order of the variants is part of the format: new variants are added
/// at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variants and fields are those of chicane_robot::Command")]
pub enum RobotOrder {
    Speed(f64),
    Hold { speed: f64, ticks: u64 },
    Steering(f64),
    Drive { speed: Option<f64>, steering: Option<f64> },
    Twist { linear: f64, angular: f64 },
    Pan(f64),
    Tilt(f64),
    Release { axis: Axis, serial: u64 },
    End { axis: Axis, serial: u64 },
    Play { clip: Clip, file: u32, source: String, volume: f64, looped: bool, replace: bool },
    Open(Stream),
    Pcm { id: u64, data: Vec<u8> },
    Volume { id: u64, volume: f64 },
    Stop { id: u64 },
    StopAll,
}

/// A sound file that the journal does not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("sound file {0} is missing")]
pub struct UnknownFile(pub u32);

impl RobotOrder {
    /// Converts a command to the form of a journal. `number` returns the number of a sound file.
    pub fn of(command: &Command, number: impl FnOnce(&Arc<[u8]>) -> u32) -> RobotOrder {
        match command {
            Command::Speed(value) => RobotOrder::Speed(*value),
            Command::Hold { speed, ticks } => RobotOrder::Hold { speed: *speed, ticks: *ticks },
            Command::Steering(value) => RobotOrder::Steering(*value),
            Command::Drive { speed, steering } => RobotOrder::Drive { speed: *speed, steering: *steering },
            Command::Twist { linear, angular } => RobotOrder::Twist { linear: *linear, angular: *angular },
            Command::Pan(value) => RobotOrder::Pan(*value),
            Command::Tilt(value) => RobotOrder::Tilt(*value),
            Command::Release { axis, serial } => RobotOrder::Release { axis: *axis, serial: *serial },
            Command::End { axis, serial } => RobotOrder::End { axis: *axis, serial: *serial },
            Command::Play(sound) => RobotOrder::Play {
                clip: sound.clip,
                file: number(&sound.file),
                source: sound.source.to_string(),
                volume: sound.volume,
                looped: sound.looped,
                replace: sound.replace,
            },
            Command::Open(stream) => RobotOrder::Open(*stream),
            Command::Pcm { id, data } => RobotOrder::Pcm { id: *id, data: data.to_vec() },
            Command::Volume { id, volume } => RobotOrder::Volume { id: *id, volume: *volume },
            Command::Stop { id } => RobotOrder::Stop { id: *id },
            Command::StopAll => RobotOrder::StopAll,
        }
    }

    /// Converts back to a command to the robot. `files` are the sound files so far.
    pub fn command(&self, files: &[Arc<[u8]>]) -> Result<Command, UnknownFile> {
        Ok(match self {
            RobotOrder::Speed(value) => Command::Speed(*value),
            RobotOrder::Hold { speed, ticks } => Command::Hold { speed: *speed, ticks: *ticks },
            RobotOrder::Steering(value) => Command::Steering(*value),
            RobotOrder::Drive { speed, steering } => Command::Drive { speed: *speed, steering: *steering },
            RobotOrder::Twist { linear, angular } => Command::Twist { linear: *linear, angular: *angular },
            RobotOrder::Pan(value) => Command::Pan(*value),
            RobotOrder::Tilt(value) => Command::Tilt(*value),
            RobotOrder::Release { axis, serial } => Command::Release { axis: *axis, serial: *serial },
            RobotOrder::End { axis, serial } => Command::End { axis: *axis, serial: *serial },
            RobotOrder::Play { clip, file, source, volume, looped, replace } => {
                Command::Play(Box::new(Sound {
                    clip: *clip,
                    file: Arc::clone(files.get(*file as usize).ok_or(UnknownFile(*file))?),
                    source: Arc::from(source.as_str()),
                    volume: *volume,
                    looped: *looped,
                    replace: *replace,
                }))
            }
            RobotOrder::Open(stream) => Command::Open(*stream),
            RobotOrder::Pcm { id, data } => Command::Pcm { id: *id, data: Arc::from(data.as_slice()) },
            RobotOrder::Volume { id, volume } => Command::Volume { id: *id, volume: *volume },
            RobotOrder::Stop { id } => Command::Stop { id: *id },
            RobotOrder::StopAll => Command::StopAll,
        })
    }
}
