//! Files of the workspace, for the page's editor. This API never changes a program. Instead, a
//! client sends the files of a changed program in the request that starts its session.

use super::evaluation::name;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use chicane_host::workspace_files::{self, PathError};
use chicane_host::workspace_list;
use chicane_wire::{ErrorBody, ErrorCode, MAX_PROGRAM_BYTES, Workspace, WorkspaceFile};

/// Lists the files of the workspace. Hidden files, links, files more than three folders deep, and
/// folders that tools fill (such as `node_modules`) are omitted.
#[utoipa::path(get, path = "/workspace", tag = "Evaluation", operation_id = "workspace", responses(
    (status = 200, body = Workspace),
))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<Workspace>, ApiError> {
    let folder = app.workspace.clone();
    let listed = tokio::task::spawn_blocking(move || workspace_list::list(&folder)).await;
    let listed = listed.map_err(|e| ApiError::internal(e.to_string()))?;
    let (files, more) =
        listed.map_err(|e| ApiError::internal(format!("the workspace can't be read: {e}")))?;
    let file = |file: workspace_list::ListedFile| WorkspaceFile { path: file.path, bytes: file.bytes };
    Ok(Json(Workspace { files: files.into_iter().map(file).collect(), more }))
}

/// Returns the text of a file of the workspace, at most 512 KiB.
#[utoipa::path(get, path = "/workspace/file", tag = "Evaluation", operation_id = "workspace_file",
    params(("path" = String, Query, description = "Path relative to the workspace", example = "main.py")),
    responses(
        (status = 200, body = String, content_type = "text/plain; charset=utf-8"),
        (status = 400, body = ErrorBody, description = "The path is invalid, or the file is not a text"),
        (status = 404, body = ErrorBody, description = "There is no such file"),
    ))]
pub(super) async fn file(State(app): State<App>, uri: Uri) -> Result<Response, ApiError> {
    let path =
        name(&uri, "path").ok_or_else(|| ApiError::invalid("path must name a file, such as main.py"))?;
    let folder = app.workspace.clone();
    let read = tokio::task::spawn_blocking(move || workspace_files::read(&folder, &path)).await;
    let bytes = read.map_err(|e| ApiError::internal(e.to_string()))?.map_err(|error| match error {
        PathError::NoSuchFile(_) | PathError::Missing(_) => {
            ApiError::new(ErrorCode::NotFound, error.to_string())
        }
        _ => ApiError::invalid(error.to_string()),
    })?;
    if bytes.len() > MAX_PROGRAM_BYTES {
        return Err(ApiError::invalid("the file is larger than 512 KiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| ApiError::invalid("the file is not a text in UTF-8"))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
