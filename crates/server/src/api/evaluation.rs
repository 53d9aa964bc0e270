//! Evaluation of the world that runs.

use super::Written;
use super::world::place;
use crate::app::App;
use crate::body::Body;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use chicane_wire::{
    CurrentSession, ErrorBody, EvaluationDocument, NoFields, StartRequest, StartRequestBody, Stopped,
};

/// How a run of this world is judged.
#[utoipa::path(get, path = "/evaluation", tag = "Evaluation", responses(
    (status = 200, body = EvaluationDocument),
    (status = 404, body = ErrorBody, description = "The world has no evaluation"),
))]
pub(super) async fn document(State(app): State<App>) -> Result<Written, ApiError> {
    place(&app)?.evaluation_json.clone().map(Written).ok_or_else(no_evaluation)
}

/// Starts an evaluation session.
#[utoipa::path(post, path = "/evaluation/start", tag = "Evaluation", request_body = StartRequestBody, responses(
    (status = 400, body = ErrorBody),
    (status = 404, body = ErrorBody, description = "The world has no evaluation"),
    (status = 409, body = ErrorBody, description = "No world is ready, or a session is under way"),
    (status = 503, body = ErrorBody, description = "There is no judge"),
))]
pub(super) async fn start(
    State(app): State<App>,
    Body(_): Body<StartRequest>,
) -> Result<Json<CurrentSession>, ApiError> {
    let now = app.simulator.now();
    let ready = now.running.as_ref().filter(|_| now.transition.is_none());
    let seen = ready.ok_or_else(|| ApiError::conflict("world not ready"))?;
    if seen.place.world.evaluation.is_none() {
        return Err(no_evaluation());
    }
    Err(ApiError::unavailable("judge not available: this version of the simulator brings none"))
}

/// Ends the session, if there is one.
#[utoipa::path(post, path = "/evaluation/stop", tag = "Evaluation", request_body = NoFields, responses(
    (status = 200, body = Stopped),
    (status = 400, body = ErrorBody),
))]
pub(super) async fn stop(Body(NoFields {}): Body<NoFields>) -> Json<Stopped> {
    Json(Stopped { ok: true, stopped: false })
}

/// The session that is under way, or the last one.
#[utoipa::path(get, path = "/evaluation/session", tag = "Evaluation", responses((status = 200, body = CurrentSession)))]
pub(super) async fn session() -> Json<CurrentSession> {
    Json(CurrentSession { active: false, session: None })
}

/// Record of the last session, or of a given one.
#[utoipa::path(get, path = "/evaluation/record", tag = "Evaluation",
    params(("session" = Option<String>, Query, description = "Id of a session")),
    responses((status = 404, body = ErrorBody, description = "There is none")))]
pub(super) async fn record() -> ApiError {
    ApiError::not_found("no record")
}

fn no_evaluation() -> ApiError {
    ApiError::not_found("world has no evaluation")
}
