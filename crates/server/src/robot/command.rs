//! Commands to the robot: speed, steering, and the direction of the camera.
//!
//! A command is an order to the robot's stack. The newest command of an axis is in force, and the
//! response contains the value in force. If a speed has a duration, the response comes when the
//! duration is over, or when a newer command replaces the speed. If the client disconnects before
//! the response, the sim thread ends the command, unless a newer command or another world has
//! replaced it.

use super::body::RobotJsonBody;
use super::error::RobotError;
use super::sim_time::with_sim_time;
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

/// Sets the speed, for one simulated second or for `duration`.
///
/// With `duration`, the response comes when the duration is over (message `stopped`), or when a
/// newer command replaces this one (message `superseded`). If the client disconnects before the
/// response, the car stops.
#[utoipa::path(post, path = "/speed", tag = "Driving", operation_id = "set_speed", request_body = SpeedRequest,
    responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body is invalid"),
))]
pub(super) async fn speed(
    Commander(simulator): Commander,
    RobotJsonBody(request): RobotJsonBody<SpeedRequest>,
) -> Result<Response, RobotError> {
    let Some(duration) = request.duration else {
        return give(&simulator, Command::Speed(request.value)).await;
    };
    let ticks = (duration * TICKS_PER_SECOND as f64).round().max(1.0) as u64;
    let (held, now) = simulator.hold(request.value, ticks).await?;
    let message = Some(if held.superseded { "superseded" } else { "stopped" });
    Ok(with_sim_time(now.time_s(), Json(Commanded { success: true, value: Num(held.value), message })))
}

/// Sets the steering angle, until the next command.
#[utoipa::path(post, path = "/steering", tag = "Driving", operation_id = "set_steering",
    request_body = SteeringRequest, responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body is invalid"),
))]
pub(super) async fn steering(
    Commander(simulator): Commander,
    RobotJsonBody(request): RobotJsonBody<SteeringRequest>,
) -> Result<Response, RobotError> {
    give(&simulator, Command::Steering(request.value)).await
}

/// Sets speed and steering in one command.
#[utoipa::path(post, path = "/drive", tag = "Driving", request_body = DriveRequest, responses(
    (status = 200, body = Driven),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body is invalid"),
))]
pub(super) async fn drive(
    Commander(simulator): Commander,
    RobotJsonBody(request): RobotJsonBody<DriveRequest>,
) -> Result<Response, RobotError> {
    let DriveRequest { speed, steering } = request;
    let command = Command::Drive { speed: Some(speed), steering: Some(steering) };
    let (done, now) = simulator.robot(command).await?;
    let Done::Driving(drive) = done else { return Err(unexpected(done)) };
    let value = DriveValues { speed: Num(drive.speed), steering: Num(drive.steering) };
    Ok(with_sim_time(now.time_s(), Json(Driven { success: true, value, message: None })))
}

/// Turns the camera left or right.
#[utoipa::path(post, path = "/camera/pan", tag = "Camera", operation_id = "set_pan",
    request_body = CameraAngleRequest, responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body is invalid"),
))]
pub(super) async fn pan(
    Commander(simulator): Commander,
    RobotJsonBody(request): RobotJsonBody<CameraAngleRequest>,
) -> Result<Response, RobotError> {
    give(&simulator, Command::Pan(request.value)).await
}

/// Turns the camera up or down.
#[utoipa::path(post, path = "/camera/tilt", tag = "Camera", operation_id = "set_tilt",
    request_body = CameraAngleRequest, responses(
    (status = 200, body = Commanded),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body is invalid"),
))]
pub(super) async fn tilt(
    Commander(simulator): Commander,
    RobotJsonBody(request): RobotJsonBody<CameraAngleRequest>,
) -> Result<Response, RobotError> {
    give(&simulator, Command::Tilt(request.value)).await
}

/// Gives the robot a command with one value. Returns the response.
async fn give(simulator: &Simulator, command: Command) -> Result<Response, RobotError> {
    let (done, now) = simulator.robot(command).await?;
    let Done::Commanded { value, .. } = done else { return Err(unexpected(done)) };
    Ok(with_sim_time(now.time_s(), Json(Commanded { success: true, value: Num(value), message: None })))
}

fn unexpected(done: Done) -> RobotError {
    RobotError::failed(format!("unexpected result of the robot: {done:?}"))
}
