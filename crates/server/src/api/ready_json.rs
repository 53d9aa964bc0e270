//! Responses from JSON text that was serialised earlier.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// A JSON text that was serialised earlier and is shared by all its readers.
pub(super) struct ReadyJson(pub(super) Bytes);

impl IntoResponse for ReadyJson {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}
