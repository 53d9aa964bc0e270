//! Error responses of the world builder. Two of them have more fields than other errors.

use crate::error::{ApiError, BadBody};
use axum::Json;
use axum::response::{IntoResponse, Response};
use chicane_host::evaluation::CheckScriptError;
use chicane_host::loader::LoadFailure;
use chicane_store::PublishError;
use chicane_studio::{PrintJobError, PublishProjectError, StudioError, TooManyStreams};
use chicane_wire::{ConflictBody, ErrorCode, Invalid, InvalidProjectBody, PreviewFinding};
use serde_json::Value;

/// An error response.
pub(super) enum Refusal {
    /// An error with the usual fields.
    Plain(ApiError),
    /// Another request has changed the project meanwhile. Holds the current revision and document.
    Conflict(ApiError, u64, Value),
    /// The project has errors.
    Invalid(ApiError, Vec<PreviewFinding>),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Refusal::Plain(error) => error.into_response(),
            Refusal::Conflict(error, revision, document) => {
                let (status, code) = (error.status(), error.code);
                let body = ConflictBody { error: error.text.into_owned(), code, revision, document };
                (status, Json(body)).into_response()
            }
            Refusal::Invalid(error, findings) => {
                let (status, code) = (error.status(), error.code);
                let body = InvalidProjectBody { error: error.text.into_owned(), code, findings };
                (status, Json(body)).into_response()
            }
        }
    }
}

impl From<StudioError> for Refusal {
    fn from(mut error: StudioError) -> Refusal {
        match &mut error {
            StudioError::Conflict { revision, document } => {
                let (revision, document) = (*revision, document.take());
                Refusal::Conflict(error.into(), revision, document)
            }
            StudioError::Invalid(findings) => {
                let findings = findings.clone();
                Refusal::Invalid(error.into(), findings)
            }
            _ => Refusal::Plain(error.into()),
        }
    }
}

impl From<PublishProjectError> for Refusal {
    fn from(error: PublishProjectError) -> Refusal {
        match error {
            PublishProjectError::Studio(error) => error.into(),
            error => Refusal::Plain(error.into()),
        }
    }
}

impl From<TooManyStreams> for Refusal {
    fn from(_: TooManyStreams) -> Refusal {
        let text = "too many event streams of projects are open; close some";
        Refusal::Plain(ApiError::new(ErrorCode::Busy, text))
    }
}

macro_rules! plain {
    ($($error:ty),+) => {
        $(impl From<$error> for Refusal {
            fn from(error: $error) -> Refusal {
                Refusal::Plain(error.into())
            }
        })+
    };
}

plain!(BadBody, CheckScriptError, Invalid, LoadFailure, PrintJobError, PublishError);

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Refusal {
        Refusal::Plain(error)
    }
}
