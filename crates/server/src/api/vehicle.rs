//! The vehicle: its pose, its profile, reset and respawn.

use crate::body::JsonBody;
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_host::view;
use chicane_sim::{Applied, Command, How, Who};
use chicane_wire::{
    ErrorBody, NoFields, Placed, Pose, PoseRequest, Profile, ResetDone, RespawnRequest, RespawnRequestBody,
    Respawned,
};
use std::collections::BTreeMap;

/// Returns the true pose of the car in the world.
#[utoipa::path(get, path = "/pose", tag = "Vehicle", responses(
    (status = 200, body = Pose),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn get_pose(State(app): State<App>) -> Result<Json<Pose>, ApiError> {
    let now = app.simulator.now();
    let running = now.running.as_ref().ok_or_else(ApiError::no_world)?;
    Ok(Json(view::pose(&running.snapshot.vehicle.pose)))
}

/// Places the car: upright, on the ground, at rest.
///
/// Omitted fields keep their value. Without any field, the car is set upright where it is.
#[utoipa::path(post, path = "/pose", tag = "Vehicle", request_body = PoseRequest, responses(
    (status = 200, body = Placed),
    (status = 400, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "No world is ready"),
))]
pub(super) async fn set_pose(
    Commander(simulator): Commander,
    JsonBody(PoseRequest { x, y, yaw }): JsonBody<PoseRequest>,
) -> Result<Json<Placed>, ApiError> {
    let command = Command::Place { who: Who::Vehicle, x, y, z: None, yaw, how: How::AtOnce };
    match simulator.command(command).await? {
        (Applied::Placed(pose), _) => Ok(Json(Placed { ok: true, applied: true, pose: view::pose(&pose) })),
        (other, _) => Err(unexpected(&other)),
    }
}

/// Reloads the world: time, noise and the robot's stack restart, and lights keep their state.
///
/// The same inputs after two respawns with the same seed give the same bytes. With `vary`, the seed
/// also changes the world. If `vary` contains `lights`, the seed decides the state of the lights.
#[utoipa::path(post, path = "/respawn", tag = "Vehicle", request_body = RespawnRequestBody, responses(
    (status = 200, body = Respawned),
    (status = 400, body = ErrorBody),
    (status = 404, body = ErrorBody, description = "No world runs"),
    (status = 409, body = ErrorBody, description = "A world is being loaded, or an evaluation is in progress"),
    (status = 422, body = ErrorBody, description = "The world can't be loaded any more; the old one continues"),
))]
pub(super) async fn respawn(
    State(app): State<App>,
    JsonBody(RespawnRequest { seed, vary }): JsonBody<RespawnRequest>,
) -> Result<Json<Respawned>, ApiError> {
    let now = app.loader.respawn_varied(seed, vary).await?;
    let running = now.running.as_ref().ok_or_else(ApiError::no_world)?;
    let (world, variation) = (running.served.file.to_string(), running.served.variation());
    Ok(Json(Respawned { ok: true, world, inplace: false, variation }))
}

/// Resets the car and all movable objects to their start poses, at rest, and all lights to green.
///
/// Simulated time continues.
#[utoipa::path(post, path = "/reset", tag = "Vehicle", request_body = NoFields, responses(
    (status = 200, body = ResetDone),
    (status = 400, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "No world is ready"),
))]
pub(super) async fn reset(
    State(app): State<App>,
    Commander(simulator): Commander,
    JsonBody(NoFields {}): JsonBody<NoFields>,
) -> Result<Json<ResetDone>, ApiError> {
    let all_green = |lights: &mut BTreeMap<String, bool>| lights.values_mut().for_each(|red| *red = false);
    let (applied, now) = app.keeper.with_lights(&simulator, Command::Reset, all_green).await?;
    let (Applied::Reset(objects), Some(running)) = (&applied, &now.running) else {
        return Err(unexpected(&applied));
    };
    let mut reset: Vec<String> = objects.iter().map(|&i| running.served.names[i].to_string()).collect();
    reset.push("vehicle".to_owned());
    Ok(Json(ResetDone { ok: true, reset }))
}

/// Returns the profile of the robot: sizes, limits and sensors.
#[utoipa::path(get, path = "/vehicle", tag = "Vehicle", responses((status = 200, body = Profile)))]
pub(super) async fn profile(State(app): State<App>) -> Json<Profile> {
    Json(view::profile(&app.profile))
}

/// The error if the simulation returns a result of the wrong kind for the command.
pub(super) fn unexpected(applied: &Applied) -> ApiError {
    ApiError::internal(format!("unexpected result of the simulation: {applied:?}"))
}
