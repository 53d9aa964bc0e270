//! The world and the car for viewers.

use super::packed::{FOR_EVER, Packed};
use super::world::served;
use crate::body::Name;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use chicane_host::scene::SceneFile;
use chicane_wire::{ErrorBody, ErrorCode, Scene};
use std::sync::Arc;

/// Where viewers find the world that runs, and the car.
#[utoipa::path(get, path = "/scene", tag = "World and objects", responses(
    (status = 200, body = Scene),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn scene(State(app): State<App>) -> Result<Json<Scene>, ApiError> {
    let name = served(&app)?.name.to_string();
    let [world, car] = made(&app).await?;
    let address = |file: &SceneFile| format!("/sim/scene/{}.glb", file.version);
    Ok(Json(Scene {
        world: name,
        version: world.version.clone(),
        world_glb: address(&world),
        car_glb: address(&car),
    }))
}

/// `/sim/scene/<version>.glb`.
pub(super) async fn file(
    State(app): State<App>,
    Name(name): Name,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let files = made(&app).await?;
    let found = files.into_iter().find(|file| name.strip_suffix(".glb") == Some(&file.version));
    let file = found.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            "this version is not served any more; /sim/api/scene has the address of what is",
        )
    })?;
    let gzipped = Some(file.gzipped.clone()).filter(|bytes| !bytes.is_empty());
    Ok(Packed { kind: "model/gltf-binary", keep: FOR_EVER, plain: file.glb.clone(), gzipped }
        .answer(&headers))
}

/// Both files of this moment. Whoever asks first waits until they are made.
async fn made(app: &App) -> Result<[Arc<SceneFile>; 2], ApiError> {
    let (served, app) = (served(app)?, app.clone());
    let made = tokio::task::spawn_blocking(move || [served.scene(), app.car.file(&app.profile)]);
    made.await.map_err(|e| ApiError::internal(e.to_string()))
}
