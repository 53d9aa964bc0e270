//! Errors of the robot's API, which have their own format.

use crate::error::{ApiError, BadBody};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chicane_host::driver::Refused;
use chicane_wire::{Detail, ErrorCode, Invalid, Waiting};
use std::borrow::Cow;

/// An error response of the robot's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RobotError {
    /// The sensor with this name has no reading yet.
    Waiting(&'static str),
    /// A value has the wrong type or is out of range. The robot's API uses status 422 for this
    /// error, other paths use 400.
    BadValue(Cow<'static, str>),
    /// Any other error, with the status of its code.
    Other(ApiError),
    /// The access rules refused the request. Errors of the access rules have the same format on
    /// every path.
    AccessRefused(ApiError),
}

impl RobotError {
    pub(super) fn new(code: ErrorCode, text: impl Into<Cow<'static, str>>) -> RobotError {
        RobotError::Other(ApiError::new(code, text))
    }

    /// Creates the error for a value that has the wrong type or is out of range.
    pub(super) fn bad_value(text: impl Into<Cow<'static, str>>) -> RobotError {
        RobotError::BadValue(text.into())
    }

    /// Creates the error for a failure inside the simulator.
    pub(super) fn failed(text: impl Into<Cow<'static, str>>) -> RobotError {
        RobotError::new(ErrorCode::Internal, text)
    }

    /// The text without a status, for WebSockets.
    pub(super) fn text(&self) -> Cow<'static, str> {
        match self {
            RobotError::Waiting(what) => Cow::Owned(format!("No {what} data")),
            RobotError::BadValue(text) => text.clone(),
            RobotError::Other(error) | RobotError::AccessRefused(error) => error.text.clone(),
        }
    }

    /// The error as a message on a WebSocket.
    pub(super) fn detail(&self) -> Detail {
        Detail { detail: self.text().into_owned(), code: self.code() }
    }

    fn code(&self) -> ErrorCode {
        match self {
            RobotError::Waiting(_) => ErrorCode::NoReading,
            RobotError::BadValue(_) => ErrorCode::InvalidRequest,
            RobotError::Other(error) | RobotError::AccessRefused(error) => error.code,
        }
    }
}

impl IntoResponse for RobotError {
    fn into_response(self) -> Response {
        let detail = self.detail();
        match self {
            RobotError::Waiting(_) => {
                let body = Waiting { error: detail.detail, status: "waiting", code: detail.code };
                (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
            }
            RobotError::BadValue(_) => (StatusCode::UNPROCESSABLE_ENTITY, Json(detail)).into_response(),
            RobotError::Other(error) => (error.status(), Json(detail)).into_response(),
            RobotError::AccessRefused(error) => error.into_response(),
        }
    }
}

impl From<Invalid> for RobotError {
    fn from(invalid: Invalid) -> RobotError {
        RobotError::bad_value(invalid.0)
    }
}

impl From<BadBody> for RobotError {
    fn from(bad: BadBody) -> RobotError {
        match bad {
            BadBody::Invalid(invalid) => invalid.into(),
            BadBody::NotDeclaredJson => RobotError::AccessRefused(bad.into()),
            other => ApiError::from(other).into(),
        }
    }
}

impl From<Refused> for RobotError {
    fn from(refused: Refused) -> RobotError {
        ApiError::from(refused).into()
    }
}

impl From<ApiError> for RobotError {
    fn from(error: ApiError) -> RobotError {
        RobotError::Other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_expected_statuses() {
        let status = |refused: Refused| RobotError::from(refused).into_response().status().as_u16();
        assert_eq!(status(Refused::NotReady), 409);
        assert_eq!(status(Refused::Busy), 503);
        assert_eq!(status(Refused::Failed), 500);
        let status = |bad: BadBody| RobotError::from(bad).into_response().status().as_u16();
        assert_eq!(status(BadBody::Invalid(Invalid("x".to_owned()))), 422);
        assert_eq!(status(BadBody::TooLarge(1 << 20)), 413);
        assert_eq!(status(BadBody::NotDeclaredJson), 403);
        assert_eq!(status(BadBody::Late(20)), 408);
    }

    #[test]
    fn the_text_names_the_sensor_without_a_reading() {
        assert_eq!(RobotError::Waiting("odometry").text(), "No odometry data");
    }
}
