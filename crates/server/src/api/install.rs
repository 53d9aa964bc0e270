//! Installs published worlds and deletes installed ones.

use crate::body::{JsonBody, PathName};
use crate::error::{ApiError, remove_failed};
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_wire::{Deleted, ErrorBody, InstallAnswer, InstallRequest, InstallRequestBody};
use std::sync::Arc;

/// Installs a published world from the CDN.
///
/// The response comes when the world is installed. The running world continues meanwhile.
/// `transition` in the state shows the progress.
#[utoipa::path(post, path = "/worlds/install", tag = "World management", request_body = InstallRequestBody, responses(
    (status = 200, body = InstallAnswer),
    (status = 400, body = ErrorBody),
    (status = 404, body = ErrorBody, description = "The world is not published, or it is private"),
    (status = 413, body = ErrorBody, description = "The world is too large"),
    (status = 422, body = ErrorBody, description = "The world breaks a rule, or its files do not match its id"),
    (status = 502, body = ErrorBody, description = "The CDN failed"),
))]
pub(super) async fn install(
    State(app): State<App>,
    JsonBody(request): JsonBody<InstallRequest>,
) -> Result<Json<InstallAnswer>, ApiError> {
    let installed = app.installer.install(&request.world_id).await?;
    let record = installed.record;
    if record.evaluation && !installed.cached {
        // The car can be driven in the world even if the judging script is broken. Therefore the
        // script is checked in the background, and the response does not wait for the check.
        let (finder, name) = (Arc::clone(app.evaluations.finder()), record.world_name());
        let library = Arc::clone(&app.loader.library);
        tokio::task::spawn_blocking(move || {
            let file = library.file(&name, &format!("evaluations/{name}.py"));
            drop(library);
            if let Some(script) = file.and_then(|bytes| String::from_utf8(bytes).ok()) {
                finder.check_script(&name, &script);
            }
        });
    }
    Ok(Json(InstallAnswer {
        ok: true,
        world: format!("{}.world", record.world_name()),
        name: record.name,
        rev: record.rev,
        cached: installed.cached,
        verified: record.verified,
    }))
}

/// Deletes an installed world.
#[utoipa::path(delete, path = "/worlds/{name}", tag = "World management",
    params(("name" = String, Path, description = "Name of a world", pattern = r"^[A-Za-z0-9_-]+$")), responses(
    (status = 200, body = Deleted),
    (status = 403, body = ErrorBody, description = "The world is protected and can't be deleted"),
    (status = 404, body = ErrorBody, description = "No such world"),
    (status = 409, body = ErrorBody, description = "The world is running"),
))]
pub(super) async fn delete(
    State(app): State<App>,
    PathName(name): PathName,
) -> Result<Json<Deleted>, ApiError> {
    app.loader.find(&name).await;
    app.loader.remove(&name).await.map_err(|failure| remove_failed(failure, &name))?;
    app.waypoints.lock().await.retain(|(world, _), _| *world != name);
    app.thumbnails.lock().await.retain(|(world, _), _| *world != name);
    tracing::info!(world = name, "world deleted");
    Ok(Json(Deleted { ok: true, deleted: name }))
}
