//! Recordings of the simulator.

use crate::body::JsonBody;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_wire::{ErrorBody, NoFields, Recording, RecordingChanged, RecordingRequest};

/// Returns the recording in progress, or the last one.
///
/// If the simulator has tokens, only the teacher's token permits this request.
#[utoipa::path(get, path = "/recording", tag = "Recording", responses((status = 200, body = Recording)))]
pub(super) async fn get(State(app): State<App>) -> Json<Recording> {
    Json(app.recorder.status())
}

/// Starts a recording as an MCAP file on the machine of the simulator.
#[utoipa::path(post, path = "/recording/start", tag = "Recording", request_body = RecordingRequest, responses(
    (status = 200, body = RecordingChanged),
    (status = 400, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "No world is ready, or a recording is in progress"),
))]
pub(super) async fn start(
    State(app): State<App>,
    JsonBody(request): JsonBody<RecordingRequest>,
) -> Result<Json<RecordingChanged>, ApiError> {
    let recording = app.recorder.start(request).await?;
    Ok(Json(RecordingChanged { ok: true, recording }))
}

/// Ends the recording, if there is one. The last file of the recording is complete when the
/// response comes, unless the disk is very slow.
#[utoipa::path(post, path = "/recording/stop", tag = "Recording", request_body = NoFields, responses(
    (status = 200, body = RecordingChanged),
    (status = 400, body = ErrorBody),
))]
pub(super) async fn stop(
    State(app): State<App>,
    JsonBody(NoFields {}): JsonBody<NoFields>,
) -> Json<RecordingChanged> {
    Json(RecordingChanged { ok: true, recording: app.recorder.stop().await })
}
