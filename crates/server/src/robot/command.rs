//! What the robot is asked for: speed, steering, and where the camera looks.

use super::body::Body;
use super::error::RobotError;
use super::time::at;
use crate::caller::Commander;
use axum::Json;
use axum::response::Response;
use chicane_host::driver::Simulator;
use chicane_robot::{Command, Done};
use chicane_sim::TICKS_PER_SECOND;
use chicane_wire::{
    CameraAngleRequest, Commanded, Detail, DriveRequest, DriveValues, Driven, Num, SpeedRequest,
    SteeringRequest,
};

/// Asks for a speed, for one second, or for as long as `duration` says.
///
/// With `duration` the answer comes at the end: `stopped` in its time, or `superseded` by a newer command.
/// The car stops if the one who asked hangs up before.
#[utoipa::path(post, path = "/speed", tag = "Driving", operation_id = "set_speed", request_body = SpeedRequest,
    responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body makes no sense"),
))]
pub(super) async fn speed(
    Commander(simulator): Commander,
    Body(request): Body<SpeedRequest>,
) -> Result<Response, RobotError> {
    let Some(duration) = request.duration else {
        return one(&simulator, Command::Speed(request.value)).await;
    };
    let ticks = (duration * TICKS_PER_SECOND as f64).round().max(1.0) as u64;
    let (held, now) = simulator.hold(request.value, ticks).await?;
    let message = Some(if held.superseded { "superseded" } else { "stopped" });
    Ok(at(now.time_s(), Json(Commanded { success: true, value: Num(held.value), message })))
}

/// Asks for a steering angle, until another is asked for.
#[utoipa::path(post, path = "/steering", tag = "Driving", operation_id = "set_steering",
    request_body = SteeringRequest, responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body makes no sense"),
))]
pub(super) async fn steering(
    Commander(simulator): Commander,
    Body(request): Body<SteeringRequest>,
) -> Result<Response, RobotError> {
    one(&simulator, Command::Steering(request.value)).await
}

/// Asks for speed and steering in one command.
#[utoipa::path(post, path = "/drive", tag = "Driving", request_body = DriveRequest, responses(
    (status = 200, body = Driven),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body makes no sense"),
))]
pub(super) async fn drive(
    Commander(simulator): Commander,
    Body(request): Body<DriveRequest>,
) -> Result<Response, RobotError> {
    let DriveRequest { speed, steering } = request;
    let command = Command::Drive { speed: Some(speed), steering: Some(steering) };
    let (done, now) = simulator.robot(command).await?;
    let Done::Driving(drive) = done else { return Err(unexpected(done)) };
    let value = DriveValues { speed: Num(drive.speed), steering: Num(drive.steering) };
    Ok(at(now.time_s(), Json(Driven { success: true, value, message: None })))
}

/// Turns the camera left or right.
#[utoipa::path(post, path = "/camera/pan", tag = "Camera", operation_id = "set_pan",
    request_body = CameraAngleRequest, responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body makes no sense"),
))]
pub(super) async fn pan(
    Commander(simulator): Commander,
    Body(request): Body<CameraAngleRequest>,
) -> Result<Response, RobotError> {
    one(&simulator, Command::Pan(request.value)).await
}

/// Turns the camera up or down.
#[utoipa::path(post, path = "/camera/tilt", tag = "Camera", operation_id = "set_tilt",
    request_body = CameraAngleRequest, responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body makes no sense"),
))]
pub(super) async fn tilt(
    Commander(simulator): Commander,
    Body(request): Body<CameraAngleRequest>,
) -> Result<Response, RobotError> {
    one(&simulator, Command::Tilt(request.value)).await
}

/// A command of one value.
async fn one(simulator: &Simulator, command: Command) -> Result<Response, RobotError> {
    let (done, now) = simulator.robot(command).await?;
    let Done::Commanded { value, .. } = done else { return Err(unexpected(done)) };
    Ok(at(now.time_s(), Json(Commanded { success: true, value: Num(value), message: None })))
}

fn unexpected(done: Done) -> RobotError {
    RobotError::failed(format!("the robot answered something else: {done:?}"))
}
