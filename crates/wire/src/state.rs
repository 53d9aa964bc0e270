//! The live state in one response: world, time, car, objects, lights, program and evaluation.

use crate::geometry::Pose;
use crate::light::Light;
use crate::named::Named;
use crate::num::Num;
use crate::verdict::Phase;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Response of `GET /status`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Status {
    /// Whether a world is loaded. It may be stepping or paused.
    pub running: bool,
    /// Always true.
    pub websocket: bool,
    /// Name of the world that is ready; null while a world is being loaded, or if no world runs.
    #[schema(value_type = Option<String>)]
    pub current: Option<Arc<str>>,
    /// Whether a world is being loaded.
    pub switching: bool,
    /// Counter that increases whenever a served mesh or texture may have changed.
    pub assets_version: u64,
    /// Version of the program.
    pub version: &'static str,
    /// Short name of the vehicle generation.
    pub generation: String,
    /// Real seconds since the program started.
    pub uptime_s: Num,
}

/// Response of `GET /state`, and data of the event `state`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct State {
    /// Name of the running world; null before the first world is loaded.
    #[schema(value_type = Option<String>)]
    pub world: Option<Arc<str>>,
    /// Name of the world that is ready; null while a world is being loaded, or if no world runs.
    #[schema(value_type = Option<String>)]
    pub current: Option<Arc<str>>,
    /// Whether a world is loaded. It may be stepping or paused.
    pub running: bool,
    /// Always true.
    pub websocket: bool,
    /// Whether a world is being loaded.
    pub switching: bool,
    /// The world that is being loaded, or else the world that is being installed (`kind:
    /// "install"`); null if there is neither. An installation does not affect the running world.
    pub transition: Option<Transition>,
    /// Simulated seconds; null before the first world is loaded.
    pub time: Option<Num>,
    /// Whether the simulation is paused.
    pub paused: bool,
    /// Measured real-time factor (simulated seconds per real second).
    pub rtf: Num,
    /// Counter that increases when the car is moved by other means than driving: by a pose, a
    /// reset, a respawn, a switch or the start of a session. The response of a step omits the
    /// counter, because the same step after two respawns must get the same response.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub epoch: Option<u64>,
    /// State of the car; null before the first world is loaded.
    pub vehicle: Option<VehiclePose>,
    /// Names of the objects and walls in contact with the car.
    #[schema(value_type = Vec<String>)]
    pub contacts: Vec<Arc<str>>,
    /// Current poses of all objects by name.
    #[schema(value_type = BTreeMap<String, Pose>)]
    pub objects: Named<Arc<str>, Pose>,
    /// Traffic lights, sorted by name.
    pub lights: Vec<Light>,
    /// Overlay text; empty when no overlay is shown.
    #[schema(value_type = String)]
    pub overlay: Arc<str>,
    /// Multiplier of the overlay's font size.
    pub overlay_size: Num,
    /// Counter that increases with every overlay request.
    pub overlay_seq: u64,
    /// Factor applied to every displayed pixel.
    pub brightness: Num,
    /// State of the student's program.
    pub run: RunState,
    /// Summary of the evaluation session.
    pub evaluation: EvaluationState,
}

/// State of the car.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct VehiclePose {
    /// Pose of the reference point: at ground level, midway between the axles.
    #[serde(flatten)]
    pub pose: Pose,
    /// Forward speed, m/s.
    pub speed: Num,
    /// Angle of the virtual centre wheel, rad, positive to the left.
    pub steering: Num,
    /// Pan angle of the camera, rad, positive to the left.
    pub pan: Num,
    /// Tilt angle of the camera, rad, positive upwards.
    pub tilt: Num,
}

/// A world that is being loaded or installed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Transition {
    /// Why the world is being loaded, or `install`.
    pub kind: TransitionKind,
    /// File name of the world.
    #[schema(value_type = String, example = "oval.world")]
    pub target: Arc<str>,
    /// Progress, 0 to 1.
    pub progress: Num,
}

/// The reason for which a world is being loaded, or `install` for an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransitionKind {
    /// The program is starting.
    Boot,
    /// A client requested another world.
    Switch,
    /// A client requested a respawn of the same world.
    Respawn,
    /// A published world is being installed. The current world keeps running, and `switching` is
    /// false.
    Install,
}

/// State of the student's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct RunState {
    /// Whether the program is running.
    pub running: bool,
    /// Exit code, or the negated number of the signal that ended the program; null before the exit.
    pub exit_code: Option<i32>,
}

/// Summary of the evaluation session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct EvaluationState {
    /// Whether a session is active.
    pub active: bool,
    /// Id of the session.
    pub session: Option<String>,
    /// Phase of the session.
    pub phase: Option<Phase>,
}
