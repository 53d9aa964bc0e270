//! Traffic lights.

use crate::body::{JsonBody, PathName};
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_sim::Command;
use chicane_wire::{ErrorBody, ErrorCode, LightChanged, LightRequest, Lights};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lists the lights of the world, sorted by name.
#[utoipa::path(get, path = "/traffic_lights", tag = "Traffic lights", responses(
    (status = 200, body = Lights),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<Lights>, ApiError> {
    let now = app.simulator.now();
    let running = now.running.as_ref().ok_or_else(ApiError::no_world)?;
    Ok(Json(Lights { world: Arc::clone(&running.served.name), lights: running.lights() }))
}

/// Switches a light to red (after three seconds of yellow) or to green (at once).
#[utoipa::path(post, path = "/traffic_lights/{name}", tag = "Traffic lights",
    params(("name" = String, Path, description = "Name of a light", pattern = r"^[A-Za-z0-9_-]+$", example = "signal1")),
    request_body = LightRequest, responses(
    (status = 200, body = LightChanged),
    (status = 400, body = ErrorBody),
    (status = 404, body = ErrorBody, description = "No such light"),
    (status = 409, body = ErrorBody, description = "The light is in its yellow phase, or no world is ready"),
))]
pub(super) async fn set(
    State(app): State<App>,
    Commander(simulator): Commander,
    PathName(name): PathName,
    JsonBody(request): JsonBody<LightRequest>,
) -> Result<Json<LightChanged>, ApiError> {
    let command = Command::SetLight { name: name.clone(), red: request.is_red() };
    let (light, red) = (name.clone(), request.is_red());
    let change = move |lights: &mut BTreeMap<String, bool>| {
        if let Some(is_red) = lights.get_mut(&light) {
            *is_red = red;
        }
    };
    let (_, now) = app.keeper.with_lights(&simulator, command, change).await?;
    let light = now.running.as_ref().and_then(|s| s.light(s.served.world.object(&name)?));
    let light = light.ok_or_else(|| ApiError::new(ErrorCode::NoSuchLight, "light not found"))?;
    Ok(Json(LightChanged { ok: true, light }))
}
