//! The world of a project as glTF files, for viewers.

use super::refusal::Refusal;
use super::{PathParts, long};
use crate::api::packed::{CACHE_FOREVER, PackedFile};
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use chicane_host::scene::SceneFile;
use chicane_studio::StudioError;
use chicane_wire::{ErrorBody, ErrorCode, InvalidProjectBody, Octets, ProjectId, Scene};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many scenes are kept in memory.
const MAX_SCENES: usize = 4;

/// The scenes that were built last, with the ids and revisions of their projects.
#[derive(Default)]
pub(crate) struct ProjectScenes(Mutex<VecDeque<ProjectScene>>);

#[derive(Clone)]
struct ProjectScene {
    id: ProjectId,
    revision: u64,
    world: String,
    file: Arc<SceneFile>,
}

impl ProjectScenes {
    fn find(&self, fits: impl Fn(&ProjectScene) -> bool) -> Option<ProjectScene> {
        let scenes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scenes.iter().find(|scene| fits(scene)).cloned()
    }

    fn keep(&self, scene: ProjectScene) {
        let mut scenes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scenes.retain(|other| (&other.id, other.revision) != (&scene.id, scene.revision));
        scenes.push_front(scene);
        scenes.truncate(MAX_SCENES);
    }
}

/// Returns the addresses of the glTF files of a project's world and of the car.
#[utoipa::path(get, path = "/builder/projects/{id}/scene", tag = "World builder", operation_id = "builder_scene",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, body = Scene),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 409, body = InvalidProjectBody, description = "The project has errors"),
))]
pub(super) async fn scene(State(app): State<App>, path: PathParts) -> Result<Json<Scene>, Refusal> {
    let id = path.project()?;
    let scene = current(&app, id.clone()).await?;
    let car = car(&app).await?;
    let address = |file: &SceneFile| format!("/sim/api/builder/projects/{id}/scene/{}.glb", file.version);
    Ok(Json(Scene {
        world: scene.world,
        version: scene.file.version.clone(),
        world_glb: address(&scene.file),
        car_glb: address(&car),
    }))
}

/// Returns a glTF file of a project's scene. The file at an address never changes.
#[utoipa::path(get, path = "/builder/projects/{id}/scene/{file}", tag = "World builder", operation_id = "builder_scene_file",
    params(
        ("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$"),
        ("file" = String, Path, description = "Name of the file, as the scene gives it"),
    ), responses(
    (status = 200, body = Octets, content_type = "model/gltf-binary"),
    (status = 404, body = ErrorBody, description = "No such project, or this version is no longer served"),
    (status = 409, body = InvalidProjectBody, description = "The project has errors"),
))]
pub(super) async fn file(
    State(app): State<App>,
    path: PathParts,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let id = path.project()?;
    let version = path.second().strip_suffix(".glb").unwrap_or_default().to_owned();
    let car = car(&app).await?;
    let kept = app.project_scenes.find(|scene| scene.id == id && scene.file.version == version);
    let file = match kept {
        Some(scene) => scene.file,
        None if car.version == version => car,
        None => current(&app, id).await?.file,
    };
    if file.version != version {
        let text = "this version is no longer served; GET the scene of the project for the current address";
        return Err(ApiError::new(ErrorCode::NotFound, text).into());
    }
    let packed = PackedFile {
        content_type: "model/gltf-binary",
        cache_control: CACHE_FOREVER,
        plain: file.glb.clone(),
        gzipped: Some(file.gzipped.clone()).filter(|bytes| !bytes.is_empty()),
    };
    Ok(packed.respond(&headers))
}

async fn car(app: &App) -> Result<Arc<SceneFile>, ApiError> {
    let app = app.clone();
    let made = tokio::task::spawn_blocking(move || app.car.file(&app.profile));
    made.await.map_err(|e| ApiError::internal(e.to_string()))
}

/// The scene of the current revision of a project.
async fn current(app: &App, id: ProjectId) -> Result<ProjectScene, Refusal> {
    let shared = app.clone();
    long(app, move |studio| {
        let revision = studio.revision(&id)?;
        let kept = shared.project_scenes.find(|scene| scene.id == id && scene.revision == revision);
        if let Some(scene) = kept {
            return Ok(scene);
        }
        let built = studio.built(&id)?;
        let file = Arc::new(SceneFile::new(chicane_render::glb::world(&built.world)));
        let scene = ProjectScene { id, revision: built.revision, world: built.world.name.clone(), file };
        shared.project_scenes.keep(scene.clone());
        Ok::<_, StudioError>(scene)
    })
    .await
}
