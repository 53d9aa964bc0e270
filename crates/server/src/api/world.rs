//! The world that runs: what does not change while it does.

use super::Written;
use crate::error::ApiError;
use crate::state::App;
use axum::extract::State;
use chicane_host::driver::ServedWorld;
use chicane_wire::{ErrorBody, ErrorCode, Rect, Route, World};
use std::sync::Arc;

/// Identification, track, catalogue of objects, and whether there is an evaluation.
#[utoipa::path(get, path = "/world", tag = "World and objects", responses(
    (status = 200, body = World),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn world(State(app): State<App>) -> Result<Written, ApiError> {
    Ok(Written(served(&app)?.world_json.clone()))
}

/// Centre line and borders of the road, each a closed loop.
#[utoipa::path(get, path = "/route", tag = "World and objects", responses(
    (status = 200, body = Route),
    (status = 404, body = ErrorBody, description = "No world runs, or it has no route"),
))]
pub(super) async fn route(State(app): State<App>) -> Result<Written, ApiError> {
    let route = served(&app)?.route_json.clone();
    route.map(Written).ok_or_else(|| ApiError::new(ErrorCode::NoRoute, "route not available"))
}

/// Extent of the track's ground.
#[utoipa::path(get, path = "/bounds", tag = "World and objects", responses(
    (status = 200, body = Rect),
    (status = 404, body = ErrorBody, description = "No world runs, or it has no ground"),
))]
pub(super) async fn bounds(State(app): State<App>) -> Result<Written, ApiError> {
    let bounds = served(&app)?.bounds_json.clone();
    bounds.map(Written).ok_or_else(|| ApiError::new(ErrorCode::NoBounds, "bounds not available"))
}

/// The world that is served.
pub(super) fn served(app: &App) -> Result<Arc<ServedWorld>, ApiError> {
    let now = app.simulator.now();
    now.running.as_ref().map(|s| Arc::clone(&s.served)).ok_or_else(ApiError::no_world)
}
