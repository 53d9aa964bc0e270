//! Projects: list, create, read, save, delete, restore; their previews and event streams.

use super::refusal::Refusal;
use super::{PathParts, long, short};
use crate::body::{read_json, read_large_json};
use crate::state::App;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chicane_wire::{
    ConflictBody, CreateProject, CreateProjectBody, DeletedProject, ErrorBody, NoFields, Octets,
    PreviewAnswer, PreviewRequest, PreviewRequestBody, ProjectList, ProjectSaved, ProjectView, SaveProject,
    SaveProjectBody,
};

/// Largest body with a document, in bytes: 4 MiB for the document, and 64 KiB for the other fields.
const MAX_DOCUMENT_BODY: usize = (4 << 20) + (64 << 10);

/// Lists all projects, and the projects that were deleted last.
#[utoipa::path(get, path = "/builder/projects", tag = "World builder", operation_id = "builder_list",
    responses((status = 200, body = ProjectList)))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<ProjectList>, Refusal> {
    short(&app, |studio| studio.list()).await.map(Json)
}

/// Makes a project: empty, from a shipped world, random, from a document, or as a copy.
#[utoipa::path(post, path = "/builder/projects", tag = "World builder", operation_id = "builder_create",
    request_body = CreateProjectBody, responses(
    (status = 201, body = ProjectView),
    (status = 404, body = ErrorBody, description = "No such shipped world or project"),
    (status = 409, body = ErrorBody, description = "There are too many projects"),
    (status = 413, body = ErrorBody, description = "The body is larger than 4 MiB"),
    (status = 422, body = ErrorBody, description = "The document is not a project; the text names the field"),
))]
pub(super) async fn create(State(app): State<App>, request: Request) -> Result<Response, Refusal> {
    let request: CreateProject = read_large_json(request, MAX_DOCUMENT_BODY).await?;
    let view = long(&app, move |studio| studio.create(&request)).await?;
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// Returns a project with its document and the list of its files.
#[utoipa::path(get, path = "/builder/projects/{id}", tag = "World builder", operation_id = "builder_read",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, body = ProjectView),
    (status = 404, body = ErrorBody, description = "No such project"),
))]
pub(super) async fn read(State(app): State<App>, path: PathParts) -> Result<Json<ProjectView>, Refusal> {
    let id = path.project()?;
    short(&app, move |studio| studio.read(&id)).await.map(Json)
}

/// Replaces the document of a project.
///
/// The request names the revision that the change is based on. If the project has a newer revision,
/// nothing is stored, and the response has the current revision and document.
#[utoipa::path(put, path = "/builder/projects/{id}", tag = "World builder", operation_id = "builder_save",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")),
    request_body = SaveProjectBody, responses(
    (status = 200, body = ProjectSaved),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 409, body = ConflictBody, description = "The project has another revision"),
    (status = 413, body = ErrorBody, description = "The body is larger than 4 MiB"),
    (status = 422, body = ErrorBody, description = "The document is not a project; the text names the field"),
))]
pub(super) async fn save(
    State(app): State<App>,
    path: PathParts,
    request: Request,
) -> Result<Json<ProjectSaved>, Refusal> {
    let request: SaveProject = read_large_json(request, MAX_DOCUMENT_BODY).await?;
    let id = path.project()?;
    short(&app, move |studio| studio.save(&id, &request)).await.map(Json)
}

/// Deletes a project. The project can be restored until 20 other projects are deleted after it.
#[utoipa::path(delete, path = "/builder/projects/{id}", tag = "World builder", operation_id = "builder_delete",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, body = DeletedProject),
    (status = 404, body = ErrorBody, description = "No such project"),
))]
pub(super) async fn delete(State(app): State<App>, path: PathParts) -> Result<Json<DeletedProject>, Refusal> {
    let id = path.project()?;
    let deleted = id.to_string();
    short(&app, move |studio| studio.delete(&id)).await?;
    Ok(Json(DeletedProject { deleted }))
}

/// Restores a deleted project.
#[utoipa::path(post, path = "/builder/projects/{id}/restore", tag = "World builder", operation_id = "builder_restore",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")),
    request_body = NoFields, responses(
    (status = 200, body = ProjectView),
    (status = 404, body = ErrorBody, description = "No such deleted project"),
    (status = 409, body = ErrorBody, description = "There are too many projects"),
))]
pub(super) async fn restore(
    State(app): State<App>,
    path: PathParts,
    request: Request,
) -> Result<Json<ProjectView>, Refusal> {
    let NoFields {} = read_json(request).await?;
    let id = path.project()?;
    short(&app, move |studio| studio.restore(&id)).await.map(Json)
}

/// Streams server-sent events of a project: `revision` after each change, and `editors` when an
/// editor opens or closes its stream.
///
/// The first event is the current revision. If the project is deleted, the stream sends `deleted` and
/// ends.
#[utoipa::path(get, path = "/builder/projects/{id}/events", tag = "World builder", operation_id = "builder_events",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, body = String, content_type = "text/event-stream", description = "The stream"),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 503, body = ErrorBody, description = "Too many streams"),
))]
pub(super) async fn events(State(app): State<App>, path: PathParts) -> Result<Response, Refusal> {
    let id = path.project()?;
    let stream = short(&app, move |studio| {
        studio.watchers().subscribe(id.as_str(), || studio.revision(&id).map_err(Refusal::from))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, [("x-accel-buffering", "no")], Body::from_stream(stream.await?)).into_response())
}

/// Computes what an editor draws for a document: the road, the objects, and the errors and warnings.
/// Nothing is stored.
#[utoipa::path(post, path = "/builder/preview", tag = "World builder", operation_id = "builder_preview",
    request_body = PreviewRequestBody, responses(
    (status = 200, body = PreviewAnswer),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 413, body = ErrorBody, description = "The body is larger than 4 MiB"),
    (status = 422, body = ErrorBody, description = "The document is not a project; the text names the field"),
))]
pub(super) async fn preview(
    State(app): State<App>,
    request: Request,
) -> Result<Json<PreviewAnswer>, Refusal> {
    let request: PreviewRequest = read_large_json(request, MAX_DOCUMENT_BODY).await?;
    short(&app, move |studio| studio.preview(&request)).await.map(Json)
}

/// Returns a small picture of a project from above, 320 × 240 pixels.
#[utoipa::path(get, path = "/builder/projects/{id}/thumbnail", tag = "World builder", operation_id = "builder_thumbnail",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, body = Octets, content_type = "image/jpeg"),
    (status = 304, description = "The client has this picture already"),
    (status = 404, body = ErrorBody, description = "No such project"),
))]
pub(super) async fn thumbnail(
    State(app): State<App>,
    path: PathParts,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let id = path.project()?;
    let name = id.to_string();
    let (revision, jpeg) = short(&app, move |studio| studio.thumbnail(&id)).await?;
    let tag = format!("\"{name}-{revision}\"");
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let headers = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "private, no-cache".to_owned()),
        (header::CONTENT_TYPE, "image/jpeg".to_owned()),
    ];
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    Ok((headers, jpeg).into_response())
}

/// Returns the waypoints of a project as a NumPy array.
///
/// Each row contains x and y of the centre line, of the inner border and of the outer border.
#[utoipa::path(get, path = "/builder/projects/{id}/waypoints.npy", tag = "World builder", operation_id = "builder_waypoints",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, body = Octets, content_type = "application/octet-stream"),
    (status = 404, body = ErrorBody, description = "No such project"),
))]
pub(super) async fn waypoints(State(app): State<App>, path: PathParts) -> Result<Response, Refusal> {
    let id = path.project()?;
    let (name, npy) = short(&app, move |studio| studio.waypoints(&id)).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.npy\"")),
    ];
    Ok((headers, npy).into_response())
}
