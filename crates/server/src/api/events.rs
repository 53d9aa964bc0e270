//! The event stream.

use crate::error::ApiError;
use crate::state::App;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use chicane_wire::{ErrorBody, ErrorCode};

/// Streams server-sent events: the newest `state`, and every `run` and `evaluation` event.
///
/// The first event is a `state`. Another `state` follows at once after a change, 30 times per
/// second while something moves, and 10 times per second while only time advances. Every event has
/// an id. With `Last-Event-ID`, the stream first sends the `run` and `evaluation` events after that
/// id which the server still keeps.
#[utoipa::path(get, path = "/events", tag = "Monitoring",
    params(("Last-Event-ID" = Option<String>, Header, description = "Id of the last event that the client received")),
    responses(
    (status = 200, body = String, content_type = "text/event-stream", description = "The stream"),
    (status = 503, body = ErrorBody, description = "Too many subscribers"),
))]
pub(super) async fn events(State(app): State<App>, headers: HeaderMap) -> Result<Response, ApiError> {
    let last = headers.get("last-event-id").and_then(|v| v.to_str().ok()).and_then(|v| v.trim().parse().ok());
    let stream = app
        .feed
        .subscribe(last)
        .map_err(|_| ApiError::new(ErrorCode::Busy, "too many subscribers; close some event streams"))?;
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, [("x-accel-buffering", "no")], Body::from_stream(stream)).into_response())
}
