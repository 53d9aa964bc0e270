//! Maps each error code to an HTTP status, and most errors of the lower-level crates to an error
//! code.

use super::{ApiError, BadBody};
use axum::http::StatusCode;
use chicane_host::driver::{Refused, refusal_text};
use chicane_host::evaluation::{CheckScriptError, StartEvaluationError};
use chicane_host::keeper::{ChangeError, KeepError};
use chicane_host::loader::{LoadFailure, RemoveFailure};
use chicane_leaderboard::{HandInError, RemoveSubmissionError};
use chicane_recording::StartRecordingError;
use chicane_render::PrintError;
use chicane_replay::ReplayError;
use chicane_sim::Refusal;
use chicane_store::{InstallError, LoadError, PublishError};
use chicane_studio::{ArchiveError, FileError, PrintJobError, PublishProjectError, StudioError};
use chicane_wire::{ErrorCode, Invalid};

/// The status of an error code.
pub(super) fn of(code: ErrorCode) -> StatusCode {
    use ErrorCode as E;
    match code {
        E::InvalidRequest | E::OutOfRange | E::BadSubmission => StatusCode::BAD_REQUEST,
        E::TokenNeeded => StatusCode::UNAUTHORIZED,
        E::ForeignSite | E::UnknownHost | E::NotJson | E::NotAProxy => StatusCode::FORBIDDEN,
        E::NotMovable | E::ProtectedWorld | E::JudgedRun | E::RoleForbids => StatusCode::FORBIDDEN,
        E::TooManyAttempts | E::TooManySubmissions => StatusCode::TOO_MANY_REQUESTS,
        E::NoWorld | E::NoSuchObject | E::NoSuchLight | E::NoSuchWorld => StatusCode::NOT_FOUND,
        E::NoRoute | E::NoBounds | E::NoFloor | E::NoEvaluation => StatusCode::NOT_FOUND,
        E::NoRecord | E::NoSuchSound | E::NotFound => StatusCode::NOT_FOUND,
        E::NoLeaderboard | E::NoSuchSubmission | E::NoSuchProject => StatusCode::NOT_FOUND,
        E::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        E::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        E::NotReady | E::SwitchInProgress | E::EvaluationInProgress => StatusCode::CONFLICT,
        E::RecordingInProgress | E::NoJournal | E::OtherWorld => StatusCode::CONFLICT,
        E::RevisionConflict | E::ProjectInvalid | E::TooManyProjects => StatusCode::CONFLICT,
        E::NoPublishTarget => StatusCode::CONFLICT,
        E::AlreadyRunning | E::YellowPhase | E::WorldInUse | E::RobotRefused => StatusCode::CONFLICT,
        E::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        E::UnsupportedType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        E::RangeNotSatisfiable => StatusCode::RANGE_NOT_SATISFIABLE,
        E::BadWorld | E::BadProject => StatusCode::UNPROCESSABLE_ENTITY,
        E::UpgradeRequired => StatusCode::UPGRADE_REQUIRED,
        E::Internal | E::NotStored => StatusCode::INTERNAL_SERVER_ERROR,
        E::CdnFailed => StatusCode::BAD_GATEWAY,
        E::Busy | E::Stopping | E::NoJudge | E::NoReading => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> ApiError {
        ApiError::invalid(invalid.0)
    }
}

impl From<BadBody> for ApiError {
    fn from(bad: BadBody) -> ApiError {
        let code = match bad {
            BadBody::Late(_) => ErrorCode::RequestTimeout,
            BadBody::TooLarge(_) => ErrorCode::TooLarge,
            BadBody::NotDeclaredJson => ErrorCode::NotJson,
            BadBody::Incomplete | BadBody::Invalid(_) => ErrorCode::InvalidRequest,
        };
        ApiError::new(code, bad.to_string())
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> ApiError {
        let code = match &refused {
            Refused::NotReady => ErrorCode::NotReady,
            Refused::Switching => ErrorCode::SwitchInProgress,
            Refused::Evaluating => ErrorCode::EvaluationInProgress,
            Refused::Busy => ErrorCode::Busy,
            Refused::Stopping => ErrorCode::Stopping,
            Refused::Failed => ErrorCode::Internal,
            Refused::BySimulation(refusal) => return ApiError::new(code_of(refusal), refusal_text(refusal)),
            Refused::ByRobot(_) => ErrorCode::RobotRefused,
        };
        ApiError::new(code, refused.to_string())
    }
}

fn code_of(refusal: &Refusal) -> ErrorCode {
    match refusal {
        Refusal::NoSuchObject { .. } => ErrorCode::NoSuchObject,
        Refusal::NotMovable { .. } => ErrorCode::NotMovable,
        Refusal::NoSuchLight { .. } => ErrorCode::NoSuchLight,
        Refusal::YellowPhase { .. } => ErrorCode::YellowPhase,
        Refusal::OutOfRange { .. } => ErrorCode::OutOfRange,
    }
}

impl From<LoadFailure> for ApiError {
    fn from(failure: LoadFailure) -> ApiError {
        let code = match failure {
            LoadFailure::NoWorld => return ApiError::no_world(),
            LoadFailure::NotFound => ErrorCode::NoSuchWorld,
            LoadFailure::Broken(_) => ErrorCode::BadWorld,
            LoadFailure::Refused(refused) => return refused.into(),
            LoadFailure::NotKept(error) => return error.into(),
        };
        ApiError::new(code, failure.to_string())
    }
}

impl From<LoadError> for ApiError {
    fn from(error: LoadError) -> ApiError {
        match error {
            LoadError::NotFound => ApiError::new(ErrorCode::NoSuchWorld, "world not found"),
            LoadError::Broken(why) => ApiError::new(ErrorCode::BadWorld, why.to_string()),
        }
    }
}

impl From<InstallError> for ApiError {
    fn from(error: InstallError) -> ApiError {
        let code = match error {
            InstallError::NotPublished => ErrorCode::NoSuchWorld,
            InstallError::TooLarge(_) => ErrorCode::TooLarge,
            InstallError::Rule(_) => ErrorCode::BadWorld,
            InstallError::Cdn(_) => ErrorCode::CdnFailed,
            InstallError::Disk(_) => ErrorCode::NotStored,
            InstallError::Busy => ErrorCode::Busy,
            InstallError::Stopping => ErrorCode::Stopping,
        };
        ApiError::new(code, error.to_string())
    }
}

/// The error response if the world `name` could not be removed.
pub(crate) fn remove_failed(failure: RemoveFailure, name: &str) -> ApiError {
    match failure {
        RemoveFailure::NotFound => ApiError::new(ErrorCode::NoSuchWorld, "world not found"),
        RemoveFailure::Protected => {
            ApiError::new(ErrorCode::ProtectedWorld, format!("cannot delete protected world: {name}"))
        }
        RemoveFailure::Current => {
            ApiError::new(ErrorCode::WorldInUse, "the world is running; switch to another world first")
        }
        RemoveFailure::Disk(why) => {
            ApiError::new(ErrorCode::NotStored, format!("the world can't be deleted: {why}"))
        }
    }
}

impl From<KeepError> for ApiError {
    fn from(error: KeepError) -> ApiError {
        ApiError::new(ErrorCode::NotStored, error.to_string())
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> ApiError {
        match error {
            ChangeError::NotKept(error) => error.into(),
            ChangeError::Refused(refused) => refused.into(),
            ChangeError::Panicked(_) => ApiError::internal(error.to_string()),
        }
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> ApiError {
        let code = match error {
            ReplayError::NoRecord => ErrorCode::NoRecord,
            ReplayError::Run(_) | ReplayError::Seek(_) => ErrorCode::NoJournal,
            ReplayError::Store(_) | ReplayError::NotDrawn | ReplayError::Panicked(_) => ErrorCode::Internal,
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<StartEvaluationError> for ApiError {
    fn from(error: StartEvaluationError) -> ApiError {
        let code = match error {
            StartEvaluationError::NotReady => ErrorCode::NotReady,
            StartEvaluationError::NoEvaluation => ErrorCode::NoEvaluation,
            StartEvaluationError::InProgress => ErrorCode::EvaluationInProgress,
            StartEvaluationError::StudentStillRunning => ErrorCode::AlreadyRunning,
            StartEvaluationError::NoJudge(_) | StartEvaluationError::NoBox(_) => ErrorCode::NoJudge,
            StartEvaluationError::NotStored(_)
            | StartEvaluationError::RecordNotWritten(_)
            | StartEvaluationError::FolderReplaced(_) => ErrorCode::NotStored,
            StartEvaluationError::Failed(_) => ErrorCode::Internal,
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<StartRecordingError> for ApiError {
    fn from(error: StartRecordingError) -> ApiError {
        let code = match error {
            StartRecordingError::NotReady => ErrorCode::NotReady,
            StartRecordingError::InProgress => ErrorCode::RecordingInProgress,
            StartRecordingError::Folder(_) | StartRecordingError::Failed(_) => ErrorCode::NotStored,
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<HandInError> for ApiError {
    fn from(error: HandInError) -> ApiError {
        let code = match error {
            HandInError::Name | HandInError::Empty => ErrorCode::InvalidRequest,
            HandInError::TooOften { .. }
            | HandInError::OthersWait { .. }
            | HandInError::AddressWaits { .. } => ErrorCode::TooManySubmissions,
            HandInError::QueueFull | HandInError::TooManyStudents => ErrorCode::Busy,
            HandInError::Kind | HandInError::Unpack(_) | HandInError::Program(_) => ErrorCode::BadSubmission,
            HandInError::Write(_) | HandInError::Store(_) | HandInError::Random(_) => ErrorCode::NotStored,
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<RemoveSubmissionError> for ApiError {
    fn from(error: RemoveSubmissionError) -> ApiError {
        let code = match error {
            RemoveSubmissionError::NoSuchSubmission => ErrorCode::NoSuchSubmission,
            RemoveSubmissionError::InProgress => ErrorCode::EvaluationInProgress,
            RemoveSubmissionError::Store(_) => ErrorCode::NotStored,
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<StudioError> for ApiError {
    fn from(error: StudioError) -> ApiError {
        let code = match &error {
            StudioError::NoProject => ErrorCode::NoSuchProject,
            StudioError::NoFile => ErrorCode::NotFound,
            StudioError::Conflict { .. } => ErrorCode::RevisionConflict,
            StudioError::Invalid(_) => ErrorCode::ProjectInvalid,
            StudioError::Document(_) => ErrorCode::BadProject,
            StudioError::NoRules | StudioError::NoScript => ErrorCode::NoEvaluation,
            StudioError::Name | StudioError::Track(_) => ErrorCode::InvalidRequest,
            StudioError::NoWorld(_) => ErrorCode::NoSuchWorld,
            StudioError::TooManyProjects | StudioError::TooManyFiles => ErrorCode::TooManyProjects,
            StudioError::FilesTooLarge => ErrorCode::TooLarge,
            StudioError::File(file) => code_of_file(file),
            StudioError::Archive(ArchiveError::TooMany | ArchiveError::TooLarge) => ErrorCode::TooLarge,
            StudioError::Archive(_) => ErrorCode::BadProject,
            StudioError::World(_) => ErrorCode::BadWorld,
            StudioError::Store(_) => ErrorCode::NotStored,
            StudioError::Stored(_) | StudioError::Random(_) => ErrorCode::Internal,
        };
        ApiError::new(code, error.to_string())
    }
}

fn code_of_file(error: &FileError) -> ErrorCode {
    match error {
        FileError::Name(_) | FileError::Ending(_) => ErrorCode::InvalidRequest,
        FileError::NotAPicture(_) | FileError::OtherFormat { .. } => ErrorCode::UnsupportedType,
        FileError::TooManyPixels { .. } | FileError::TooLarge { .. } => ErrorCode::TooLarge,
        FileError::Damaged { .. } | FileError::NotText(_) => ErrorCode::BadProject,
    }
}

impl From<PrintJobError> for ApiError {
    fn from(error: PrintJobError) -> ApiError {
        let code = match error {
            PrintJobError::Print(PrintError::NoFloor) => ErrorCode::NoFloor,
            PrintJobError::Print(_) | PrintJobError::Area | PrintJobError::TooManySheets(_) => {
                ErrorCode::InvalidRequest
            }
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<PublishProjectError> for ApiError {
    fn from(error: PublishProjectError) -> ApiError {
        match error {
            PublishProjectError::Studio(error) => error.into(),
            PublishProjectError::Unfit(_) => ApiError::new(ErrorCode::BadWorld, error.to_string()),
        }
    }
}

impl From<PublishError> for ApiError {
    fn from(error: PublishError) -> ApiError {
        let code = match error {
            PublishError::NotPublished(_) => ErrorCode::NoSuchWorld,
            PublishError::Changed(_) => ErrorCode::Busy,
            PublishError::Damaged(_) => ErrorCode::BadWorld,
            PublishError::Target(_) | PublishError::Write { .. } => ErrorCode::NotStored,
        };
        ApiError::new(code, error.to_string())
    }
}

impl From<CheckScriptError> for ApiError {
    fn from(error: CheckScriptError) -> ApiError {
        ApiError::new(ErrorCode::NoJudge, error.to_string())
    }
}
