//! The leaderboard: its tables, and the submissions of students.

use super::evaluation::name;
use crate::body::{PathName, drain, read_upload};
use crate::error::ApiError;
use crate::listen::Peer;
use crate::state::App;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chicane_leaderboard::{HandInError, Leaderboard};
use chicane_store::StoreError;
use chicane_wire::{
    Deleted, ErrorBody, ErrorCode, Leaderboard as Document, MAX_SUBMISSION, Octets, Submission,
    SubmissionList, SubmissionReceived,
};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How many submissions are unpacked at the same time.
static UNPACKING: Semaphore = Semaphore::const_new(2);
/// Accepted content types of zip files and Python programs. Browsers send
/// `application/octet-stream` for a file whose type they do not know.
const CONTENT_TYPES: [&str; 6] = [
    "application/zip",
    "application/x-zip-compressed",
    "application/octet-stream",
    "text/x-python",
    "text/x-python-script",
    "application/x-python-code",
];

/// Returns the tables of the contest, the last changes and the queue.
#[utoipa::path(get, path = "/leaderboard", tag = "Leaderboard", responses(
    (status = 200, body = Document),
    (status = 404, body = ErrorBody, description = "The simulator was started without a leaderboard"),
))]
pub(super) async fn get(State(app): State<App>) -> Result<Json<Document>, ApiError> {
    let leaderboard = leaderboard(&app)?;
    read(move || leaderboard.document()).await.map(Json)
}

/// Hands in a program: a zip file with `main.py` or `run.toml`, or one Python file.
///
/// The submission is stored when the response comes, and is judged in its turn. The student needs
/// the id in the response to follow the submission.
#[utoipa::path(post, path = "/submissions", tag = "Leaderboard",
    params(("student" = String, Query, description = "Name of the student", min_length = 1, max_length = 60)),
    request_body(content = Octets, content_type = "application/octet-stream",
        description = "A zip file or a Python program of at most 16 MiB"),
    responses(
        (status = 202, body = SubmissionReceived),
        (status = 400, body = ErrorBody, description = "The name, the file or its content can't be used"),
        (status = 404, body = ErrorBody, description = "The simulator was started without a leaderboard"),
        (status = 413, body = ErrorBody, description = "The file is larger than 16 MiB"),
        (status = 415, body = ErrorBody, description = "The content type is neither that of a zip file nor of a program"),
        (status = 429, body = ErrorBody, description = "Too many submissions; see the header Retry-After"),
        (status = 503, body = ErrorBody, description = "The queue is full"),
    ))]
pub(super) async fn hand_in(State(app): State<App>, request: Request) -> Response {
    match receive(&app, request).await {
        Ok(received) => (StatusCode::ACCEPTED, Json(received)).into_response(),
        Err((error, None)) => error.into_response(),
        Err((error, Some(seconds))) => ([(header::RETRY_AFTER, seconds.to_string())], error).into_response(),
    }
}

/// An error, and the seconds after which another attempt can succeed.
type Refused = (ApiError, Option<u64>);

async fn receive(app: &App, request: Request) -> Result<SubmissionReceived, Refused> {
    let from = request.extensions().get::<Peer>().and_then(Peer::address);
    let from = from.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let student = name(request.uri(), "student").unwrap_or_default();
    let checked = leaderboard(app).and_then(|leaderboard| {
        check_content_type(request.headers())?;
        Ok(leaderboard)
    });
    let admitted = checked.map_err(|error| (error, None)).and_then(|leaderboard| {
        let admitted = leaderboard.admit(&student, from).map_err(refused)?;
        Ok((leaderboard, admitted))
    });
    let (leaderboard, admitted) = match admitted {
        Ok(admitted) => admitted,
        Err(refused) => {
            drain(request).await;
            return Err(refused);
        }
    };
    let body = read_upload(request, MAX_SUBMISSION).await.map_err(|bad| (bad.into(), None))?;
    let permit = UNPACKING.acquire().await;
    let handed_in = tokio::task::spawn_blocking(move || {
        // The blocking thread owns the permit. Otherwise a cancelled request would free the permit
        // while the thread still works.
        let _permit = permit;
        leaderboard.hand_in(admitted, &body)
    });
    let handed_in = handed_in.await;
    handed_in.map_err(|error| (ApiError::internal(error.to_string()), None))?.map_err(refused)
}

fn refused(error: HandInError) -> Refused {
    let seconds = error.retry_after_s();
    (error.into(), seconds)
}

/// Requires a content type that an HTML form can't send. Otherwise a form on a page of another site
/// could send such a request (CSRF).
fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let declared = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = declared.split(';').next().unwrap_or("").trim();
    if CONTENT_TYPES.iter().any(|known| essence.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let text = "send the file with Content-Type: application/zip, or text/x-python for one Python program";
    Err(ApiError::new(ErrorCode::UnsupportedType, text))
}

/// Returns a submission with its results.
#[utoipa::path(get, path = "/submissions/{id}", tag = "Leaderboard",
    params(("id" = String, Path, description = "Id of the submission")),
    responses(
        (status = 200, body = Submission),
        (status = 404, body = ErrorBody, description = "There is no such submission, or no leaderboard"),
    ))]
pub(super) async fn submission(
    State(app): State<App>,
    PathName(id): PathName,
) -> Result<Json<Submission>, ApiError> {
    let leaderboard = leaderboard(&app)?;
    let found = read(move || leaderboard.submission(&id)).await?;
    found
        .map(Json)
        .ok_or_else(|| ApiError::new(ErrorCode::NoSuchSubmission, "there is no submission with this id"))
}

/// Removes a submission with its upload and its results from the contest.
///
/// If the simulator has tokens, only the teacher's token permits this request. The recorded runs of
/// the submission are kept.
#[utoipa::path(delete, path = "/submissions/{id}", tag = "Leaderboard",
    params(("id" = String, Path, description = "Id of the submission")),
    responses(
        (status = 200, body = Deleted),
        (status = 404, body = ErrorBody, description = "There is no such submission, or no leaderboard"),
        (status = 409, body = ErrorBody, description = "The submission is being judged"),
    ))]
pub(super) async fn remove(
    State(app): State<App>,
    PathName(id): PathName,
) -> Result<Json<Deleted>, ApiError> {
    let leaderboard = leaderboard(&app)?;
    let removed = tokio::task::spawn_blocking(move || leaderboard.remove(&id).map(|()| id)).await;
    let deleted = removed.map_err(|error| ApiError::internal(error.to_string()))??;
    Ok(Json(Deleted { ok: true, deleted }))
}

/// Lists the newest 500 submissions with the names of the students.
///
/// If the simulator has tokens, only the teacher's token permits this request.
#[utoipa::path(get, path = "/submissions", tag = "Leaderboard", responses(
    (status = 200, body = SubmissionList),
    (status = 404, body = ErrorBody, description = "The simulator was started without a leaderboard"),
))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<SubmissionList>, ApiError> {
    let leaderboard = leaderboard(&app)?;
    read(move || leaderboard.submissions()).await.map(Json)
}

fn leaderboard(app: &App) -> Result<Arc<Leaderboard>, ApiError> {
    app.leaderboard.clone().ok_or_else(|| {
        let text = "this simulator has no leaderboard; start it with `chicane serve --leaderboard`";
        ApiError::new(ErrorCode::NoLeaderboard, text)
    })
}

/// Reads the database on a blocking thread.
async fn read<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|e| ApiError::internal(e.to_string()))?;
    done.map_err(|e| ApiError::internal(format!("the leaderboard can't be read: {e}")))
}
