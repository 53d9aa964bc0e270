//! Error responses in the format of a path. The robot's API has its own error format.

use crate::error::ApiError;
use crate::robot::{RobotError, is_path};
use axum::response::{IntoResponse, Response};

/// The response to a request for `path`, in the error format of that path.
pub(crate) fn error_response(error: ApiError, path: &str) -> Response {
    if is_path(path) { RobotError::from(error).into_response() } else { error.into_response() }
}

/// The response after the handler of `path` panicked.
pub(crate) fn panic_response(path: &str) -> Response {
    error_response(ApiError::internal("the simulator failed on this request; see its log"), path)
}
