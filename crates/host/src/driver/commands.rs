//! Commands that change the world, the clock and the display, from clients and judging scripts.

use super::judging::JudgedSession;
use super::published::OverlayView;
use super::refused::Refused;
use super::state::Driver;
use crate::source::{Origin, Source};
use chicane_journal::Change;
use chicane_robot::Command as RobotCommand;
use chicane_sim::{Applied, Command, How, Who};
use chicane_wire::CommandName;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Driver {
    /// Applies a command to the world.
    pub(super) fn apply(&mut self, origin: &Origin, command: Command) -> Result<Applied, Refused> {
        let running = self.worlds.ready()?;
        let is_reset = matches!(command, Command::Reset);
        let moves = moves_the_car(&command);
        let reported = (command_name(&command), command_values(&command));
        let applied = running.apply(&origin.sender(), command).map_err(Refused::BySimulation)?;
        self.report_command(origin, reported.0, reported.1);
        if is_reset {
            self.take_sounds();
            self.answer_holds();
        }
        if moves {
            self.begin_epoch();
        }
        Ok(applied)
    }

    /// Pauses or continues time, or changes its speed. `None` keeps a setting.
    pub(super) fn set_clock(&mut self, origin: &Origin, paused: Option<bool>, speed: Option<f64>) {
        self.report_command(origin, CommandName::Clock, json!({"paused": paused, "speed": speed}));
        self.note(|| Change::Clock { sender: origin.sender(), paused, speed });
        if let (Some(judging), Some(paused)) = (&mut self.session.judging, paused) {
            match origin.source {
                Source::Judge => judging.set_paused_by_script(paused),
                _ => judging.release_pause(),
            }
        }
        self.clock.set(paused, speed);
    }

    /// Sets the brightness. Every channel of a shown pixel is multiplied by this factor.
    pub(super) fn set_brightness(&mut self, origin: &Origin, value: f64) {
        self.note(|| Change::Brightness { sender: origin.sender(), value });
        self.display.set_brightness(value);
    }

    /// Writes an entry to the journal of the judged run, if there is one.
    pub(super) fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(running) = &mut self.worlds.running {
            running.note(change);
        }
    }

    /// Shows a text for `ttl_s` real seconds. An empty text removes the shown text.
    pub(super) fn set_overlay(&mut self, origin: &Origin, text: String, ttl_s: f64, size: f64) {
        self.note(|| Change::Overlay { sender: origin.sender(), text: text.clone(), ttl_s, size });
        let ends = (!text.is_empty()).then(|| Instant::now() + Duration::from_secs_f64(ttl_s));
        let seq = self.display.overlay.seq + 1;
        self.display.overlay = OverlayView { text: Arc::from(text), ttl_s, size, seq, ends };
    }

    /// Reports to the session a command that changes the world, the clock or the display. A command
    /// of the judging script is not reported. [`JudgedSession::count_interference`] decides whether
    /// the command also counts as interference.
    pub(super) fn report_command(&mut self, origin: &Origin, command: CommandName, values: Value) {
        let Some(judging) = self.session.judging.as_mut().filter(|_| origin.source != Source::Judge) else {
            return;
        };
        let tick = self.worlds.running.as_ref().map_or(0, |running| running.sim.tick());
        // If the simulator can't tell the program's requests from those of other clients, a step
        // most likely comes from the program. Such a step is therefore not counted as interference.
        let counts = judging.recognizes_student() || command != CommandName::Step;
        let counted = counts && judging.count_interference(origin, tick, &values);
        let noted = counted.then(|| values.to_string());
        judging.report_command(command, values);
        if let Some(values) = noted {
            self.note(|| Change::Interfered { sender: origin.sender(), values });
        }
    }

    /// Whether commands of this origin to the robot count as interference. The commands count if
    /// the simulator recognizes the requests of the judged program and the origin is not that
    /// program.
    pub(super) fn counts_robot_commands(&self, origin: &Origin) -> bool {
        let judging = self.session.judging.as_ref();
        origin.source != Source::Student && judging.is_some_and(JudgedSession::recognizes_student)
    }

    /// Counts a command to the robot as interference with the judged run, if the run has started.
    pub(super) fn count_robot_command(&mut self, origin: &Origin, values: &Value) {
        let tick = self.worlds.running.as_ref().map_or(0, |running| running.sim.tick());
        let judging = self.session.judging.as_mut();
        if judging.is_some_and(|judging| judging.count_interference(origin, tick, values)) {
            self.note(|| Change::Interfered { sender: origin.sender(), values: values.to_string() });
        }
    }
}

/// Whether the command places the car.
fn moves_the_car(command: &Command) -> bool {
    matches!(command, Command::Reset | Command::Place { who: Who::Vehicle, .. })
}

/// The name of a command in the record of an evaluation.
fn command_name(command: &Command) -> CommandName {
    match command {
        Command::Place { who: Who::Vehicle, .. } => CommandName::Pose,
        Command::Place { .. } => CommandName::Model,
        Command::SetLight { .. } => CommandName::Light,
        Command::Reset => CommandName::Reset,
    }
}

/// The parameters of a command, for the record of an evaluation.
fn command_values(command: &Command) -> Value {
    match command {
        Command::Place { who, x, y, z, yaw, how } => {
            let name = match who {
                Who::Vehicle => None,
                Who::Object(name) => Some(name),
            };
            let fields = [
                name.map(|name| ("name", json!(name))),
                x.map(|x| ("x", json!(x))),
                y.map(|y| ("y", json!(y))),
                z.map(|z| ("z", json!(z))),
                yaw.map(|yaw| ("yaw", json!(yaw))),
                (*how != How::AtOnce).then_some(("moving", json!(true))),
            ];
            fields.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
        }
        Command::SetLight { name, red } => json!({"name": name, "state": if *red { "red" } else { "green" }}),
        Command::Reset => json!({}),
    }
}

/// The parameters of a command that sets the speed, the steering or the camera's angles; `None` for
/// any other command.
pub(super) fn robot_values(command: &RobotCommand) -> Option<Value> {
    match command {
        RobotCommand::Speed(value) => Some(json!({"speed": value})),
        RobotCommand::Hold { speed, ticks } => Some(json!({"speed": speed, "ticks": ticks})),
        RobotCommand::Steering(value) => Some(json!({"steering": value})),
        RobotCommand::Drive { speed, steering } => Some(json!({"speed": speed, "steering": steering})),
        RobotCommand::Twist { linear, angular } => Some(json!({"linear": linear, "angular": angular})),
        RobotCommand::Pan(value) => Some(json!({"pan": value})),
        RobotCommand::Tilt(value) => Some(json!({"tilt": value})),
        RobotCommand::Release { .. }
        | RobotCommand::End { .. }
        | RobotCommand::Play(_)
        | RobotCommand::Open(_)
        | RobotCommand::Pcm { .. }
        | RobotCommand::Volume { .. }
        | RobotCommand::Stop { .. }
        | RobotCommand::StopAll => None,
    }
}
