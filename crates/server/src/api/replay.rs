//! Runs that are over: their tracks, the pictures of their camera, and their files.

use super::evaluation::{name, only_by, program};
use crate::access::refusal;
use crate::error::ApiError;
use crate::state::App;
use axum::extract::{Extension, State};
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use chicane_wire::{ErrorBody, Octets, ProgramState, Role};

/// Returns the drive of a run as columns of numbers.
///
/// The file begins with `CHTRACK1`, the length of the header (32 bits) and the header (JSON), which
/// describes the columns. The first request simulates the run again, which takes about a hundredth
/// of the run's duration.
#[utoipa::path(get, path = "/evaluation/replay", tag = "Evaluation",
    params(("session" = Option<String>, Query, description = "Id of a session; the last one if omitted")),
    responses(
        (status = 200, body = Octets, content_type = "application/octet-stream"),
        (status = 404, body = ErrorBody, description = "There is no such record"),
        (status = 409, body = ErrorBody, description = "The run has no journal, or this version simulates it in another way"),
    ))]
pub(super) async fn tracks(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let tracks = app.replays.tracks(name(&uri, "session"), only_by(role)).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], tracks).into_response())
}

/// Returns the picture of the on-board camera at a moment of a run.
///
/// The picture has the same bytes as the picture of the camera during the run.
#[utoipa::path(get, path = "/evaluation/replay/camera", tag = "Evaluation",
    params(
        ("session" = Option<String>, Query, description = "Id of a session; the last one if omitted"),
        ("time" = f64, Query, description = "Simulated seconds since the start of the run", minimum = 0),
    ),
    responses(
        (status = 200, body = Octets, content_type = "image/jpeg"),
        (status = 404, body = ErrorBody, description = "There is no such record"),
        (status = 409, body = ErrorBody, description = "The run has no journal, or this version simulates it in another way"),
    ))]
pub(super) async fn picture(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let time = name(&uri, "time").and_then(|text| text.parse::<f64>().ok());
    let time = time.filter(|time| time.is_finite() && *time >= 0.0);
    let time = time.ok_or_else(|| ApiError::invalid("time must be a number of seconds, at least 0"))?;
    let jpeg = app.replays.picture(name(&uri, "session"), only_by(role), time).await?;
    Ok(([(header::CONTENT_TYPE, "image/jpeg")], jpeg).into_response())
}

/// Returns a run as one file, for `chicane verify` and `chicane replay`. Without `session`, returns
/// the state of the last program, for older clients.
///
/// The file has every command of the judged program, so students can't download it.
#[utoipa::path(get, path = "/evaluation/run", tag = "Evaluation",
    params(("session" = Option<String>, Query,
        description = "Id of a session, or `last` for the last one. Without it, the response is the state of the \
            last program (deprecated: use `run` of `GET /evaluation/session`)")),
    responses(
        (status = 200, content((Octets = "application/octet-stream"), (ProgramState = "application/json"))),
        (status = 404, body = ErrorBody, description = "There is no such record"),
        (status = 409, body = ErrorBody, description = "The run has no journal"),
    ))]
pub(super) async fn file(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let Some(session) = name(&uri, "session") else {
        return Ok(program(&app, role).await?.into_response());
    };
    if role < Role::Teacher {
        return Err(refusal(Role::Teacher));
    }
    let (session, bytes) = app.replays.file(Some(session).filter(|id| id != "last"), None).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{session}.chicane\"")),
    ];
    Ok((headers, bytes).into_response())
}
