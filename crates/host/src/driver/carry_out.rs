//! Carries out orders.

use super::commands::robot_values;
use super::entry::Loaded;
use super::judging::JudgedSession;
use super::order::{Envelope, Held, Order, Reply};
use super::refused::Refused;
use super::running::Running;
use super::state::{Driver, refuse};
use crate::source::Origin;
use chicane_robot::{Command as RobotCommand, Done};
use chicane_sim::{Applied, Command};
use chicane_wire::{CommandName, Num, Transition, TransitionKind};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

impl Driver {
    /// Carries out one order.
    pub(super) fn carry_out(&mut self, envelope: Envelope) {
        let Envelope { origin, order } = envelope;
        if self.session.judging.as_ref().is_some_and(JudgedSession::is_new) {
            // The session's request to start time may still wait in the session's channel, because
            // this thread was busy. A client that saw the start may have sent this order. The
            // request is therefore carried out first, so that the order counts as part of the run.
            self.serve_session();
        }
        if changes_pending_replies(&order) {
            self.publish_pending_replies();
        }
        match order {
            Order::Command(command, reply) => self.command(&origin, command, reply),
            Order::Robot { command, world, reply } => self.ask_robot(&origin, command, world, reply),
            Order::Hold { speed, ticks, reply } => self.hold(&origin, speed, ticks, reply),
            Order::Clock { paused, speed, reply } => {
                self.set_clock(&origin, paused, speed);
                self.reply(reply, ());
            }
            Order::Step { ticks, speed, steering, reply } => {
                self.step(&origin, ticks, [speed, steering], reply);
            }
            Order::Overlay { text, ttl_s, size, reply } => {
                let values = json!({"text": text, "ttl": ttl_s, "size": size});
                self.report_command(&origin, CommandName::Overlay, values);
                self.set_overlay(&origin, text, ttl_s, size);
                self.reply(reply, ());
            }
            Order::Brightness(value, reply) => {
                self.report_command(&origin, CommandName::Brightness, json!({"value": value}));
                self.set_brightness(&origin, value);
                self.reply(reply, ());
            }
            Order::BeginTransition { kind, target, required_world, reply } => {
                self.begin_transition(kind, target, required_world, reply)
            }
            Order::Progress(fraction) => {
                if let Some(transition) = &mut self.worlds.transition {
                    transition.progress = Num(fraction);
                    self.out.change();
                }
            }
            Order::Installing(installing, reply) => {
                self.worlds.installing = installing;
                self.reply(reply, ());
            }
            Order::Swap { loaded, reply } => {
                self.swap(*loaded);
                self.reply(reply, ());
            }
            Order::AbortTransition(reply) => {
                self.worlds.transition = None;
                self.reply(reply, ());
            }
            Order::Judge { entry, reply } => self.begin_session(*entry, reply),
            Order::Advance { tick, reply } => self.grant(tick, reply),
            Order::ReleaseTime => self.release_time(),
            Order::Wake => {
                if self.session.status_to_show() != self.session.status {
                    self.out.mark_unseen();
                }
            }
            Order::Stop => {}
        }
    }

    fn command(&mut self, origin: &Origin, command: Command, reply: Reply<Applied>) {
        match self.apply(origin, command) {
            Ok(applied) => self.reply(reply, applied),
            Err(why) => refuse(reply, why),
        }
    }

    /// Sends a command to the robot. If `world` is given, the command is refused unless the running
    /// world has this number (`Published::assets_version`).
    fn ask_robot(&mut self, origin: &Origin, command: RobotCommand, world: Option<u64>, reply: Reply<Done>) {
        let counted = if self.counts_robot_commands(origin) { robot_values(&command) } else { None };
        let current = world.is_none_or(|world| world == self.worlds.assets_version);
        // `Release` and `End` are accepted during a transition, because the running world continues
        // if the new world fails to load. If these commands were refused, the car of the running
        // world would then drive on.
        let ends = matches!(command, RobotCommand::Release { .. } | RobotCommand::End { .. });
        let accepted = current && (ends || self.worlds.transition.is_none());
        let Some(running) = self.worlds.running.as_mut().filter(|_| accepted) else {
            return refuse(reply, Refused::NotReady);
        };
        match running.command(&origin.sender(), command) {
            Ok(done) => {
                if let Some(values) = counted {
                    self.count_robot_command(origin, &values);
                }
                self.take_sounds();
                self.answer_holds();
                self.out.answer(reply, done);
            }
            Err(refusal) => refuse(reply, Refused::ByRobot(refusal)),
        }
    }

    /// Starts a timed speed command. The reply is sent when the command ends.
    fn hold(&mut self, origin: &Origin, speed: f64, ticks: u64, reply: Reply<Held>) {
        let running = match self.worlds.ready() {
            Ok(running) => running,
            Err(why) => return refuse(reply, why),
        };
        if reply.is_closed() {
            // The client is gone, so the command is not started.
            return;
        }
        let command = RobotCommand::Hold { speed, ticks };
        let values = robot_values(&command);
        if let Ok(Done::Commanded { serial, value }) = running.command(&origin.sender(), command) {
            running.add_hold(serial, value, reply);
            self.out.mark_unseen();
            if let Some(values) = values.filter(|_| self.counts_robot_commands(origin)) {
                self.count_robot_command(origin, &values);
            }
        }
        self.answer_holds();
    }

    /// Registers that a world is being loaded. Only one transition is open at a time. For a
    /// respawn, `required_world` is the name of the world that is loaded again. If another world
    /// runs by now, the transition is refused.
    fn begin_transition(
        &mut self,
        kind: TransitionKind,
        target: Arc<str>,
        required_world: Option<Arc<str>>,
        reply: Reply<()>,
    ) {
        if self.session_owns_world() {
            return refuse(reply, Refused::Evaluating);
        }
        let worlds = &self.worlds;
        let current = worlds.running.as_ref().map(|r| &r.served.name).or(worlds.lost.as_ref());
        if worlds.transition.is_some() || required_world.as_ref().is_some_and(|world| current != Some(world))
        {
            return refuse(reply, Refused::Switching);
        }
        self.worlds.transition = Some(Transition { kind, target, progress: Num(0.0) });
        self.reply(reply, ());
    }

    /// Replaces the running world with a loaded world.
    pub(super) fn swap(&mut self, loaded: Loaded) {
        let Loaded { mut sim, served, keep_lights } = loaded;
        if let Some(old) = self.worlds.running.as_ref().filter(|_| keep_lights) {
            sim.keep_lights_of(&old.sim);
        }
        let now = Instant::now();
        if let Some(old) = &mut self.worlds.running {
            // The commands of the old world end here, so that a client that waits for the end of
            // its command gets a reply.
            old.stack.clear_commands();
            self.take_sounds();
            self.answer_holds();
        }
        self.display.enter_world(served.brightness());
        self.worlds.running = Some(Running::new(sim, served, now));
        self.worlds.transition = None;
        self.worlds.lost = None;
        self.worlds.assets_version += 1;
        self.worlds.epoch += 1;
        self.clock.restart(now);
        self.tap_tick();
    }
}

/// Whether the state has to be published and pending replies have to be sent before this order is
/// carried out. Otherwise those replies would already show the effect of this order: another speed
/// or pause, another text, another world or simulation, or lights that were reset.
fn changes_pending_replies(order: &Order) -> bool {
    match order {
        Order::Command(command, _) => matches!(command, Command::Reset),
        Order::Clock { .. } | Order::Overlay { .. } | Order::Swap { .. } | Order::Judge { .. } => true,
        _ => false,
    }
}
