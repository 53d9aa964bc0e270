//! The live state: everything that changes, in one answer.

use crate::geometry::Pose;
use crate::light::Light;
use crate::named::Named;
use crate::num::Num;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Answer of `GET /status`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Status {
    /// A world is loaded, stepping or paused.
    pub running: bool,
    /// Always true.
    pub websocket: bool,
    /// Name of the world; null until one is ready.
    #[schema(value_type = Option<String>)]
    pub current: Option<Arc<str>>,
    /// A world is being loaded.
    pub switching: bool,
    /// Grows whenever a served mesh or texture may have changed.
    pub assets_version: u64,
    /// Version of the program.
    pub version: &'static str,
    /// Robot generation.
    pub generation: String,
    /// Real seconds since the program started.
    pub uptime_s: Num,
}

/// Answer of `GET /state` and data of the `state` event.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct State {
    /// Name of the world that is served.
    #[schema(value_type = Option<String>)]
    pub world: Option<Arc<str>>,
    /// Name of the world that is ready; null while one is being loaded.
    #[schema(value_type = Option<String>)]
    pub current: Option<Arc<str>>,
    /// A world is loaded, stepping or paused.
    pub running: bool,
    /// Always true.
    pub websocket: bool,
    /// A world is being loaded.
    pub switching: bool,
    /// What is being loaded, or else what is being installed (`kind: "install"`), which disturbs nothing.
    pub transition: Option<Transition>,
    /// Simulated seconds; null before the first world.
    pub time: Option<Num>,
    /// Whether time stands still.
    pub paused: bool,
    /// Measured real-time factor.
    pub rtf: Num,
    /// Grows when the car is put elsewhere: by a pose, a reset, a respawn, another world. Not in the answer of a step, which
    /// is the same after two respawns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub epoch: Option<u64>,
    /// The car; null before the first world.
    pub vehicle: Option<VehiclePose>,
    /// Names of the objects and walls that the car touches.
    #[schema(value_type = Vec<String>)]
    pub contacts: Vec<Arc<str>>,
    /// Poses of all objects by name.
    #[schema(value_type = BTreeMap<String, Pose>)]
    pub objects: Named<Arc<str>, Pose>,
    /// Traffic lights by name.
    pub lights: Vec<Light>,
    /// Overlay text; empty when there is none.
    #[schema(value_type = String)]
    pub overlay: Arc<str>,
    /// Multiplier of its font size.
    pub overlay_size: Num,
    /// Grows with every overlay request.
    pub overlay_seq: u64,
    /// Factor of every shown pixel.
    pub brightness: Num,
    /// The student's program.
    pub run: RunState,
    /// The evaluation session.
    pub evaluation: EvaluationState,
}

/// The car in the live state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct VehiclePose {
    /// Ground level, midway between the axles.
    #[serde(flatten)]
    pub pose: Pose,
    /// Ahead, m/s.
    pub speed: Num,
    /// Angle of the virtual centre wheel, rad, + is left.
    pub steering: Num,
    /// Where the camera looks, rad, + is left.
    pub pan: Num,
    /// Where the camera looks, rad, + is up.
    pub tilt: Num,
}

/// A world on its way in.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Transition {
    /// Why.
    pub kind: TransitionKind,
    /// File name of the world.
    #[schema(value_type = String, example = "oval.world")]
    pub target: Arc<str>,
    /// 0 to 1.
    pub progress: Num,
}

/// Why a world is being loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransitionKind {
    /// The program starts.
    Boot,
    /// Another world was asked for.
    Switch,
    /// The same world anew.
    Respawn,
    /// A published world is being installed. The running one runs on, and `switching` is false.
    Install,
}

/// The student's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct RunState {
    /// Whether it runs.
    pub running: bool,
    /// Its exit code; negative is a signal.
    pub exit_code: Option<i32>,
}

/// The evaluation session in short.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct EvaluationState {
    /// Whether one is under way.
    pub active: bool,
    /// Its id.
    pub session: Option<String>,
    /// Its phase.
    pub phase: Option<String>,
}
