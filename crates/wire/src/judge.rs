//! Protocol between the simulator and the harness of a judging script, version 3. Each message is a
//! line with one JSON object. The lines go over a dedicated socket, or over standard input and
//! output if the harness runs in a container.
//!
//! Only the poses of moved objects are binary. The field `moved` of a call is the number of rows
//! ([`MovedRows`]) that follow the line of the call. A pose has ten numbers. As text, the poses
//! would take longer to write and to read than the rest of the call.
//!
//! The harness begins with [`JudgeSaid::Ready`]. Then the simulator sends a [`JudgeCall`] and
//! waits. The harness replies with [`JudgeSaid`] lines: first any number of records and actions,
//! and last one line that ends the call. In a container, the line before the last one is
//! [`JudgeSaid::Printed`], which says where the script's output of this call ends. The simulator
//! answers each action with a [`JudgeReply`].

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
use utoipa::ToSchema;

/// Version of this protocol.
pub const JUDGE_VERSION: u32 = 3;
/// Longest line from the harness, in bytes. A motion along 10,000 points fits.
pub const MAX_JUDGE_LINE: usize = 1 << 20;
/// Longest JSON text of a record, in bytes.
pub const MAX_RECORD: usize = 16 << 10;

/// A call from the simulator to the harness.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JudgeCall<'a> {
    /// Loads the script and the constant data of the session.
    Load(&'a Statics),
    /// Calls `initialize(sim)`, if the script defines it.
    Initialize {
        /// The current state of the world.
        state: &'a Observation,
        /// Names of all objects. Omitted if the names have not changed since the last observation.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Vec<String>>)]
        names: Option<Vec<&'a str>>,
        /// Number of rows of moved objects that follow this line.
        moved: usize,
    },
    /// Calls `evaluate(sim)`.
    Evaluate {
        /// The current state of the world.
        state: &'a Observation,
        /// Names of all objects. Omitted if the names have not changed since the last observation.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Vec<String>>)]
        names: Option<Vec<&'a str>>,
        /// Number of rows of moved objects that follow this line.
        moved: usize,
    },
    /// Checks whether a script is a valid judge, without running it.
    Check {
        /// Source of the script, Python.
        script: &'a str,
    },
}

/// Rows of the objects that moved since the script last saw them, or of all objects the first time.
/// Unmoved objects are omitted, because most objects of a large world stand still.
///
/// A row has 84 bytes, little-endian: the position of the object in `names` (32 bits), then `x y z
/// roll pitch yaw` and the quaternion (64-bit floats, rounded as in JSON).
#[derive(Debug, Default)]
pub struct MovedRows {
    /// The bytes of the rows.
    pub bytes: Vec<u8>,
    /// Number of rows.
    pub count: usize,
}

impl MovedRows {
    /// Removes all rows, but keeps the allocated memory for the next call.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// Adds a row.
    pub fn push(&mut self, position: u32, pose: &Pose) {
        let Pose { x, y, z, roll, pitch, yaw, q } = *pose;
        self.bytes.extend(position.to_le_bytes());
        for number in [x, y, z, roll, pitch, yaw].into_iter().chain(q) {
            self.bytes.extend(number.rounded().to_le_bytes());
        }
        self.count += 1;
    }
}

/// Data that is constant during a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Statics {
    /// Source of the script, Python.
    pub script: String,
    /// The config as in the world's file, without the whitespace between its tokens.
    #[schema(value_type = Object)]
    pub config: Box<RawValue>,
    /// Route and bounds of the track.
    pub track: JudgeTrack,
    /// Catalogue entries by name.
    #[schema(value_type = BTreeMap<String, CatalogueEntry>)]
    pub objects: Named<String, CatalogueEntry>,
    /// Seed of the session.
    pub seed: u64,
}

/// The track as a script sees it. Without a route the list of waypoints is empty.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JudgeTrack {
    /// Points (x, y) of the centre line, m.
    pub waypoints: Vec<[Num; 2]>,
    /// Points (x, y) of the inner border, m.
    pub inner: Option<Vec<[Num; 2]>>,
    /// Points (x, y) of the outer border, m.
    pub outer: Option<Vec<[Num; 2]>>,
    /// Bounds of the track's ground.
    pub bounds: Option<Rect>,
}

impl JudgeTrack {
    /// Converts the route and bounds that the web API serves.
    pub fn new(lines: Option<RouteLines>, bounds: Option<Rect>) -> JudgeTrack {
        let (waypoints, inner, outer) =
            lines.map_or((Vec::new(), None, None), |l| (l.waypoints, l.inner, l.outer));
        JudgeTrack { waypoints, inner, outer, bounds }
    }
}

/// State of the world at one tick.
#[derive(Debug, Serialize, ToSchema)]
pub struct Observation {
    /// Simulated seconds since the phase `running` began.
    pub time: Num,
    /// Whether the simulation is paused.
    pub paused: bool,
    /// Measured real-time factor (simulated seconds per real second); 1 in virtual time.
    pub rtf: Num,
    /// Factor applied to every displayed pixel.
    pub brightness: Num,
    /// State of the car.
    pub pose: VehiclePose,
    /// Current poses by name; sent separately as [`MovedRows`].
    #[serde(skip)]
    #[schema(ignore)]
    pub objects: Named<Arc<str>, Pose>,
    /// Colour that each light shows, by name.
    #[schema(value_type = BTreeMap<String, LightState>)]
    pub lights: Named<Arc<str>, LightState>,
    /// Names of the objects and walls in contact with the car.
    #[schema(value_type = Vec<String>)]
    pub contacts: Vec<Arc<str>>,
    /// State of the student's program.
    pub run: RunState,
    /// Playing sounds, and sound events since the last observation.
    pub audio: JudgeAudio,
}

/// Sounds as a script sees them.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct JudgeAudio {
    /// Sounds that are playing.
    pub playing: Vec<JudgeSound>,
    /// Events since the last observation, in order.
    pub events: Vec<JudgeSoundEvent>,
}

/// A sound that is playing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JudgeSound {
    /// Id of the sound in the robot's API.
    pub id: String,
    /// `file` or `stream`.
    pub kind: &'static str,
    /// Origin of the sound: its URL, its path, `data` or `stream`.
    #[schema(value_type = String)]
    pub source: Arc<str>,
    /// Volume, 0 to 1.
    pub volume: Num,
    /// Playback position, seconds.
    pub position: Num,
}

/// A change of a sound. Binary data is base64.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JudgeSoundEvent {
    /// A sound started.
    Play {
        /// The sound that started.
        #[serde(flatten)]
        sound: JudgeSound,
        /// Content of the file; omitted for a stream.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
        /// Sample rate, Hz.
        sample_rate: u32,
        /// Number of channels, 1 or 2.
        channels: u16,
    },
    /// A stream received samples.
    Pcm {
        /// Id of the stream.
        id: String,
        /// 16-bit samples, little-endian.
        data: String,
        /// Sample rate, Hz.
        sample_rate: u32,
        /// Number of channels, 1 or 2.
        channels: u16,
    },
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
    /// A sound played to its end.
    Ended {
        /// Id of the sound.
        id: String,
    },
}

/// Reply of the simulator to an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JudgeReply {
    /// Why the action was refused; null if it was carried out.
    pub error: Option<String>,
}

/// A line from the harness.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JudgeSaid {
    /// The harness has started.
    Ready {
        /// Version of the protocol that the harness uses.
        version: u32,
    },
    /// The script requests an action and waits for the [`JudgeReply`].
    Act(Value),
    /// The script called `sim.record`. The value replaces the previous record of the session.
    Record {
        /// Any JSON value. A number is finite.
        value: Value,
    },
    /// The harness has written a mark to the script's output. The mark ends the output of the
    /// current call. Only sent in a container, where output and messages may arrive in any order.
    Printed {
        /// Number of the mark.
        mark: u64,
    },
    /// The call returned.
    Answer {
        /// Whether the script ends the session.
        finish: bool,
    },
    /// The call failed.
    Raised {
        /// Cause of the failure.
        kind: RaisedKind,
        /// Last line of the traceback.
        error: String,
    },
    /// Result of a `Check` call.
    Checked {
        /// The fault of the script; null if it is valid.
        error: Option<String>,
    },
}

/// Why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RaisedKind {
    /// The script raised an exception.
    Raised,
    /// The script called `sys.exit`.
    Exited,
    /// The script ran out of memory.
    Memory,
    /// The script ran out of file space.
    Files,
}

/// An action that a script requests.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeAct {
    /// Moves the car.
    Teleport(ModelRequest),
    /// Moves an object.
    MoveObject(String, ModelRequest),
    /// Sets a traffic light.
    SetLight(String, LightRequest),
    /// Shows an overlay text.
    Overlay(OverlayRequest),
    /// Sets the brightness.
    SetBrightness(BrightnessRequest),
    /// Pauses or resumes the simulation.
    Pause(bool),
}

const UNKNOWN_ACTION: &str =
    "action must be one of teleport, move_object, set_light, overlay, set_brightness, pause";

impl JudgeAct {
    /// Parses an action, with the same limits as the web API.
    pub fn read(value: Value) -> Result<JudgeAct, Invalid> {
        let Value::Object(mut map) = value else {
            return Err(Invalid::new("an action must be a JSON object"));
        };
        if let Some(seconds) = map.remove("secs") {
            map.insert("ttl".to_owned(), seconds);
        }
        let fields = Fields::from(map);
        let name = || {
            let name = fields.text("name", "name must be a string")?;
            name.map(str::to_owned).ok_or_else(|| Invalid::new("name must be a string"))
        };
        match fields.text("action", "action must be a string")? {
            Some("teleport") => Ok(JudgeAct::Teleport(teleport_target(&fields)?)),
            Some("move_object") => Ok(JudgeAct::MoveObject(name()?, ModelRequest::parse(&fields)?)),
            Some("set_light") => Ok(JudgeAct::SetLight(name()?, LightRequest::parse(&fields)?)),
            Some("overlay") => Ok(JudgeAct::Overlay(OverlayRequest::parse(&fields)?)),
            Some("set_brightness") => Ok(JudgeAct::SetBrightness(BrightnessRequest::parse(&fields)?)),
            Some("pause") => Ok(JudgeAct::Pause(fields.flag("paused")?.unwrap_or(true))),
            _ => Err(Invalid::new(UNKNOWN_ACTION)),
        }
    }
}

/// Parses the target of `teleport`.
fn teleport_target(fields: &Fields) -> Result<ModelRequest, Invalid> {
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
            (json!({"action": "fly"}), UNKNOWN_ACTION),
            (json!([]), "an action must be a JSON object"),
            (json!({"action": "move_object", "x": 1}), "name must be a string"),
        ] {
            assert_eq!(read(wrong.clone()), Err(says.to_owned()), "{wrong}");
        }
        let text = "x".repeat(301);
        assert!(read(json!({"action": "overlay", "text": text})).is_err());
        assert!(read(json!({"action": "overlay", "text": "x", "secs": 3601})).is_err());
    }

    #[test]
    fn a_row_has_the_numbers_of_the_json_text() {
        let n = [0.1 + 0.2, -1e-9, -2.0 / 3.0, 123.405, 1e6, 0.0].map(Num);
        let pose = Pose { x: n[0], y: n[1], z: n[2], roll: n[3], pitch: n[4], yaw: n[5], q: [n[0]; 4] };
        let mut rows = MovedRows::default();
        rows.push(7, &pose);
        assert_eq!((rows.count, rows.bytes.len()), (1, 84));
        assert_eq!(rows.bytes[..4], [7, 0, 0, 0]);
        let sent = rows.bytes[4..].chunks(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")));
        let text = serde_json::to_string(&(n, pose.q)).expect("JSON").replace(['[', ']'], "");
        let read = text.split(',').map(|number| number.parse::<f64>().expect("a number"));
        assert!(sent.map(f64::to_bits).eq(read.map(f64::to_bits)));
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
