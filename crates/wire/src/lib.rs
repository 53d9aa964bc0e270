//! Types of everything that crosses a process boundary: request and response bodies, events, and
//! the judge's protocol.
//!
//! This crate holds names, types, limits and the error texts for invalid requests. It has no
//! behaviour beyond parsing and serializing. Types of the simulation core are not sent as JSON: the
//! crates `host` and `server` convert them into these types.

mod builder;
mod clock;
mod display;
mod error;
mod evaluation;
mod event;
mod fields;
mod geometry;
mod judge;
mod leaderboard;
mod light;
mod model;
mod named;
mod num;
mod program_files;
mod recording;
mod robot;
mod role;
mod scene;
mod schema;
mod state;
mod step;
mod vary;
mod vehicle;
mod verdict;
mod workspace;
mod world;
mod worlds;

pub use builder::{
    ChangePublishedRequest, ChangePublishedRequestBody, ChangedFile, ConflictBody, CreateProject,
    CreateProjectBody, DeletedFile, DeletedProject, EarlierVerdict, FindingLocation, InvalidProjectBody,
    JudgeTemplate, LocationKind, MAX_EDITOR, MAX_SCRIPT_CHECK, NewProjectSource, Paper, PreviewAnswer,
    PreviewFinding, PreviewObject, PreviewRequest, PreviewRequestBody, PreviewRoad, PreviewSeverity,
    PrintArea, PrintRequest, PrintRequestBody, PrintSize, ProjectEditors, ProjectEntry, ProjectFile,
    ProjectId, ProjectList, ProjectPublished, ProjectRevision, ProjectRun, ProjectRuns, ProjectSaved,
    ProjectView, PublishRequest, PublishRequestBody, PublishedWorld, PublishedWorlds, RandomTrack,
    RandomTrackBody, RejudgeRequest, RejudgeRequestBody, RejudgedRun, RoadStart, SaveProject,
    SaveProjectBody, ScriptCheckRequest, ScriptCheckRequestBody, ScriptChecked, ScriptError, Templates,
    TightestBend, WorldAccess,
};
pub use clock::{Clock, ClockChanged, ClockRequest};
pub use display::{
    Brightness, BrightnessChanged, BrightnessRequest, Overlay, OverlayChanged, OverlayRequest,
};
pub use error::{ErrorBody, ErrorCode};
pub use evaluation::{
    CurrentSession, EvaluationDocument, JournalIdentity, JudgeWork, ProgramIdentity, ProgramState,
    ProgramVersion, Record, RecordIdentity, RecordList, RunReport, RunRequest, RunRequestBody, RunResult,
    SentCommand, SentCommands, Session, StartRequest, StartRequestBody, Started, Stopped,
};
pub use event::{EvaluationEvent, EvaluationKind, RecordedEvent, RunEvent, StoryEvent};
pub use fields::{Body, Fields, Invalid, NoFields};
pub use geometry::{FlatPose, Pose, Rect, Size};
pub use judge::{
    JUDGE_VERSION, JudgeAct, JudgeAudio, JudgeCall, JudgeReply, JudgeSaid, JudgeSound, JudgeSoundEvent,
    JudgeTrack, MAX_JUDGE_LINE, MAX_RECORD, MovedRows, Observation, RaisedKind, Statics,
};
pub use leaderboard::{
    Leaderboard, LeaderboardChange, LeaderboardRow, LeaderboardTable, MAX_SUBMISSION, RunningSubmission,
    Submission, SubmissionList, SubmissionQueue, SubmissionReceived, SubmissionResult, SubmissionState,
    SubmissionVerdict,
};
pub use light::{Light, LightChanged, LightRequest, LightState, Lights, Panel, RedOrGreen};
pub use model::{ModelMoved, ModelPlace, ModelRequest, ModelRequestBody, Motion};
pub use named::Named;
pub use num::{Num, rounded};
pub use program_files::{MAX_PROGRAM_BYTES, MAX_PROGRAM_FILES, ProgramFiles};
pub use recording::{Recording, RecordingChanged, RecordingRequest};
pub use robot::{
    Battery, CameraAngleRequest, CameraFrame, Commanded, Detail, DriveCommand, DriveRequest, DriveValues,
    Driven, DurationRequest, Hardware, Heading, Health, Inertial, Info, JointAngles, LIDAR_STEP, LidarScan,
    Odometry, PlayRequest, PlayRequestBody, Played, Quaternion, Rates, ScanMeta, ScanUnits, Sensors, Shown,
    Sizes, Software, SoundBegun, SoundDuration, SoundEvent, SoundFormat, SoundKind, SoundPlaying,
    SoundSamples, SoundSource, SoundStopped, Sounds, SpeedFrame, SpeedRequest, States, SteeringRequest,
    StopSoundRequest, StopSoundRequestBody, StreamOpened, Velocity, VolumeChanged, VolumeRequest, Waiting,
};
pub use role::Role;
pub use scene::Scene;
pub use schema::state_schema;
pub use state::{EvaluationState, RunState, State, Status, Transition, TransitionKind, VehiclePose};
pub use step::{
    ArrayInfo, CameraObservation, ImuObservation, LidarObservation, Observations, Observe, OdomObservation,
    StepHeader, StepRequest, StepRequestBody, Stepped, Xyz,
};
pub use vary::{Variation, VaryBody, VaryLights, VaryNoise, VaryObjects, VaryStart, VarySurface};
pub use vehicle::{
    BodyBox, CameraProfile, ImuProfile, LidarProfile, Limits, Placed, PoseRequest, Profile, ResetDone,
    RespawnRequest, RespawnRequestBody, Respawned,
};
pub use verdict::{
    AllowedGroup, Better, BoxKind, CommandName, CommandSource, Outcome, OutputStream, Pace, Phase,
    StudentNetwork,
};
pub use workspace::{Workspace, WorkspaceFile};
pub use world::{CatalogueEntry, Object, ObjectKind, ObjectType, Objects, Route, RouteLines, Track, World};
pub use worlds::{
    Deleted, InstallAnswer, InstallRequest, InstallRequestBody, Publication, SwitchRequest,
    SwitchRequestBody, Switched, WorldEntry, WorldId, Worlds,
};

/// Bytes that are not JSON. Only the OpenAPI document uses this type, as the schema of a body with
/// such bytes.
#[derive(Debug, Clone, PartialEq, Eq, utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
pub struct Octets(pub Vec<u8>);
