//! The files of projects, and the export and import of whole projects.

use super::refusal::Refusal;
use super::{PathParts, long, short};
use crate::api::evaluation::name;
use crate::body::read_upload;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chicane_studio::{MAX_IMPORT, MAX_PICTURE_BYTES};
use chicane_wire::{ChangedFile, DeletedFile, ErrorBody, ErrorCode, MAX_EDITOR, Octets, ProjectView};

/// The content security policy of a picture or a script. With this policy, a file that a browser
/// opens as a page can't run scripts or load anything.
const FILE_POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";
/// Content types that an import accepts.
const IMPORT_TYPES: [&str; 4] =
    ["application/json", "application/zip", "application/x-zip-compressed", "application/octet-stream"];

/// Returns a file of a project.
#[utoipa::path(get, path = "/builder/projects/{id}/files/{*name}", tag = "World builder", operation_id = "builder_file",
    params(
        ("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$"),
        ("name" = String, Path, description = "Name of the file, which may have folders"),
    ), responses(
    (status = 200, content((Octets = "image/png"), (Octets = "image/jpeg"), (String = "text/plain"))),
    (status = 404, body = ErrorBody, description = "No such project or file"),
))]
pub(super) async fn get(State(app): State<App>, path: PathParts) -> Result<Response, Refusal> {
    let (id, name) = (path.project()?, path.second().to_owned());
    let content_type = content_type(&name);
    let bytes = short(&app, move |studio| studio.file(&id, &name)).await?;
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, FILE_POLICY),
        (header::CACHE_CONTROL, "private, no-cache"),
    ];
    Ok((headers, bytes).into_response())
}

/// The content type of a file. It depends on the name only, because the content was checked when
/// the file was stored.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        _ => "text/plain; charset=utf-8",
    }
}

/// Adds a picture or a judging script to a project, or replaces the file with the same name.
///
/// A picture is decoded and encoded again, so that nothing but its pixels is stored.
#[utoipa::path(put, path = "/builder/projects/{id}/files/{*name}", tag = "World builder", operation_id = "builder_put_file",
    params(
        ("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$"),
        ("name" = String, Path, description = "Name of the file: .png, .jpg, .jpeg or .py"),
        ("editor" = Option<String>, Query, description = "Name of the editor, for the events of the project", max_length = 64),
    ),
    request_body(content = Octets, content_type = "application/octet-stream",
        description = "A PNG or JPEG picture of at most 8 MiB, or a Python script of at most 256 KiB"),
    responses(
    (status = 200, body = ChangedFile),
    (status = 400, body = ErrorBody, description = "The name can't be that of a file"),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 409, body = ErrorBody, description = "The project has 64 files"),
    (status = 413, body = ErrorBody, description = "The file, the picture or the project would be too large"),
    (status = 415, body = ErrorBody, description = "The content has another format than the name says"),
    (status = 422, body = ErrorBody, description = "The picture is damaged, or the script is not text"),
))]
pub(super) async fn put(
    State(app): State<App>,
    path: PathParts,
    uri: Uri,
    request: Request,
) -> Result<Json<ChangedFile>, Refusal> {
    let bytes = read_upload(request, MAX_PICTURE_BYTES).await?;
    let (id, name, editor) = (path.project()?, path.second().to_owned(), editor(&uri)?);
    long(&app, move |studio| studio.put_file(&id, &name, &bytes, editor.as_deref())).await.map(Json)
}

/// Deletes a file of a project.
#[utoipa::path(delete, path = "/builder/projects/{id}/files/{*name}", tag = "World builder", operation_id = "builder_delete_file",
    params(
        ("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$"),
        ("name" = String, Path, description = "Name of the file, which may have folders"),
        ("editor" = Option<String>, Query, description = "Name of the editor, for the events of the project", max_length = 64),
    ), responses(
    (status = 200, body = DeletedFile),
    (status = 404, body = ErrorBody, description = "No such project or file"),
))]
pub(super) async fn delete(
    State(app): State<App>,
    path: PathParts,
    uri: Uri,
) -> Result<Json<DeletedFile>, Refusal> {
    let (id, name, editor) = (path.project()?, path.second().to_owned(), editor(&uri)?);
    short(&app, move |studio| studio.delete_file(&id, &name, editor.as_deref())).await.map(Json)
}

fn editor(uri: &Uri) -> Result<Option<String>, ApiError> {
    let editor = name(uri, "editor");
    if editor.as_ref().is_some_and(|editor| editor.chars().count() > MAX_EDITOR) {
        return Err(ApiError::invalid(format!("editor must be a text of at most {MAX_EDITOR} characters")));
    }
    Ok(editor)
}

/// Returns a project as a file: a project document, or a zip file with the document and its files.
///
/// `chicane build` takes the document, and also the document of an unpacked zip file.
#[utoipa::path(get, path = "/builder/projects/{id}/export", tag = "World builder", operation_id = "builder_export",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, content((serde_json::Value = "application/json"), (Octets = "application/zip"))),
    (status = 404, body = ErrorBody, description = "No such project"),
))]
pub(super) async fn export(State(app): State<App>, path: PathParts) -> Result<Response, Refusal> {
    let id = path.project()?;
    let file = long(&app, move |studio| studio.export(&id)).await?;
    let content_type = if file.is_zip { "application/zip" } else { "application/json" };
    let headers = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", file.name)),
    ];
    Ok((headers, file.bytes).into_response())
}

/// Makes a project from an exported file.
#[utoipa::path(post, path = "/builder/projects/import", tag = "World builder", operation_id = "builder_import",
    request_body(content = Octets, content_type = "application/octet-stream",
        description = "A project document, or a zip file with the document and its files, of at most 40 MiB"),
    responses(
    (status = 201, body = ProjectView),
    (status = 409, body = ErrorBody, description = "There are too many projects"),
    (status = 413, body = ErrorBody, description = "The file or its content is too large"),
    (status = 415, body = ErrorBody, description = "The content type is neither that of JSON nor of a zip file"),
    (status = 422, body = ErrorBody, description = "The file is not a project; the text names the reason"),
))]
pub(super) async fn import(State(app): State<App>, request: Request) -> Result<Response, Refusal> {
    let declared = check_import_type(request.headers());
    let bytes = read_upload(request, MAX_IMPORT).await?;
    declared?;
    let view = long(&app, move |studio| studio.import(&bytes)).await?;
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// Requires a content type that an HTML form can't send. Otherwise a form on a page of another site
/// could send such a request (CSRF).
fn check_import_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let declared = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = declared.split(';').next().unwrap_or("").trim();
    if IMPORT_TYPES.iter().any(|known| essence.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let text = "send the file with Content-Type: application/zip, or application/json for a document";
    Err(ApiError::new(ErrorCode::UnsupportedType, text))
}
