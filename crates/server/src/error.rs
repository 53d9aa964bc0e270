//! One envelope for every error, and the one place where errors become statuses.

use crate::body::BadBody;
use crate::driver::Refused;
use crate::keeper::KeepError;
use crate::loader::{LoadFailure, RemoveFailure};
use crate::robot::{self, RobotError};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chicane_sim::{NotMovableWhy, Refusal};
use chicane_store::InstallError;
use chicane_wire::{ErrorBody, Invalid};
use std::borrow::Cow;

/// An answer that says what was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) text: Cow<'static, str>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError { status, text: text.into() }
    }

    pub(crate) fn bad_request(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, text)
    }

    pub(crate) fn forbidden(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, text)
    }

    pub(crate) fn not_found(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, text)
    }

    pub(crate) fn conflict(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, text)
    }

    pub(crate) fn unavailable(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    pub(crate) fn internal(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    /// There is no world, and this needs one.
    pub(crate) fn no_world() -> ApiError {
        ApiError::not_found("no world running")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorBody { error: self.text.into_owned() })).into_response()
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> ApiError {
        ApiError::bad_request(invalid.0)
    }
}

impl From<BadBody> for ApiError {
    fn from(bad: BadBody) -> ApiError {
        let status = match bad {
            BadBody::Late => StatusCode::REQUEST_TIMEOUT,
            BadBody::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BadBody::NotSaidToBeJson => StatusCode::FORBIDDEN,
            BadBody::Torn | BadBody::Invalid(_) => StatusCode::BAD_REQUEST,
        };
        ApiError::new(status, bad.to_string())
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> ApiError {
        match refused {
            Refused::NotReady => ApiError::conflict("world not ready"),
            Refused::Switching => ApiError::conflict("world switch in progress"),
            Refused::Evaluating => ApiError::conflict("evaluation in progress"),
            Refused::Busy => ApiError::unavailable("too many commands are waiting; try again"),
            Refused::Stopping => ApiError::unavailable("the simulator stops"),
            Refused::Failed => {
                ApiError::internal("the simulation failed on this command; its world is loaded again")
            }
            Refused::By(refusal) => refusal.into(),
            Refused::ByRobot(refusal) => ApiError::conflict(refusal.to_string()),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        match refusal {
            Refusal::NoSuchObject { .. } => ApiError::not_found("model not found in world"),
            Refusal::NotMovable { why, .. } => ApiError::forbidden(match why {
                NotMovableWhy::Track => "racetrack cannot be moved",
                NotMovableWhy::Wall => "wall cannot be moved",
                NotMovableWhy::Scenery => "scenery cannot be moved",
            }),
            Refusal::NoSuchLight { .. } => ApiError::not_found("light not found"),
            Refusal::YellowPhase { .. } => ApiError::conflict("yellow transition in progress"),
            out_of_range @ Refusal::OutOfRange { .. } => ApiError::bad_request(out_of_range.to_string()),
        }
    }
}

impl From<LoadFailure> for ApiError {
    fn from(failure: LoadFailure) -> ApiError {
        match failure {
            LoadFailure::NoWorld => ApiError::no_world(),
            LoadFailure::NotFound => ApiError::not_found("world not found"),
            LoadFailure::Broken(why) => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, why),
            LoadFailure::Refused(refused) => refused.into(),
            LoadFailure::NotKept(error) => error.into(),
        }
    }
}

impl From<InstallError> for ApiError {
    fn from(error: InstallError) -> ApiError {
        let status = match error {
            InstallError::NotPublished => StatusCode::NOT_FOUND,
            InstallError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            InstallError::Rule(_) => StatusCode::UNPROCESSABLE_ENTITY,
            InstallError::Cdn(_) => StatusCode::BAD_GATEWAY,
            InstallError::Disk(_) => StatusCode::INTERNAL_SERVER_ERROR,
            InstallError::Busy | InstallError::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        };
        ApiError::new(status, error.to_string())
    }
}

impl RemoveFailure {
    /// The answer about this world.
    pub(crate) fn of(self, name: &str) -> ApiError {
        match self {
            RemoveFailure::NotFound => ApiError::not_found("world not found"),
            RemoveFailure::Protected => ApiError::forbidden(format!("cannot delete protected world: {name}")),
            RemoveFailure::Current => ApiError::conflict("world is current: switch to another one first"),
            RemoveFailure::Disk(why) => ApiError::internal(format!("the world can't be deleted: {why}")),
        }
    }
}

impl From<KeepError> for ApiError {
    fn from(error: KeepError) -> ApiError {
        ApiError::internal(format!("the setting could not be stored: {error}"))
    }
}

impl ApiError {
    /// The answer to a request for this path: the robot's paths have a shape of their own.
    pub(crate) fn to(self, path: &str) -> Response {
        if robot::is_path(path) { RobotError::from(self).into_response() } else { self.into_response() }
    }
}

/// A panic in a handler, for the one who asked.
pub(crate) fn panicked(path: &str) -> Response {
    ApiError::internal("something went wrong inside the simulator; its log says more").to(path)
}
