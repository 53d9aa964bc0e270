//! Requests, responses and events of the robot's loudspeaker.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Request body of `POST /audio/play`. Exactly one of `url`, `path` and `data` is required.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = PlayRequest)]
pub struct PlayRequestBody {
    /// URL of a file on the public internet, http or https. If the simulator has no token and
    /// accepts connections of its own machine only, the URL may also name that machine.
    #[schema(max_length = 2048, example = "https://example.org/beep.wav")]
    pub url: Option<String>,
    /// Path of a file in the workspace. If the simulator has no token and accepts connections of
    /// its own machine only, also the absolute path of any file that the simulator's user may read.
    #[schema(max_length = 1024, example = "sounds/beep.wav")]
    pub path: Option<String>,
    /// Content of the file, base64; at most 16 MiB.
    pub data: Option<String>,
    /// Expected format of the file. The format itself is detected from the content.
    pub format: Option<SoundFormat>,
    /// Volume, 0 to 1; 1 if omitted.
    #[schema(minimum = 0, maximum = 1)]
    pub volume: Option<f64>,
    /// Whether to repeat the sound until it is stopped; false if omitted.
    #[schema(rename = "loop")]
    pub looped: Option<bool>,
    /// Whether to stop all other sounds first; false if omitted.
    pub replace: Option<bool>,
}

/// Request body of `POST /audio/duration`. Exactly one of `url`, `path` and `data` is required.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
pub struct DurationRequest {
    /// URL of a file, as in a request to play.
    #[schema(max_length = 2048, example = "https://example.org/beep.wav")]
    pub url: Option<String>,
    /// Path of a file, as in a request to play.
    #[schema(max_length = 1024, example = "sounds/beep.wav")]
    pub path: Option<String>,
    /// Content of the file, base64; at most 16 MiB.
    pub data: Option<String>,
    /// Expected format of the file.
    pub format: Option<SoundFormat>,
}

/// Parsed form of [`PlayRequestBody`].
#[derive(Debug, Clone, PartialEq)]
pub struct PlayRequest {
    /// Origin of the file.
    pub source: SoundSource,
    /// Expected format of the file.
    pub format: Option<SoundFormat>,
    /// Volume, 0 to 1.
    pub volume: f64,
    /// Whether to repeat the sound until it is stopped.
    pub looped: bool,
    /// Whether to stop all other sounds first.
    pub replace: bool,
}

/// Origin of a sound file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SoundSource {
    /// URL of a file.
    Url(String),
    /// Path of a file: relative to the workspace, or absolute.
    Path(String),
    /// Content of the file, base64.
    Data(String),
}

impl PlayRequest {
    /// Longest accepted URL, in characters.
    pub const MAX_URL: usize = 2048;
    /// Longest accepted path, in characters.
    pub const MAX_PATH: usize = 1024;
}

impl Body for PlayRequest {
    fn parse(fields: &Fields) -> Result<PlayRequest, Invalid> {
        let text = |name: &str, what: &str, most: usize| {
            let wrong = format!("{name} must be {what}");
            match fields.text(name, &wrong)? {
                Some(text) if text.len() > most && text.chars().count() > most => Err(Invalid(wrong)),
                found => Ok(found.map(str::to_owned)),
            }
        };
        let url = text("url", "an address of up to 2048 characters", Self::MAX_URL)?;
        let path = text("path", "a file of the workspace, up to 1024 characters", Self::MAX_PATH)?;
        let data = text("data", "a file in base64", usize::MAX)?;
        let source = match (url, path, data) {
            (Some(url), None, None) => SoundSource::Url(url),
            (None, Some(path), None) => SoundSource::Path(path),
            (None, None, Some(data)) => SoundSource::Data(data),
            _ => return Err(Invalid::new("give exactly one of url, path and data")),
        };
        let wrong = "format must be wav, mp3, ogg or flac";
        let format = match fields.text("format", wrong)? {
            None => None,
            Some(name) => Some(SoundFormat::named(name).ok_or_else(|| Invalid::new(wrong))?),
        };
        Ok(PlayRequest {
            source,
            format,
            volume: volume(fields)?.unwrap_or(1.0),
            looped: fields.flag("loop")?.unwrap_or(false),
            replace: fields.flag("replace")?.unwrap_or(false),
        })
    }
}

/// Formats of sound files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundFormat {
    /// RIFF WAVE.
    Wav,
    /// MPEG audio layer III.
    Mp3,
    /// Vorbis in Ogg.
    Ogg,
    /// FLAC.
    Flac,
}

impl SoundFormat {
    fn named(name: &str) -> Option<SoundFormat> {
        match name {
            "wav" => Some(SoundFormat::Wav),
            "mp3" => Some(SoundFormat::Mp3),
            "ogg" => Some(SoundFormat::Ogg),
            "flac" => Some(SoundFormat::Flac),
            _ => None,
        }
    }
}

/// Response of `POST /audio/play`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Played {
    /// Always true.
    pub success: bool,
    /// Id of the new sound.
    #[schema(example = "a1")]
    pub id: String,
    /// Duration of the sound, seconds.
    pub duration: Num,
}

/// Response of `/audio/duration`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct SoundDuration {
    /// Always true.
    pub success: bool,
    /// Duration of the sound, seconds; null for a stream of samples, whose end is not known.
    pub duration: Option<Num>,
}

/// Request body of `POST /audio/stop`: either `id` or `all`.
#[derive(Debug, Clone, PartialEq, Eq, Default, ToSchema)]
#[schema(as = StopSoundRequest)]
pub struct StopSoundRequestBody {
    /// Id of the sound to stop.
    #[schema(example = "a1")]
    pub id: Option<String>,
    /// Whether to stop all sounds.
    pub all: Option<bool>,
}

/// Parsed form of [`StopSoundRequestBody`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopSoundRequest {
    /// Stops the sound with this id.
    One(String),
    /// Stops all sounds.
    All,
}

impl Body for StopSoundRequest {
    fn parse(fields: &Fields) -> Result<StopSoundRequest, Invalid> {
        let wrong = "give either the id of a sound, such as {\"id\": \"a1\"}, or {\"all\": true}";
        let all = fields.flag("all")?.unwrap_or(false);
        match (fields.text("id", wrong)?, all) {
            (Some(id), false) => Ok(StopSoundRequest::One(id.to_owned())),
            (None, true) => Ok(StopSoundRequest::All),
            _ => Err(Invalid::new(wrong)),
        }
    }
}

/// Response of `POST /audio/stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct SoundStopped {
    /// Always true.
    pub success: bool,
}

const BAD_VOLUME: &str = "volume must be a number from 0 to 1";

/// The volume of a request; `None` if it is omitted.
fn volume(fields: &Fields) -> Result<Option<f64>, Invalid> {
    match fields.number_or_text("volume", BAD_VOLUME)? {
        Some(v) if !(0.0..=1.0).contains(&v) => Err(Invalid::new(BAD_VOLUME)),
        other => Ok(other),
    }
}

/// Request body of `POST /audio/volume`.
#[derive(Debug, Clone, PartialEq, ToSchema)]
pub struct VolumeRequest {
    /// Id of the sound.
    #[schema(example = "a1")]
    pub id: String,
    /// New volume, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub volume: f64,
}

impl Body for VolumeRequest {
    fn parse(fields: &Fields) -> Result<VolumeRequest, Invalid> {
        let wrong = "id must be the id of a sound, such as \"a1\"";
        let id = fields.text("id", wrong)?.ok_or_else(|| Invalid::new(wrong))?.to_owned();
        let volume = volume(fields)?.ok_or_else(|| Invalid::new(BAD_VOLUME))?;
        Ok(VolumeRequest { id, volume })
    }
}

/// Response of `POST /audio/volume`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VolumeChanged {
    /// Always true.
    pub success: bool,
    /// Id of the sound.
    pub id: String,
    /// Volume after the change, 0 to 1.
    pub volume: Num,
}

/// Response of `GET /audio`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct Sounds {
    /// Playing sounds, in the order in which they started.
    pub playing: Vec<SoundPlaying>,
}

/// Whether a sound is a file or a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundKind {
    /// A file.
    File,
    /// Samples that a client sends while they are played.
    Stream,
}

/// A sound that is playing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundPlaying {
    /// Id of the sound.
    #[schema(example = "a1")]
    pub id: String,
    /// Whether the sound is a file or a stream.
    pub kind: SoundKind,
    /// Origin of the sound: its URL, its path, `data` or `stream`.
    #[schema(value_type = String)]
    pub source: Arc<str>,
    /// Format of the file; null for a stream.
    pub format: Option<SoundFormat>,
    /// Volume, 0 to 1.
    pub volume: Num,
    /// Whether the sound is repeated.
    #[serde(rename = "loop")]
    pub looped: bool,
    /// Playback position, simulated seconds.
    pub position: Num,
    /// Duration, seconds; null for a stream.
    pub duration: Option<Num>,
    /// Sample rate, Hz.
    pub sample_rate: u32,
    /// Number of channels, 1 or 2.
    pub channels: u16,
}

/// First frame of the WebSocket `/audio/stream`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamOpened {
    /// Id of the new sound.
    pub id: String,
    /// Sample rate, Hz.
    pub sample_rate: u32,
    /// Number of channels, 1 or 2.
    pub channels: u16,
}

/// Data of an event of `GET /audio/events`; the event's name is sent separately.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SoundEvent {
    /// A sound started, or was already playing when the client subscribed.
    Play(SoundBegun),
    /// Samples of a stream.
    Pcm(SoundSamples),
    /// The volume of a sound changed.
    Volume {
        /// Id of the sound.
        id: String,
        /// New volume, 0 to 1.
        volume: Num,
    },
    /// A sound was stopped.
    Stop {
        /// Id of the sound.
        id: String,
    },
    /// All sounds were stopped.
    StopAll {},
    /// A sound played to its end.
    Ended {
        /// Id of the sound.
        id: String,
    },
}

impl SoundEvent {
    /// Name of the event.
    pub fn name(&self) -> &'static str {
        match self {
            SoundEvent::Play(_) => "play",
            SoundEvent::Pcm(_) => "pcm",
            SoundEvent::Volume { .. } => "volume",
            SoundEvent::Stop { .. } => "stop",
            SoundEvent::StopAll {} => "stop_all",
            SoundEvent::Ended { .. } => "ended",
        }
    }
}

/// A sound that started.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundBegun {
    /// Id of the sound.
    pub id: String,
    /// Whether the sound is a file or a stream.
    pub kind: SoundKind,
    /// Path under which the file is served; null for a stream.
    #[schema(example = "/audio/file/a1")]
    pub url: Option<String>,
    /// Format of the file; null for a stream.
    pub format: Option<SoundFormat>,
    /// Volume, 0 to 1.
    pub volume: Num,
    /// Whether the sound is repeated.
    #[serde(rename = "loop")]
    pub looped: bool,
    /// Playback position, simulated seconds.
    pub position: Num,
    /// Duration, seconds; null for a stream.
    pub duration: Option<Num>,
    /// Sample rate, Hz.
    pub sample_rate: u32,
    /// Number of channels, 1 or 2.
    pub channels: u16,
    /// Simulated time at which the sound was at `position`, s.
    pub time: Num,
}

/// Samples of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SoundSamples {
    /// Id of the stream.
    pub id: String,
    /// Sample rate, Hz.
    pub sample_rate: u32,
    /// Number of channels, 1 or 2.
    pub channels: u16,
    /// 16-bit samples, little-endian, channels interleaved; base64.
    pub data: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T: Body>(body: &str) -> Result<T, String> {
        Fields::read(body.as_bytes()).and_then(|fields| T::parse(&fields)).map_err(|e| e.0)
    }

    #[test]
    fn a_play_request_has_exactly_one_source_and_defaults() {
        let played = parse::<PlayRequest>(r#"{"path": "beep.wav", "url": null}"#).expect("a request");
        assert_eq!(played.source, SoundSource::Path("beep.wav".to_owned()));
        assert_eq!((played.volume, played.looped, played.replace, played.format), (1.0, false, false, None));
        let all = r#"{"data": "", "format": "ogg", "volume": 0.5, "loop": true, "replace": true}"#;
        let played = parse::<PlayRequest>(all).expect("a request");
        assert_eq!(played.format, Some(SoundFormat::Ogg));
        assert!(played.looped && played.replace && played.volume == 0.5);
        for body in ["{}", r#"{"url": "x", "path": "y"}"#, r#"{"url": "x", "path": "y", "data": "z"}"#] {
            assert_eq!(parse::<PlayRequest>(body), Err("give exactly one of url, path and data".to_owned()));
        }
        for (body, word) in [
            (r#"{"url": 1}"#, "url"),
            (r#"{"path": []}"#, "path"),
            (r#"{"data": {}}"#, "data"),
            (r#"{"data": "", "format": "aac"}"#, "format"),
            (r#"{"data": "", "volume": 1.1}"#, "volume"),
            (r#"{"data": "", "volume": -0.1}"#, "volume"),
            (r#"{"data": "", "loop": 1}"#, "loop"),
            (r#"{"data": "", "replace": "yes"}"#, "replace"),
        ] {
            assert!(parse::<PlayRequest>(body).expect_err(body).starts_with(word), "{body}");
        }
        let path = |text: &str| parse::<PlayRequest>(&format!(r#"{{"path": "{text}"}}"#));
        assert!(path(&"ü".repeat(1024)).is_ok(), "characters are counted, not bytes");
        assert!(path(&"a".repeat(1025)).is_err());
    }

    #[test]
    fn a_stop_request_has_either_an_id_or_all() {
        assert_eq!(parse(r#"{"id": "a1"}"#), Ok(StopSoundRequest::One("a1".to_owned())));
        assert_eq!(parse(r#"{"all": true}"#), Ok(StopSoundRequest::All));
        for body in
            ["{}", r#"{"all": false}"#, r#"{"id": "a1", "all": true}"#, r#"{"id": 1}"#, r#"{"all": 1}"#]
        {
            assert!(parse::<StopSoundRequest>(body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_volume_request_needs_id_and_volume() {
        let volume = VolumeRequest { id: "a1".to_owned(), volume: 0.5 };
        assert_eq!(parse(r#"{"id": "a1", "volume": 0.5}"#), Ok(volume));
        for body in [r#"{"id": "a1"}"#, r#"{"volume": 1}"#, r#"{"id": "a1", "volume": 2}"#] {
            assert!(parse::<VolumeRequest>(body).is_err(), "{body}");
        }
    }

    #[test]
    fn the_data_of_an_event_is_its_fields() {
        let text = |event: &SoundEvent| serde_json::to_string(event).expect("json");
        assert_eq!(text(&SoundEvent::StopAll {}), "{}");
        assert_eq!(text(&SoundEvent::Ended { id: "a2".to_owned() }), r#"{"id":"a2"}"#);
        let volume = SoundEvent::Volume { id: "a2".to_owned(), volume: Num(0.25) };
        assert_eq!(text(&volume), r#"{"id":"a2","volume":0.25}"#);
    }
}
