//! The running world: everything that does not change while it runs.

use super::ready_json::ReadyJson;
use crate::error::ApiError;
use crate::state::App;
use axum::extract::State;
use chicane_host::driver::ServedWorld;
use chicane_wire::{ErrorBody, ErrorCode, Rect, Route, World};
use std::sync::Arc;

/// Returns the world's name and id, its track, its objects, and whether it has an evaluation.
#[utoipa::path(get, path = "/world", tag = "World and objects", responses(
    (status = 200, body = World),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn world(State(app): State<App>) -> Result<ReadyJson, ApiError> {
    Ok(ReadyJson(served(&app)?.world_json.clone()))
}

/// Returns the centre line and the borders of the road, each a closed loop.
#[utoipa::path(get, path = "/route", tag = "World and objects", responses(
    (status = 200, body = Route),
    (status = 404, body = ErrorBody, description = "No world runs, or it has no route"),
))]
pub(super) async fn route(State(app): State<App>) -> Result<ReadyJson, ApiError> {
    let route = served(&app)?.route_json.clone();
    route.map(ReadyJson).ok_or_else(|| ApiError::new(ErrorCode::NoRoute, "route not available"))
}

/// Returns the extent of the track's ground.
#[utoipa::path(get, path = "/bounds", tag = "World and objects", responses(
    (status = 200, body = Rect),
    (status = 404, body = ErrorBody, description = "No world runs, or it has no ground"),
))]
pub(super) async fn bounds(State(app): State<App>) -> Result<ReadyJson, ApiError> {
    let bounds = served(&app)?.bounds_json.clone();
    bounds.map(ReadyJson).ok_or_else(|| ApiError::new(ErrorCode::NoBounds, "bounds not available"))
}

/// The running world, or an error if no world runs.
pub(super) fn served(app: &App) -> Result<Arc<ServedWorld>, ApiError> {
    let now = app.simulator.now();
    now.running.as_ref().map(|s| Arc::clone(&s.served)).ok_or_else(ApiError::no_world)
}
