//! The WebSockets `/speed/stream` and `/steering/stream`: each frame is a command.
//!
//! The server executes all frames in order. It reads the next frame when the command of the
//! previous frame is in force. When the client disconnects, the server sends the robot a
//! `Command::Release` for the client's last command. The robot then ends this command within
//! 0.7 simulated seconds, unless a newer command has replaced it.

use super::error::RobotError;
use super::to_wire;
use crate::caller::Commander;
use crate::state::App;
use crate::websocket::Upgrade;
use axum::extract::State;
use axum::response::Response;
use chicane_bridge::{Socket, SocketMessage};
use chicane_host::driver::Simulator;
use chicane_robot::{Axis, Command, Done};
use chicane_wire::{Body, ErrorCode, Fields, Invalid, SpeedFrame, SteeringRequest};

/// `/speed/stream`: frames `{"value": x}` with a speed in m/s.
pub(super) async fn speed(
    State(app): State<App>,
    Commander(simulator): Commander,
    upgrade: Upgrade,
) -> Response {
    let parse = |fields: &Fields| Ok(Command::Speed(SpeedFrame::parse(fields)?.value));
    upgrade.run(&app, move |socket| execute_frames(simulator, socket, Axis::Speed, parse))
}

/// `/steering/stream`: frames `{"value": x}` with an angle in rad.
pub(super) async fn steering(
    State(app): State<App>,
    Commander(simulator): Commander,
    upgrade: Upgrade,
) -> Response {
    let parse = |fields: &Fields| Ok(Command::Steering(SteeringRequest::parse(fields)?.value));
    upgrade.run(&app, move |socket| execute_frames(simulator, socket, Axis::Steering, parse))
}

type Parse = fn(&Fields) -> Result<Command, Invalid>;

/// Executes the commands of a client until the client disconnects.
async fn execute_frames(simulator: Simulator, mut socket: Socket, axis: Axis, parse: Parse) {
    // Serial number of the last command, and number of the world in which that command was given.
    let mut last: Option<(u64, u64)> = None;
    while let Some(said) = socket.next().await {
        let given = match read(&said, parse) {
            Ok(command) => give(&simulator, command).await,
            Err(error) => Err(error),
        };
        match given {
            Ok(given) => last = Some(given),
            // When the simulator stops, it closes the socket. The client gets the close frame only,
            // and no error text.
            Err(error) if error.detail().code == ErrorCode::Stopping => {}
            Err(error) => {
                let detail = error.detail();
                let text = String::from_utf8_lossy(&to_wire::json(&detail)).into_owned();
                if socket.send(text).await.is_err() {
                    break;
                }
            }
        }
    }
    if let Some((serial, world)) = last {
        // An error means that the world of the command no longer runs, or that the simulator stops.
        // In both cases the command has ended.
        let _ = simulator.robot_of_world(Command::Release { axis, serial }, world).await;
    }
}

fn read(said: &SocketMessage, parse: Parse) -> Result<Command, RobotError> {
    match said {
        SocketMessage::Text(text) => Ok(parse(&Fields::read(text.as_bytes())?)?),
        SocketMessage::Binary(_) => Err(RobotError::bad_value("send text frames such as {\"value\": 0.5}")),
    }
}

/// Gives the robot a command. Returns the serial number of the command and the number of the world.
async fn give(simulator: &Simulator, command: Command) -> Result<(u64, u64), RobotError> {
    match simulator.robot_with_world(command).await? {
        (Done::Commanded { serial, .. }, world) => Ok((serial, world)),
        (done, _) => Err(RobotError::failed(format!("unexpected result of the robot: {done:?}"))),
    }
}
