//! The robot's loudspeaker: what it is asked to play, what plays, and what happens to it.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Body of `POST /audio/play`. One of `url`, `path` and `data` says where the file comes from.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = PlayRequest)]
pub struct PlayRequestBody {
    /// Address of a file on the open internet, http or https.
    #[schema(max_length = 2048, example = "https://example.org/beep.wav")]
    pub url: Option<String>,
    /// A file of the workspace.
    #[schema(max_length = 1024, example = "sounds/beep.wav")]
    pub path: Option<String>,
    /// The file itself, base64; at most 16 MiB of it.
    pub data: Option<String>,
    /// What the file must be; its content says what it is.
    pub format: Option<SoundFormat>,
    /// 1 if omitted.
    #[schema(minimum = 0, maximum = 1)]
    pub volume: Option<f64>,
    /// Again and again until it is stopped; once if omitted.
    #[schema(rename = "loop")]
    pub looped: Option<bool>,
    /// Everything else stops first; if omitted it plays on.
    pub replace: Option<bool>,
}

/// A sound to play.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayRequest {
    /// Where the file comes from.
    pub source: SoundSource,
    /// What the file must be.
    pub format: Option<SoundFormat>,
    /// 0 to 1.
    pub volume: f64,
    /// Again and again.
    pub looped: bool,
    /// Everything else stops first.
    pub replace: bool,
}

/// Where a file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SoundSource {
    /// An address.
    Url(String),
    /// A file of the workspace.
    Path(String),
    /// The file itself, base64.
    Data(String),
}

impl PlayRequest {
    /// Longest address.
    pub const MAX_URL: usize = 2048;
    /// Longest path.
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
            volume: fields.number_within("volume", 0.0, 1.0)?.unwrap_or(1.0),
            looped: fields.flag("loop")?.unwrap_or(false),
            replace: fields.flag("replace")?.unwrap_or(false),
        })
    }
}

/// Kinds of files.
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

/// Answer of `POST /audio/play`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Played {
    /// Always true.
    pub success: bool,
    /// Of the sound that began.
    #[schema(example = "a1")]
    pub id: String,
    /// Seconds.
    pub duration: Num,
}

/// Body of `POST /audio/stop`: one sound, or all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, ToSchema)]
#[schema(as = StopSoundRequest)]
pub struct StopSoundRequestBody {
    /// Which sound.
    #[schema(example = "a1")]
    pub id: Option<String>,
    /// All of them.
    pub all: Option<bool>,
}

/// What is to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopSoundRequest {
    /// One sound.
    One(String),
    /// All of them.
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

/// Answer of `POST /audio/stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct SoundStopped {
    /// Always true.
    pub success: bool,
}

/// Body of `POST /audio/volume`.
#[derive(Debug, Clone, PartialEq, ToSchema)]
pub struct VolumeRequest {
    /// Which sound.
    #[schema(example = "a1")]
    pub id: String,
    /// How loud.
    #[schema(minimum = 0, maximum = 1)]
    pub volume: f64,
}

impl Body for VolumeRequest {
    fn parse(fields: &Fields) -> Result<VolumeRequest, Invalid> {
        let wrong = "id must be that of a sound, such as \"a1\"";
        let id = fields.text("id", wrong)?.ok_or_else(|| Invalid::new(wrong))?.to_owned();
        let volume = fields.number_within("volume", 0.0, 1.0)?;
        let volume = volume.ok_or_else(|| Invalid::new("volume must be a number from 0 to 1"))?;
        Ok(VolumeRequest { id, volume })
    }
}

/// Answer of `POST /audio/volume`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VolumeChanged {
    /// Always true.
    pub success: bool,
    /// Which sound.
    pub id: String,
    /// How loud it is now.
    pub volume: Num,
}

/// Answer of `GET /audio`: what plays, in the order in which it began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
pub struct Sounds {
    /// Every sound.
    pub playing: Vec<SoundPlaying>,
}

/// A file or samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundKind {
    /// A file.
    File,
    /// Samples that a client sends.
    Stream,
}

/// A sound that plays.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundPlaying {
    /// By which it can be stopped.
    #[schema(example = "a1")]
    pub id: String,
    /// File or stream.
    pub kind: SoundKind,
    /// Where it came from: its address, its path, `data` or `stream`.
    #[schema(value_type = String)]
    pub source: Arc<str>,
    /// Null for a stream.
    pub format: Option<SoundFormat>,
    /// 0 to 1.
    pub volume: Num,
    /// Again and again.
    #[serde(rename = "loop")]
    pub looped: bool,
    /// Simulated seconds into it.
    pub position: Num,
    /// Seconds; null for a stream.
    pub duration: Option<Num>,
    /// Hz.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
}

/// First frame of the WebSocket `/audio/stream`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamOpened {
    /// Of the sound.
    pub id: String,
    /// Hz.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
}

/// An event of `GET /audio/events`: its name, and its fields as data.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SoundEvent {
    /// A sound began, or played already when the listener came.
    Play(SoundBegun),
    /// Samples of a stream.
    Pcm(SoundSamples),
    /// A sound is louder or quieter.
    Volume {
        /// Which sound.
        id: String,
        /// 0 to 1.
        volume: Num,
    },
    /// A sound was stopped.
    Stop {
        /// Which sound.
        id: String,
    },
    /// Everything was stopped.
    StopAll {},
    /// A sound came to its end.
    Ended {
        /// Which sound.
        id: String,
    },
}

impl SoundEvent {
    /// Its name.
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

/// A sound that began.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundBegun {
    /// Of the sound.
    pub id: String,
    /// File or stream.
    pub kind: SoundKind,
    /// Where the file is served; null for a stream.
    #[schema(example = "/audio/file/a1")]
    pub url: Option<String>,
    /// Null for a stream.
    pub format: Option<SoundFormat>,
    /// 0 to 1.
    pub volume: Num,
    /// Again and again.
    #[serde(rename = "loop")]
    pub looped: bool,
    /// Simulated seconds into it.
    pub position: Num,
    /// Seconds; null for a stream.
    pub duration: Option<Num>,
    /// Hz.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
    /// Simulated seconds at which it was at this position.
    pub time: Num,
}

/// Samples of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SoundSamples {
    /// Of the stream.
    pub id: String,
    /// Hz.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
    /// 16 bits a sample, little end first, channels by turns; base64.
    pub data: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T: Body>(body: &str) -> Result<T, String> {
        Fields::read(body.as_bytes()).and_then(|fields| T::parse(&fields)).map_err(|e| e.0)
    }

    #[test]
    fn a_sound_has_one_source_and_defaults() {
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
        assert!(path(&"ü".repeat(1024)).is_ok(), "letters are counted, not bytes");
        assert!(path(&"a".repeat(1025)).is_err());
    }

    #[test]
    fn one_sound_stops_or_all_do() {
        assert_eq!(parse(r#"{"id": "a1"}"#), Ok(StopSoundRequest::One("a1".to_owned())));
        assert_eq!(parse(r#"{"all": true}"#), Ok(StopSoundRequest::All));
        for body in
            ["{}", r#"{"all": false}"#, r#"{"id": "a1", "all": true}"#, r#"{"id": 1}"#, r#"{"all": 1}"#]
        {
            assert!(parse::<StopSoundRequest>(body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_volume_needs_both() {
        let volume = VolumeRequest { id: "a1".to_owned(), volume: 0.5 };
        assert_eq!(parse(r#"{"id": "a1", "volume": 0.5}"#), Ok(volume));
        for body in [r#"{"id": "a1"}"#, r#"{"volume": 1}"#, r#"{"id": "a1", "volume": 2}"#] {
            assert!(parse::<VolumeRequest>(body).is_err(), "{body}");
        }
    }

    #[test]
    fn events_are_their_fields() {
        let text = |event: &SoundEvent| serde_json::to_string(event).expect("json");
        assert_eq!(text(&SoundEvent::StopAll {}), "{}");
        assert_eq!(text(&SoundEvent::Ended { id: "a2".to_owned() }), r#"{"id":"a2"}"#);
        let volume = SoundEvent::Volume { id: "a2".to_owned(), volume: Num(0.25) };
        assert_eq!(text(&volume), r#"{"id":"a2","volume":0.25}"#);
    }
}
