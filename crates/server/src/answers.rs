//! Error answers in the shape of the path: the robot's paths have one of their own.

use crate::error::ApiError;
use crate::robot::{RobotError, is_path};
use axum::response::{IntoResponse, Response};

/// The answer to a request for this path.
pub(crate) fn answer(error: ApiError, path: &str) -> Response {
    if is_path(path) { RobotError::from(error).into_response() } else { error.into_response() }
}

/// The answer when a handler panicked.
pub(crate) fn panicked(path: &str) -> Response {
    answer(ApiError::internal("the simulator failed on this request; see its log"), path)
}
