//! Evaluation of the running world.

use super::ready_json::ReadyJson;
use super::world::served;
use crate::access::refusal;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::state::App;
use crate::student::FromStudent;
use axum::Json;
use axum::extract::{Extension, Query, State};
use axum::http::Uri;
use chicane_host::evaluation::{StartEvaluationError, records};
use chicane_session::StopCause;
use chicane_store::StoreError;
use chicane_wire::{
    CurrentSession, ErrorBody, ErrorCode, EvaluationDocument, NoFields, ProgramState, Record, RecordList,
    Role, RunRequest, RunRequestBody, StartRequest, StartRequestBody, Started, Stopped,
};
use std::sync::Arc;

/// Describes how a run of this world is judged.
#[utoipa::path(get, path = "/evaluation", tag = "Evaluation", responses(
    (status = 200, body = EvaluationDocument),
    (status = 404, body = ErrorBody, description = "The world has no evaluation"),
))]
pub(super) async fn document(State(app): State<App>) -> Result<ReadyJson, ApiError> {
    served(&app)?
        .evaluation_json
        .clone()
        .map(ReadyJson)
        .ok_or_else(|| StartEvaluationError::NoEvaluation.into())
}

/// Starts an evaluation session.
#[utoipa::path(post, path = "/evaluation/start", tag = "Evaluation", request_body = StartRequestBody, responses(
    (status = 200, body = Started),
    (status = 400, body = ErrorBody),
    (status = 404, body = ErrorBody, description = "The world has no evaluation"),
    (status = 409, body = ErrorBody, description = "No world is ready, or a session is in progress"),
    (status = 503, body = ErrorBody, description = "The judge is not available"),
))]
pub(super) async fn start(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    JsonBody(request): JsonBody<StartRequest>,
) -> Result<Json<Started>, ApiError> {
    let session = app.evaluations.start(request, Arc::default(), role).await?;
    Ok(Json(Started { ok: true, session }))
}

/// Starts a program without a judge.
///
/// The session ends with the program, and its record is null. This path is for older clients. Newer
/// clients use `POST /evaluation/start`.
#[utoipa::path(post, path = "/evaluation/run", tag = "Evaluation", operation_id = "run_program",
    request_body = RunRequestBody, responses(
    (status = 200, body = Started),
    (status = 400, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "No world is ready, or a session is in progress"),
    (status = 503, body = ErrorBody, description = "Programs can't be started on this machine"),
))]
#[deprecated]
pub(super) async fn run(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    JsonBody(RunRequest(request)): JsonBody<RunRequest>,
) -> Result<Json<Started>, ApiError> {
    let session = app.evaluations.run_program(request, role).await?;
    Ok(Json(Started { ok: true, session }))
}

/// The state of the last program. If the role may not see the session of that program, the response
/// is the same as without a program.
pub(super) async fn program(app: &App, role: Role) -> Result<Json<ProgramState>, ApiError> {
    let current = app.evaluations.session().await;
    let session = shown_to(app, only_by(role), current).await?.session;
    Ok(Json(ProgramState {
        running: session.as_ref().is_some_and(|session| session.run.running),
        exit_code: session.as_ref().and_then(|session| session.run.exit_code),
        command: session.as_ref().and_then(|session| session.command.clone()),
        session: session.map(|session| session.id),
    }))
}

/// Ends the session, if there is one.
///
/// The response comes after the student's program and the judge have ended. With the students'
/// token, only a session that was started with that token can be ended.
#[utoipa::path(post, path = "/evaluation/stop", tag = "Evaluation", request_body = NoFields, responses(
    (status = 200, body = Stopped),
    (status = 400, body = ErrorBody),
))]
pub(super) async fn stop(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    JsonBody(NoFields {}): JsonBody<NoFields>,
) -> Result<Json<Stopped>, ApiError> {
    let stopped = match only_by(role) {
        None => app.evaluations.stop(StopCause::Asked).await,
        Some(role) => {
            let current = app.evaluations.session().await;
            let own = shown_to(&app, Some(role), current.clone()).await?.session;
            if current.active && own.is_none() {
                return Err(refusal(Role::Teacher));
            }
            app.evaluations.stop_if(StopCause::Asked, |id| own.is_some_and(|own| own.id == id)).await
        }
    };
    Ok(Json(Stopped { ok: true, stopped }))
}

/// Returns the session in progress, or the last one.
///
/// With the students' token, `session` is null if the session was not started with that token.
#[utoipa::path(get, path = "/evaluation/session", tag = "Evaluation", responses((status = 200, body = CurrentSession)))]
pub(super) async fn session(
    State(app): State<App>,
    Extension(role): Extension<Role>,
) -> Result<Json<CurrentSession>, ApiError> {
    let current = app.evaluations.session().await;
    shown_to(&app, only_by(role), current).await.map(Json)
}

/// The role whose sessions a client may see. `None`: the client may see all sessions. Students see
/// the sessions of students only. All students share a token, so they see each other's sessions.
pub(super) fn only_by(role: Role) -> Option<Role> {
    (role == Role::Student).then_some(role)
}

/// Hides the session if it was not started with the role `by`. `None` hides nothing.
async fn shown_to(
    app: &App,
    by: Option<Role>,
    mut current: CurrentSession,
) -> Result<CurrentSession, ApiError> {
    if let (Some(_), Some(id)) = (by, current.session.as_ref().map(|session| session.id.clone())) {
        let data = Arc::clone(&app.data);
        let own = read(move || data.records().session(Some(&id), by)).await?;
        current.session = current.session.filter(|_| own.is_some());
    }
    Ok(current)
}

/// Returns the record of the last session, or of a given one, with its events.
///
/// With the students' token, a client gets only records of sessions that were started with that
/// token. A judged program gets the record of its own session only.
#[utoipa::path(get, path = "/evaluation/record", tag = "Evaluation",
    params(("session" = Option<String>, Query, description = "Id of a session")),
    responses(
        (status = 200, body = Record),
        (status = 404, body = ErrorBody, description = "There is no such record"),
    ))]
pub(super) async fn record(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    student: Option<Extension<FromStudent>>,
    uri: Uri,
) -> Result<Json<Record>, ApiError> {
    let asked = name(&uri, "session");
    let own = own_session(&app, student).await;
    let evaluations = Arc::clone(&app.evaluations);
    let id = asked.or_else(|| own.clone());
    let record = read(move || evaluations.record(id.as_deref(), only_by(role))).await?;
    let record = record.filter(|record| own.is_none_or(|own| record.session == own));
    record.map(Json).ok_or_else(|| ApiError::new(ErrorCode::NoRecord, "no record"))
}

/// The id of the session of the judged program that sent a request. `None` if another client sent
/// the request.
async fn own_session(app: &App, student: Option<Extension<FromStudent>>) -> Option<String> {
    let Extension(FromStudent) = student?;
    let current = app.evaluations.session().await;
    // Without a session, returns an id that no record has, so that the program gets no record.
    Some(current.session.map_or_else(String::new, |session| session.id))
}

/// Lists the records of all sessions, the newest first, without their events.
///
/// With the students' token, only sessions that were started with that token are listed. A judged
/// program gets the record of its own session only, because the program must not learn how others
/// have driven.
#[utoipa::path(get, path = "/evaluation/records", tag = "Evaluation",
    params(
        ("world" = Option<String>, Query, description = "Name of a world"),
        ("limit" = Option<u16>, Query, description = "Records per page; 50 if omitted", minimum = 1, maximum = 500),
        ("cursor" = Option<String>, Query, description = "`next` of the previous page", pattern = "^[0-9]{1,18}$"),
    ),
    responses(
        (status = 200, body = RecordList),
        (status = 400, body = ErrorBody),
    ))]
pub(super) async fn list(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    student: Option<Extension<FromStudent>>,
    uri: Uri,
) -> Result<Json<RecordList>, ApiError> {
    let world = name(&uri, "world");
    let limit = match parameter(&uri, "limit").map(|text| text.parse::<usize>()) {
        None => records::RECORDS_PER_PAGE,
        Some(Ok(limit)) if (1..=500).contains(&limit) => limit,
        Some(_) => return Err(ApiError::invalid("limit must be a whole number from 1 to 500")),
    };
    let below = match parameter(&uri, "cursor").map(|text| text.parse::<i64>()) {
        None => None,
        Some(Ok(below)) if below >= 0 => Some(below),
        Some(_) => return Err(ApiError::invalid("cursor must be the `next` value of the previous page")),
    };
    let evaluations = Arc::clone(&app.evaluations);
    let own = own_session(&app, student).await;
    let mut list = read(move || evaluations.records(world.as_deref(), only_by(role), below, limit)).await?;
    if let Some(own) = own {
        // The session in progress is the newest one, so it is on the first page.
        list.records.retain(|record| record.session == own);
        list.next = None;
    }
    Ok(Json(list))
}

/// The last value of the query parameter `name`. `None` if the parameter is omitted, or if the
/// query string can't be decoded.
fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    pairs.into_iter().rev().find(|(n, _)| n == name).map(|(_, value)| value)
}

/// Same as `parameter`, but an empty value counts as omitted.
pub(super) fn name(uri: &Uri, parameter_name: &str) -> Option<String> {
    parameter(uri, parameter_name).filter(|value| !value.is_empty())
}

/// Reads the database on a blocking thread.
async fn read<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|e| ApiError::internal(e.to_string()))?;
    done.map_err(|e| ApiError::internal(format!("the records can't be read: {e}")))
}
