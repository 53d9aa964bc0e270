//! What the simulator and the harness of a judging script say to each other, version 2. One JSON object a line,
//! over a socket of their own.
//!
//! The simulator makes a [`JudgeCall`] and waits. The harness says [`JudgeSaid`]: any number of records and actions,
//! each action answered by a [`JudgeReply`], then one line that ends the call.

use crate::fields::{Body, Fields, Invalid};
use crate::geometry::{Pose, Rect};
use crate::light::LightState;
use crate::model::{ModelRequest, Motion};
use crate::named::Named;
use crate::num::Num;
use crate::state::{RunState, VehiclePose};
use crate::vehicle::PoseRequest;
use crate::world::{CatalogueEntry, RouteLines};
use crate::{BrightnessRequest, LightRequest, OverlayRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Version of these words.
pub const JUDGE_VERSION: u32 = 2;
/// Bytes of a line from the harness: a motion along ten thousand points fits.
pub const MAX_JUDGE_LINE: usize = 1 << 20;
/// Bytes of a record's JSON.
pub const MAX_RECORD: usize = 16 << 10;

/// What the simulator asks for.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JudgeCall<'a> {
    /// The script, and what does not change.
    Load(&'a Statics),
    /// Calls `initialize(sim)`, if there is one.
    Initialize {
        /// The world now.
        state: &'a Observation,
        /// Objects that are not where they were.
        moved: Moved<'a>,
    },
    /// Calls `evaluate(sim)`.
    Evaluate {
        /// The world now.
        state: &'a Observation,
        /// Objects that are not where they were.
        moved: Moved<'a>,
    },
    /// Looks whether a script can be a judge, without running it.
    Check {
        /// Python.
        script: &'a str,
    },
}

/// Objects that are not where they were when the script last saw them, all of them the first time: of each its name, `x y z roll
/// pitch yaw` and the quaternion. In a world of many objects most stand still, and what is not said need not be read.
#[derive(Debug)]
pub struct Moved<'a>(pub Vec<(&'a str, &'a Pose)>);

impl<'a> Serialize for Moved<'a> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |(name, p): &(&'a str, &'a Pose)| (*name, p.x, p.y, p.z, p.roll, p.pitch, p.yaw, p.q);
        serializer.collect_seq(self.0.iter().map(row))
    }
}

/// What does not change during a session.
#[derive(Debug, Serialize)]
pub struct Statics {
    /// Python.
    pub script: String,
    /// The config as its author wrote it.
    pub config: Box<RawValue>,
    /// Lines and bounds.
    pub track: JudgeTrack,
    /// The catalogue.
    pub objects: Named<String, CatalogueEntry>,
    /// The session's seed.
    pub seed: u64,
}

/// The track as a script sees it. Without a route the lists are empty.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeTrack {
    /// Centre line.
    pub waypoints: Vec<[Num; 2]>,
    /// Inner border.
    pub inner: Option<Vec<[Num; 2]>>,
    /// Outer border.
    pub outer: Option<Vec<[Num; 2]>>,
    /// Of the ground.
    pub bounds: Option<Rect>,
}

impl JudgeTrack {
    /// From what the web API serves.
    pub fn new(lines: Option<RouteLines>, bounds: Option<Rect>) -> JudgeTrack {
        let (waypoints, inner, outer) =
            lines.map_or((Vec::new(), None, None), |l| (l.waypoints, l.inner, l.outer));
        JudgeTrack { waypoints, inner, outer, bounds }
    }
}

/// The world at one moment.
#[derive(Debug, Serialize)]
pub struct Observation {
    /// Simulated seconds since the session began to run.
    pub time: Num,
    /// Whether time stands still.
    pub paused: bool,
    /// Measured real-time factor.
    pub rtf: Num,
    /// Factor of every shown pixel.
    pub brightness: Num,
    /// The car.
    pub pose: VehiclePose,
    /// Live poses by name; sent as [`Moved`].
    #[serde(skip)]
    pub objects: Named<Arc<str>, Pose>,
    /// What each light shows.
    pub lights: Named<Arc<str>, LightState>,
    /// Names of what the car touches.
    pub contacts: Vec<Arc<str>>,
    /// The student's program.
    pub run: RunState,
    /// What plays, and what happened to sounds since the last observation.
    pub audio: JudgeAudio,
}

/// Sounds as a script sees them.
#[derive(Debug, Default, Serialize)]
pub struct JudgeAudio {
    /// What plays.
    pub playing: Vec<JudgeSound>,
    /// What happened, in order.
    pub events: Vec<JudgeSoundEvent>,
}

/// A sound that plays.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeSound {
    /// As the robot's API names it.
    pub id: String,
    /// `file` or `stream`.
    pub kind: &'static str,
    /// Where it came from.
    pub source: Arc<str>,
    /// 0 to 1.
    pub volume: Num,
    /// Seconds into it.
    pub position: Num,
}

/// Something that happened to a sound. Bytes are base64.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JudgeSoundEvent {
    /// A sound began.
    Play {
        /// The sound.
        #[serde(flatten)]
        sound: JudgeSound,
        /// The file; streams have none.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
        /// Hz.
        sample_rate: u32,
        /// 1 or 2.
        channels: u16,
    },
    /// Samples came.
    Pcm {
        /// Which stream.
        id: String,
        /// 16 bits a sample, little end first.
        data: String,
        /// Hz.
        sample_rate: u32,
        /// 1 or 2.
        channels: u16,
    },
    /// Louder or quieter.
    Volume {
        /// Which sound.
        id: String,
        /// 0 to 1.
        volume: Num,
    },
    /// It was stopped.
    Stop {
        /// Which sound.
        id: String,
    },
    /// It came to its end.
    Ended {
        /// Which sound.
        id: String,
    },
}

/// Answer to an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgeReply {
    /// Why it was refused; null when it was done.
    pub error: Option<String>,
}

/// What the harness says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JudgeSaid {
    /// It is up.
    Ready {
        /// Of these words.
        version: u32,
    },
    /// The script wants something done, and waits.
    Act(Value),
    /// The result so far.
    Record {
        /// A finite number, or any JSON value.
        value: Value,
    },
    /// Where prints come by another way: those of the call that ends now end with this mark.
    Printed {
        /// Counts the calls.
        mark: u64,
    },
    /// The call returned.
    Answer {
        /// The script wants the session to end.
        finish: bool,
    },
    /// The call did not return.
    Raised {
        /// What kind of end it was.
        kind: RaisedKind,
        /// Last line of the traceback.
        error: String,
    },
    /// What is wrong with a script that was to be checked.
    Checked {
        /// Null if nothing is.
        error: Option<String>,
    },
}

/// Why a call did not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RaisedKind {
    /// An exception.
    Raised,
    /// `sys.exit`.
    Exited,
    /// No memory was left.
    Memory,
    /// No room for files was left.
    Files,
}

/// Something that a script wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeAct {
    /// The car, somewhere else.
    Teleport(ModelRequest),
    /// An object, somewhere else.
    MoveObject(String, ModelRequest),
    /// A traffic light.
    SetLight(String, LightRequest),
    /// A text on the screen.
    Overlay(OverlayRequest),
    /// The brightness.
    SetBrightness(BrightnessRequest),
    /// Time stands still, or goes on.
    Pause(bool),
}

impl JudgeAct {
    /// Reads an action with the limits of the web API.
    pub fn read(value: Value) -> Result<JudgeAct, Invalid> {
        let Value::Object(mut map) = value else { return Err(Invalid::new("an action is an object")) };
        if let Some(seconds) = map.remove("secs") {
            map.insert("ttl".to_owned(), seconds);
        }
        let fields = Fields::from(map);
        let name = || {
            let name = fields.text("name", "name must be a string")?;
            name.map(str::to_owned).ok_or_else(|| Invalid::new("name must be a string"))
        };
        match fields.text("action", "action must be a string")? {
            Some("teleport") => Ok(JudgeAct::Teleport(place(&fields)?)),
            Some("move_object") => Ok(JudgeAct::MoveObject(name()?, ModelRequest::parse(&fields)?)),
            Some("set_light") => Ok(JudgeAct::SetLight(name()?, LightRequest::parse(&fields)?)),
            Some("overlay") => Ok(JudgeAct::Overlay(OverlayRequest::parse(&fields)?)),
            Some("set_brightness") => Ok(JudgeAct::SetBrightness(BrightnessRequest::parse(&fields)?)),
            Some("pause") => Ok(JudgeAct::Pause(fields.flag("paused")?.unwrap_or(true))),
            _ => Err(Invalid::new("no such action")),
        }
    }
}

/// Where the car is to go, and how.
fn place(fields: &Fields) -> Result<ModelRequest, Invalid> {
    let PoseRequest { x, y, yaw } = PoseRequest::parse(fields)?;
    Ok(ModelRequest { x, y, z: None, yaw, motion: Motion::parse(fields)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn actions_have_the_limits_of_the_web_api() {
        let read = |value: Value| JudgeAct::read(value).map_err(|e| e.0);
        assert_eq!(read(json!({"action": "pause"})), Ok(JudgeAct::Pause(true)));
        let there = json!({"action": "teleport", "x": 1, "y": 2.5, "yaw": null});
        let Ok(JudgeAct::Teleport(place)) = read(there) else { panic!("refused") };
        assert_eq!((place.x, place.y, place.yaw), (Some(1.0), Some(2.5), None));
        for (wrong, says) in [
            (json!({"action": "teleport", "x": 101}), "position out of range"),
            (json!({"action": "teleport", "x": "1"}), "x, y, yaw must be numbers"),
            (json!({"action": "set_light", "name": "a", "state": "blue"}), "state must be one of red, green"),
            (json!({"action": "set_brightness", "value": 7}), "value must be a number from 0.2 to 2"),
            (json!({"action": "fly"}), "no such action"),
            (json!([]), "an action is an object"),
            (json!({"action": "move_object", "x": 1}), "name must be a string"),
        ] {
            assert_eq!(read(wrong.clone()), Err(says.to_owned()), "{wrong}");
        }
        let text = "x".repeat(301);
        assert!(read(json!({"action": "overlay", "text": text})).is_err());
        assert!(read(json!({"action": "overlay", "text": "x", "secs": 3601})).is_err());
    }

    #[test]
    fn lines_of_the_harness_are_read_strictly() {
        let read = |line: &str| serde_json::from_str::<JudgeSaid>(line).ok();
        assert_eq!(read(r#"{"type":"answer","finish":true}"#), Some(JudgeSaid::Answer { finish: true }));
        for wrong in
            ["", "{}", "[]", r#"{"type":"answer"}"#, r#"{"type":"win"}"#, r#"{"type":"record"}"#, "NaN"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
