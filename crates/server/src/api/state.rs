//! Status and the live state.

use super::ready_json::ReadyJson;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_wire::{Num, Status};

/// Returns the status of the simulator.
#[utoipa::path(get, path = "/status", tag = "State and time", responses((status = 200, body = Status)))]
pub(super) async fn status(State(app): State<App>) -> Json<Status> {
    let now = app.simulator.now();
    Json(Status {
        running: now.running.is_some(),
        websocket: true,
        current: now.current(),
        switching: now.transition.is_some(),
        assets_version: now.assets_version,
        version: env!("CARGO_PKG_VERSION"),
        generation: app.profile.generation.clone(),
        uptime_s: Num(app.started.elapsed().as_secs_f64()),
    })
}

/// Returns the live state in one response: world, time, car, objects, lights, program and
/// evaluation.
#[utoipa::path(get, path = "/state", tag = "Monitoring", responses((status = 200, body = chicane_wire::State)))]
pub(super) async fn state(State(app): State<App>) -> ReadyJson {
    ReadyJson(app.simulator.now().state_json())
}
