//! Errors of the robot's API, which has shapes of its own.

use crate::body::BadBody;
use crate::driver::Refused;
use crate::error::ApiError;
use crate::websocket::NoSocket;
use axum::Json;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chicane_wire::{Detail, Invalid, Waiting};
use std::borrow::Cow;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RobotError {
    /// A sensor that has no reading yet.
    Waiting(&'static str),
    /// Anything else, with what would be right.
    Detail(StatusCode, Cow<'static, str>),
    /// A request that was to become a WebSocket.
    Socket(NoSocket),
    /// Kept out, as on every other path.
    KeptOut(ApiError),
}

impl RobotError {
    pub(crate) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> RobotError {
        RobotError::Detail(status, text.into())
    }

    /// A value that makes no sense.
    pub(crate) fn bad_value(text: impl Into<Cow<'static, str>>) -> RobotError {
        RobotError::new(StatusCode::UNPROCESSABLE_ENTITY, text)
    }

    /// Something inside.
    pub(crate) fn failed(text: impl Into<Cow<'static, str>>) -> RobotError {
        RobotError::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    /// For a person, where there is no status to send.
    pub(crate) fn text(&self) -> Cow<'static, str> {
        match self {
            RobotError::Waiting(what) => Cow::Owned(format!("No {what} data")),
            RobotError::Detail(_, text) => text.clone(),
            RobotError::Socket(why) => Cow::Owned(why.to_string()),
            RobotError::KeptOut(error) => error.text.clone(),
        }
    }
}

impl IntoResponse for RobotError {
    fn into_response(self) -> Response {
        let detail = self.text().into_owned();
        match self {
            RobotError::Waiting(_) => {
                let body = Waiting { error: detail, status: "waiting" };
                (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
            }
            RobotError::Detail(status, _) => (status, Json(Detail { detail })).into_response(),
            RobotError::KeptOut(error) => error.into_response(),
            RobotError::Socket(why) => {
                let mut response = (why.status(), Json(Detail { detail })).into_response();
                if let Some((name, value)) = why.hint() {
                    response.headers_mut().insert(name, HeaderValue::from_static(value));
                }
                response
            }
        }
    }
}

impl From<Invalid> for RobotError {
    fn from(invalid: Invalid) -> RobotError {
        RobotError::bad_value(invalid.0)
    }
}

impl From<NoSocket> for RobotError {
    fn from(why: NoSocket) -> RobotError {
        RobotError::Socket(why)
    }
}

impl From<BadBody> for RobotError {
    fn from(bad: BadBody) -> RobotError {
        match bad {
            BadBody::Invalid(invalid) => invalid.into(),
            BadBody::NotSaidToBeJson => RobotError::KeptOut(bad.into()),
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
        RobotError::new(error.status, error.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_their_statuses() {
        let status = |refused: Refused| RobotError::from(refused).into_response().status().as_u16();
        assert_eq!(status(Refused::NotReady), 409);
        assert_eq!(status(Refused::Busy), 503);
        assert_eq!(status(Refused::Failed), 500);
        let status = |bad: BadBody| RobotError::from(bad).into_response().status().as_u16();
        assert_eq!(status(BadBody::Invalid(Invalid("x".to_owned()))), 422);
        assert_eq!(status(BadBody::TooLarge(1 << 20)), 413);
        assert_eq!(status(BadBody::NotSaidToBeJson), 403);
        assert_eq!(status(BadBody::Late), 408);
    }

    #[test]
    fn a_sensor_that_has_not_spoken_says_which() {
        assert_eq!(RobotError::Waiting("odometry").text(), "No odometry data");
    }
}
