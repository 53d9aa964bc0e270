//! The WebSockets `/speed/stream` and `/steering/stream`: a command a frame.
//!
//! Frames are carried out one after the other, none is skipped, and the next one is read when the last
//! one is in force. What a client that goes away asked for last ends soon, unless someone else has
//! asked for something since.

use super::error::RobotError;
use super::view;
use crate::caller::Commander;
use crate::state::App;
use crate::websocket::{Socket, SocketMessage, Upgrade};
use axum::extract::State;
use axum::response::Response;
use chicane_host::driver::Simulator;
use chicane_robot::{Axis, Command, Done};
use chicane_wire::{Body, Fields, Invalid, SpeedFrame, SteeringRequest};

/// Frames `{"value": m/s}`.
pub(super) async fn speed(
    State(app): State<App>,
    Commander(simulator): Commander,
    upgrade: Upgrade,
) -> Response {
    let parse = |fields: &Fields| Ok(Command::Speed(SpeedFrame::parse(fields)?.value));
    upgrade.run(&app, move |socket| obey(simulator, socket, Axis::Speed, parse))
}

/// Frames `{"value": rad}`.
pub(super) async fn steering(
    State(app): State<App>,
    Commander(simulator): Commander,
    upgrade: Upgrade,
) -> Response {
    let parse = |fields: &Fields| Ok(Command::Steering(SteeringRequest::parse(fields)?.value));
    upgrade.run(&app, move |socket| obey(simulator, socket, Axis::Steering, parse))
}

type Parse = fn(&Fields) -> Result<Command, Invalid>;

/// Carries out what a client asks for, until it goes.
async fn obey(simulator: Simulator, mut socket: Socket, axis: Axis, parse: Parse) {
    // The command that is in force: its number, and the world it was given in.
    let mut last: Option<(u64, u64)> = None;
    while let Some(said) = socket.next().await {
        let given = match read(&said, parse) {
            Ok(command) => give(&simulator, command).await,
            Err(error) => Err(error),
        };
        match given {
            Ok(given) => last = Some(given),
            Err(error) => {
                let detail = error.detail();
                let text = String::from_utf8_lossy(&view::json(&detail)).into_owned();
                if socket.send(text).await.is_err() {
                    break;
                }
            }
        }
    }
    if let Some((serial, world)) = last {
        // Refused only by a world that has no such command any more.
        let _ = simulator.robot_of_world(Command::Release { axis, serial }, world).await;
    }
}

fn read(said: &SocketMessage, parse: Parse) -> Result<Command, RobotError> {
    match said {
        SocketMessage::Text(text) => Ok(parse(&Fields::read(text.as_bytes())?)?),
        SocketMessage::Binary(_) => Err(RobotError::bad_value("send text frames, such as {\"value\": 0.5}")),
    }
}

/// Puts a command in force: its number, and that of the world.
async fn give(simulator: &Simulator, command: Command) -> Result<(u64, u64), RobotError> {
    match simulator.robot_with_world(command).await? {
        (Done::Commanded { serial, .. }, world) => Ok((serial, world)),
        (done, _) => Err(RobotError::failed(format!("the robot answered {done:?}"))),
    }
}
