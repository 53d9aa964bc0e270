//! The error of an HTTP request. An error has a code, which determines the HTTP status, and a text.
//!
//! The module `status` chooses the status for each [`ErrorCode`], with two exceptions. The robot's
//! API answers an invalid value with 422. The crate `listen` chooses the status of the errors that it
//! sends before a request reaches the router: too many connections, and a request head that is
//! late, too large or malformed. The module `status` also chooses the code for most errors of the
//! lower-level crates, which do not know HTTP.

mod status;

pub(crate) use status::remove_failed;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chicane_wire::{ErrorBody, ErrorCode, Invalid};
use std::borrow::Cow;

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) code: ErrorCode,
    pub(crate) text: Cow<'static, str>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError { code, text: text.into() }
    }

    /// Creates the error for a malformed request.
    pub(crate) fn invalid(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(ErrorCode::InvalidRequest, text)
    }

    /// Creates the error for a failure inside the simulator.
    pub(crate) fn internal(text: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(ErrorCode::Internal, text)
    }

    /// Creates the error for a request that needs a running world while there is none.
    pub(crate) fn no_world() -> ApiError {
        ApiError::new(ErrorCode::NoWorld, "no world running")
    }

    pub(crate) fn status(&self) -> StatusCode {
        status::of(self.code)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        (status, Json(ErrorBody { error: self.text.into_owned(), code: self.code })).into_response()
    }
}

/// Why a request body was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadBody {
    /// The body did not arrive within this many seconds.
    #[error("the body did not arrive within {0} s")]
    Late(u64),
    /// The connection ended before the end of the body.
    #[error("the body ended before its declared length")]
    Incomplete,
    /// The body is larger than this limit, in bytes.
    #[error("body is larger than {}", size(*.0))]
    TooLarge(usize),
    /// A browser sent the body without the JSON content type. Such a request may come from a page
    /// of another site.
    #[error("a browser must send the body with Content-Type: application/json")]
    NotDeclaredJson,
    /// The body is not JSON, or its fields are wrong.
    #[error("{0}")]
    Invalid(Invalid),
}

fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}
