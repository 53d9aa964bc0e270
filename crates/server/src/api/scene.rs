//! The glTF files of the world and of the car, for viewers.

use super::packed::{CACHE_FOREVER, PackedFile};
use super::world::served;
use crate::body::PathName;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use chicane_host::scene::SceneFile;
use chicane_wire::{ErrorBody, ErrorCode, Scene};
use std::sync::Arc;

/// Returns the addresses of the glTF files of the running world and of the car.
#[utoipa::path(get, path = "/scene", tag = "World and objects", responses(
    (status = 200, body = Scene),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn scene(State(app): State<App>) -> Result<Json<Scene>, ApiError> {
    let name = served(&app)?.name.to_string();
    let [world, car] = scene_files(&app).await?;
    let address = |file: &SceneFile| format!("/sim/scene/{}.glb", file.version);
    Ok(Json(Scene {
        world: name,
        version: world.version.clone(),
        world_glb: address(&world),
        car_glb: address(&car),
    }))
}

/// `GET /sim/scene/<version>.glb`: the glTF file of the world or of the car.
pub(super) async fn file(
    State(app): State<App>,
    PathName(name): PathName,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let files = scene_files(&app).await?;
    let found = files.into_iter().find(|file| name.strip_suffix(".glb") == Some(&file.version));
    let file = found.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            "this version is no longer served; GET /sim/api/scene returns the current address",
        )
    })?;
    let gzipped = Some(file.gzipped.clone()).filter(|bytes| !bytes.is_empty());
    let packed = PackedFile {
        content_type: "model/gltf-binary",
        cache_control: CACHE_FOREVER,
        plain: file.glb.clone(),
        gzipped,
    };
    Ok(packed.respond(&headers))
}

/// The current files of the world and of the car. The first request waits until both files are
/// made.
async fn scene_files(app: &App) -> Result<[Arc<SceneFile>; 2], ApiError> {
    let (served, app) = (served(app)?, app.clone());
    let files = tokio::task::spawn_blocking(move || [served.scene(), app.car.file(&app.profile)]);
    files.await.map_err(|e| ApiError::internal(e.to_string()))
}
