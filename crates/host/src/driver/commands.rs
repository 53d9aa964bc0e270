//! Commands that change the world, the clock and the display, from clients and judging scripts.

use super::published::OverlayView;
use super::refused::Refused;
use super::state::Driver;
use crate::source::Source;
use chicane_sim::{Applied, Command, Who};
use chicane_wire::CommandName;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Driver {
    /// Applies a command to the world.
    pub(super) fn apply(&mut self, source: Source, command: Command) -> Result<Applied, Refused> {
        let running = self.worlds.ready()?;
        let is_reset = matches!(command, Command::Reset);
        let moves = moves_the_car(&command);
        let name = command_name(&command);
        let applied = running.sim.apply(command).map_err(Refused::BySimulation)?;
        if is_reset {
            running.stack.clear_commands();
        }
        self.report_command(source, name, Value::Null);
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
    pub(super) fn set_clock(&mut self, source: Source, paused: Option<bool>, speed: Option<f64>) {
        self.report_command(source, CommandName::Clock, json!({"paused": paused, "speed": speed}));
        if let (Some(judging), Some(paused)) = (&mut self.session.judging, paused) {
            match source {
                Source::Judge => judging.set_paused_by_script(paused),
                _ => judging.release_pause(),
            }
        }
        self.clock.set(paused, speed);
    }

    /// Shows a text for `ttl_s` real seconds. An empty text removes the shown text.
    pub(super) fn set_overlay(&mut self, text: String, ttl_s: f64, size: f64) {
        let ends = (!text.is_empty()).then(|| Instant::now() + Duration::from_secs_f64(ttl_s));
        let seq = self.display.overlay.seq + 1;
        self.display.overlay = OverlayView { text: Arc::from(text), ttl_s, size, seq, ends };
    }

    /// Reports a command to the session, unless the judging script sent the command.
    pub(super) fn report_command(&self, source: Source, command: CommandName, detail: Value) {
        if let (Some(judging), false) = (&self.session.judging, source == Source::Judge) {
            judging.report_command(command, detail);
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
