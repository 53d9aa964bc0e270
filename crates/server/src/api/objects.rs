//! Lists and moves objects of the world.

use super::vehicle::unexpected;
use crate::body::{JsonBody, PathName};
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_host::view;
use chicane_sim::{Applied, Who};
use chicane_wire::{ErrorBody, ErrorCode, ModelMoved, ModelPlace, ModelRequest, ModelRequestBody, Objects};
use std::sync::Arc;

/// Lists all objects, walls and lights of the world's catalogue, in the order of the world file.
#[utoipa::path(get, path = "/objects", tag = "World and objects", responses(
    (status = 200, body = Objects),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<Objects>, ApiError> {
    let now = app.simulator.now();
    let running = now.running.as_ref().ok_or_else(ApiError::no_world)?;
    let served = &running.served;
    let all = served.names.iter().zip(&served.world.objects).zip(&running.snapshot.objects);
    let objects = all.map(|((name, object), pose)| view::object(Arc::clone(name), object, pose)).collect();
    Ok(Json(Objects { world: Arc::clone(&served.name), objects }))
}

/// Moves or turns an object: at once, over a duration, or along a path. The object is placed
/// upright.
#[utoipa::path(post, path = "/models/{name}/pose", tag = "World and objects",
    params(("name" = String, Path, description = "Name of an object", pattern = r"^[A-Za-z0-9_-]+$", example = "box1")),
    request_body = ModelRequestBody, responses(
    (status = 200, body = ModelMoved),
    (status = 400, body = ErrorBody),
    (status = 403, body = ErrorBody, description = "The vehicle, the track, a wall or scenery can't be moved here"),
    (status = 404, body = ErrorBody, description = "No such object"),
    (status = 409, body = ErrorBody, description = "No world is ready"),
))]
pub(super) async fn set_pose(
    State(app): State<App>,
    Commander(simulator): Commander,
    PathName(name): PathName,
    JsonBody(request): JsonBody<ModelRequest>,
) -> Result<Json<ModelMoved>, ApiError> {
    if name == "vehicle" || name == app.profile.model_name {
        return Err(ApiError::new(ErrorCode::NotMovable, "use POST /pose for the vehicle"));
    }
    let command = view::place_command(Who::Object(name.clone()), request);
    let (applied, now) = simulator.command(command).await?;
    let object = now.running.as_ref().and_then(|s| s.served.world.objects.iter().find(|o| o.name == name));
    let (Applied::Placed(pose), Some(object)) = (&applied, object) else {
        return Err(unexpected(&applied));
    };
    let at = view::flat_pose(pose);
    let r#type = view::object_type(object.object_type);
    let model = ModelPlace { name, r#type, x: at.x, y: at.y, z: at.z, yaw: at.yaw };
    Ok(Json(ModelMoved { ok: true, applied: true, model }))
}
