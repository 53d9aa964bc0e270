//! Errors of the robot's API, which has shapes of its own.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RobotError {
    /// A value that makes no sense.
    BadValue(&'static str),
    /// A sensor that has no reading yet.
    Waiting(&'static str),
    /// Something inside.
    Failed(&'static str),
}

impl IntoResponse for RobotError {
    fn into_response(self) -> Response {
        let (status, body) = match self {
            RobotError::BadValue(text) => (StatusCode::UNPROCESSABLE_ENTITY, json!({ "detail": text })),
            RobotError::Waiting(what) => (
                StatusCode::SERVICE_UNAVAILABLE,
                json!({ "error": format!("No {what} data"), "status": "waiting" }),
            ),
            RobotError::Failed(text) => (StatusCode::INTERNAL_SERVER_ERROR, json!({ "detail": text })),
        };
        (status, Json(body)).into_response()
    }
}
