//! The body of an error: a text for people and a code for programs.

use serde::Serialize;
use utoipa::ToSchema;

/// The body of every error response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorBody {
    /// The cause of the error and, where possible, how to correct the request.
    #[schema(example = "world not ready")]
    pub error: String,
    /// The kind of error. It stays the same when the text changes.
    pub code: ErrorCode,
}

/// The kind of an error, for programs. A text may change; a code does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = "not_ready")]
pub enum ErrorCode {
    /// The request, one of its fields or its path is malformed, or a field is out of its limits.
    InvalidRequest,
    /// The simulation refused a value that is outside of its range.
    OutOfRange,
    /// The request carries no valid token.
    TokenNeeded,
    /// The request was sent by a page of another site.
    ForeignSite,
    /// The `Host` header names no address of this simulator.
    UnknownHost,
    /// A browser sent a body whose `Content-Type` is not `application/json`. The body is refused,
    /// because a form on another site could have sent it.
    NotJson,
    /// The request contains a complete URL, as a request to a proxy does. This server is not a
    /// proxy.
    NotAProxy,
    /// The judged program may not use this path.
    JudgedRun,
    /// The role of the token does not permit this request.
    RoleForbids,
    /// Too many requests with a wrong token came from this address.
    TooManyAttempts,
    /// The student handed in too many programs, too many programs came from the same address, or
    /// too many students and addresses handed in programs.
    TooManySubmissions,
    /// The object can't be moved.
    NotMovable,
    /// The world can't be deleted, because it is not an installed world. For example, it is part of
    /// the program.
    ProtectedWorld,
    /// No world runs.
    NoWorld,
    /// No object has this name.
    NoSuchObject,
    /// No light has this name.
    NoSuchLight,
    /// No world has this name or id.
    NoSuchWorld,
    /// The world has no route.
    NoRoute,
    /// The world has no bounds.
    NoBounds,
    /// The world has no floor to print.
    NoFloor,
    /// The world or the project has no evaluation, or the project has no usable judging script.
    NoEvaluation,
    /// There is no such record.
    NoRecord,
    /// No sound has this id.
    NoSuchSound,
    /// The simulator was started without a leaderboard.
    NoLeaderboard,
    /// No submission has this id.
    NoSuchSubmission,
    /// No project has this id.
    NoSuchProject,
    /// The path or file does not exist.
    NotFound,
    /// The path does not take this method.
    MethodNotAllowed,
    /// The request did not arrive in time.
    RequestTimeout,
    /// There is no world, or a world is being loaded.
    NotReady,
    /// Another world is being loaded.
    SwitchInProgress,
    /// An evaluation session is active, or the submission is being judged.
    EvaluationInProgress,
    /// The run has no journal, or this version of the simulator does not reproduce the run.
    NoJournal,
    /// The run was driven in the world of another project.
    OtherWorld,
    /// A recording is in progress.
    RecordingInProgress,
    /// Processes of an earlier student program still exist.
    AlreadyRunning,
    /// The light is in its yellow phase.
    YellowPhase,
    /// The world runs or is being loaded, so it can't be deleted.
    WorldInUse,
    /// Somebody else has changed the project.
    RevisionConflict,
    /// The project has errors, so no world can be built from it.
    ProjectInvalid,
    /// There are too many projects, or a project has too many files.
    TooManyProjects,
    /// The worlds of this simulator come from a CDN that can't be published to.
    NoPublishTarget,
    /// The robot refuses the command in its present state.
    RobotRefused,
    /// The submission can't be unpacked, or has no program.
    BadSubmission,
    /// The path does not take the content type of the body, or the body is not a picture in the
    /// format that its file name says.
    UnsupportedType,
    /// The head of the request, a body, a file, a project or a world exceeds its limit.
    TooLarge,
    /// The requested range lies behind the end of the file.
    RangeNotSatisfiable,
    /// The world can't be loaded, installed, published or printed.
    BadWorld,
    /// The document or the zip file is not a valid project. Or a picture of a project is damaged,
    /// or a judging script is not text.
    BadProject,
    /// The path is a WebSocket, and the request is not a WebSocket handshake of version 13.
    UpgradeRequired,
    /// The simulator failed. Its log has the details.
    Internal,
    /// A change, such as a new setting or the start of a session, could not be written to disk.
    NotStored,
    /// The CDN failed.
    CdnFailed,
    /// Too many requests of this kind are being served, a queue is full, or another publisher is
    /// changing the same world.
    Busy,
    /// The simulator is stopping.
    Stopping,
    /// Judging scripts can't be run on this machine, or the machine can't provide the box of a
    /// student's program.
    NoJudge,
    /// The clock or a sensor has no value yet.
    NoReading,
}
