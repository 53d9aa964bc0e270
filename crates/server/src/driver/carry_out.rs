//! What is done about each order.

use super::judging::{Entry, Judging};
use super::order::{Loaded, Order, Refused, Reply};
use super::published::OverlayView;
use super::run::{Driver, refuse};
use super::running::Running;
use chicane_sim::Command;
use chicane_wire::{Num, Transition};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

impl Driver {
    /// Carries out an order.
    pub(super) fn take(&mut self, order: Order) {
        if changes_what_others_are_told(&order) {
            self.answer_first();
        }
        match order {
            Order::Command(command, reply) => self.command(command, reply),
            Order::Robot { command, world, reply } => self.ask_robot(command, world, reply),
            Order::Hold { speed, ticks, reply } => self.hold(speed, ticks, reply),
            Order::Clock { paused, speed, reply } => {
                self.told("clock", serde_json::json!({"paused": paused, "speed": speed}));
                self.let_go(paused.is_some());
                self.set_clock(paused, speed);
                self.reply(reply, ());
            }
            Order::Step { ticks, speed, steering, reply } => self.step(ticks, [speed, steering], reply),
            Order::Overlay { text, ttl_s, size, reply } => {
                self.set_overlay(text, ttl_s, size);
                self.reply(reply, ());
            }
            Order::Brightness(value, reply) => {
                self.brightness = value;
                self.reply(reply, ());
            }
            Order::Begin { kind, target, of, reply } => {
                if self.is_taken() {
                    return refuse(reply, Refused::Evaluating);
                }
                let served = self.running.as_ref().map(|r| &r.place.name).or(self.lost.as_ref());
                if self.transition.is_some() || of.as_ref().is_some_and(|of| served != Some(of)) {
                    return refuse(reply, Refused::Switching);
                }
                self.transition = Some(Transition { kind, target, progress: Num(0.0) });
                self.reply(reply, ());
            }
            Order::Progress(part) => {
                if let Some(transition) = &mut self.transition {
                    transition.progress = Num(part);
                    self.change();
                }
            }
            Order::Installing(what, reply) => {
                self.installing = what;
                self.reply(reply, ());
            }
            Order::Swap { loaded, reply } => {
                self.swap(*loaded);
                self.reply(reply, ());
            }
            Order::Abort(reply) => {
                self.transition = None;
                self.reply(reply, ());
            }
            Order::Judge { entry, reply } => self.begin_session(*entry, reply),
            Order::Look => self.unseen |= self.shown_badge() != self.badge,
            Order::Stop => {}
        }
    }

    fn command(&mut self, command: Command, reply: Reply<chicane_sim::Applied>) {
        let Some(running) = self.running.as_mut().filter(|_| self.transition.is_none()) else {
            return refuse(reply, Refused::NotReady);
        };
        let is_reset = matches!(command, Command::Reset);
        let moves = moves_the_car(&command);
        let name = command_name(&command);
        match running.sim.apply(command) {
            Ok(applied) => {
                self.told(name, serde_json::Value::Null);
                if let Some(running) = self.running.as_mut().filter(|_| is_reset) {
                    running.stack.clear_commands();
                    self.hear();
                    self.answer_holds();
                }
                if moves {
                    self.begin_epoch();
                }
                self.reply(reply, applied);
            }
            Err(refusal) => refuse(reply, Refused::By(refusal)),
        }
    }

    /// Whether a session has the world: from when it exists, though its simulation is not in place yet, to when
    /// nothing of it is left. A world that was lost is brought back all the same.
    fn is_taken(&self) -> bool {
        let exists = || self.to_show.lock().unwrap_or_else(PoisonError::into_inner).evaluation.active;
        self.judging.is_some() || (self.lost.is_none() && exists())
    }

    /// Puts the simulation of an evaluation in the place of the one that runs.
    fn begin_session(&mut self, entry: Entry, reply: Reply<Option<Box<chicane_wire::Observation>>>) {
        if self.transition.is_some() || self.running.is_none() {
            return refuse(reply, Refused::NotReady);
        }
        if self.judging.is_some() {
            return refuse(reply, Refused::Evaluating);
        }
        let (judging, loaded, at) = Judging::new(entry);
        self.swap(loaded);
        self.judging = Some(judging);
        if let (Some([x, y, yaw]), Some(running)) = (at, &mut self.running) {
            let (who, how) = (chicane_sim::Who::Vehicle, chicane_sim::How::AtOnce);
            let (x, y, yaw) = (Some(x), Some(y), Some(yaw));
            let _ = running.sim.apply(Command::Place { who, x, y, z: None, yaw, how });
            self.begin_epoch();
        }
        self.set_clock(Some(false), None);
        let seen = self.observation().map(Box::new);
        self.reply(reply, seen);
    }

    pub(super) fn set_overlay(&mut self, text: String, ttl_s: f64, size: f64) {
        let ends = (!text.is_empty()).then(|| Instant::now() + Duration::from_secs_f64(ttl_s));
        let seq = self.overlay.seq + 1;
        self.overlay = OverlayView { text: Arc::from(text), ttl_s, size, seq, ends };
    }

    pub(super) fn set_clock(&mut self, paused: Option<bool>, speed: Option<f64>) {
        let now = Instant::now();
        if paused.is_some_and(|p| p != self.pacer.paused()) {
            self.meter.restart(now);
        }
        self.pacer.set(paused, speed, now);
    }

    /// Puts a world that was loaded in the place of the one that runs.
    fn swap(&mut self, loaded: Loaded) {
        let Loaded { mut sim, place, keep_lights } = loaded;
        if let Some(old) = self.running.as_ref().filter(|_| keep_lights) {
            sim.keep_lights_of(&old.sim);
        }
        let now = Instant::now();
        if let Some(old) = &mut self.running {
            // No old command lives on, and whoever waits for one is told.
            old.stack.clear_commands();
            self.hear();
            self.answer_holds();
        }
        self.running = Some(Running::new(sim, place, now));
        self.transition = None;
        self.lost = None;
        self.pacer.restart(now);
        self.meter.restart(now);
        self.assets_version += 1;
        self.epoch += 1;
        self.tap_tick();
    }
}

/// Whether an answer that is not given yet would speak of what this order does, and not of what its own did: of another
/// pace or text, of lights that were reset, of another world.
fn changes_what_others_are_told(order: &Order) -> bool {
    match order {
        Order::Command(command, _) => matches!(command, Command::Reset),
        Order::Clock { .. } | Order::Overlay { .. } | Order::Swap { .. } | Order::Judge { .. } => true,
        _ => false,
    }
}

/// Whether the car is somewhere else afterwards.
pub(super) fn moves_the_car(command: &Command) -> bool {
    matches!(command, Command::Reset | Command::Place { who: chicane_sim::Who::Vehicle, .. })
}

/// In the record of an evaluation.
fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Place { who: chicane_sim::Who::Vehicle, .. } => "pose",
        Command::Place { .. } => "model",
        Command::SetLight { .. } => "light",
        Command::Reset => "reset",
    }
}
