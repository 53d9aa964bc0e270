//! The world that runs, with the robot in it: the loop between them, and what the robot is asked for.

use super::Place;
use super::order::{Held, Refused, Reply};
use super::published::{Exposure, RobotView};
use super::run::{Driver, refuse};
use super::taps::Moment;
use chicane_robot::{Axis, Command, Done, Hold, Stack};
use chicane_ros::Sample;
use chicane_sim::{Sim, TICK_S, sample_at};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// A world, its simulation and the robot in it.
pub(super) struct Running {
    pub(super) sim: Sim,
    pub(super) stack: Stack,
    pub(super) place: Arc<Place>,
    pub(super) since: Instant,
    pub(super) contacts: Vec<usize>,
    pub(super) exposure: Arc<Exposure>,
    pub(super) robot: RobotView,
    /// Who waits for the end of a held speed, and its number.
    pub(super) holds: Vec<(u64, f64, Reply<Held>)>,
}

impl Running {
    pub(super) fn new(sim: Sim, place: Arc<Place>, since: Instant) -> Running {
        let exposure = Arc::new(Exposure {
            place: Arc::clone(&place),
            seed: sim.seed(),
            snapshot: sim.snapshot(),
            frame: 0,
        });
        let mut stack = Stack::new(Arc::clone(sim.profile()));
        stack.sense(&sim.readings());
        let (contacts, holds, robot) = (Vec::new(), Vec::new(), RobotView::default());
        Running { sim, stack, place, since, contacts, exposure, robot, holds }
    }

    /// The one loop: what the robot asks for moves the world, and what the world shows is sensed.
    pub(super) fn tick(&mut self) {
        let readings = self.sim.step(self.stack.drive());
        self.stack.sense(&readings);
        self.expose();
    }

    /// Keeps the world as the camera sees it, if a frame falls on this tick.
    fn expose(&mut self) {
        let rate = self.sim.profile().camera.rate_hz;
        if let Some(frame) = sample_at(self.sim.tick(), rate) {
            let (place, snapshot) = (Arc::clone(&self.place), self.sim.snapshot());
            self.exposure = Arc::new(Exposure { place, seed: self.sim.seed(), snapshot, frame });
        }
    }
}

impl Driver {
    /// The car is somewhere else, or time began anew: whoever believes to know where it is has to look again.
    pub(super) fn begin_epoch(&mut self) {
        self.epoch += 1;
        if let Some(running) = &self.running {
            let (tick, epoch) = (running.sim.tick(), self.epoch);
            self.taps.put(|| Moment {
                at: SystemTime::now(),
                sample: Sample::epoch_only(tick, epoch),
                frame: None,
            });
        }
    }

    /// Hands what the robot says at this tick to those who want every tick.
    pub(super) fn tap_tick(&self) {
        let Some(running) = &self.running else { return };
        self.taps.put(|| {
            let tick = running.sim.tick();
            let sample = Sample::at(tick, self.epoch, running.stack.topics(), running.sim.profile());
            let frame = sample.frame.then(|| (Arc::clone(&running.exposure), self.brightness));
            Moment { at: SystemTime::now(), sample, frame }
        });
    }

    pub(super) fn ask_robot(&mut self, command: Command, world: Option<u64>, reply: Reply<Done>) {
        let current = world.is_none_or(|world| world == self.assets_version);
        // What ends a command may come at any time: a world that fails to load leaves this one as it is.
        let ends = matches!(command, Command::Release { .. } | Command::End { .. });
        let taken = current && (ends || self.transition.is_none());
        let Some(running) = self.running.as_mut().filter(|_| taken) else {
            return refuse(reply, Refused::NotReady);
        };
        match running.stack.apply(command) {
            Ok(done) => {
                self.hear();
                self.answer_holds();
                self.answer(reply, done);
            }
            Err(refusal) => refuse(reply, Refused::ByRobot(refusal)),
        }
    }

    pub(super) fn hold(&mut self, speed: f64, ticks: u64, reply: Reply<Held>) {
        let Some(running) = self.running.as_mut().filter(|_| self.transition.is_none()) else {
            return refuse(reply, Refused::NotReady);
        };
        if reply.is_closed() {
            // Its client is gone; nothing was begun.
            return;
        }
        let command = Command::Hold { speed, ticks };
        if let Ok(Done::Commanded { serial, value }) = running.stack.apply(command) {
            running.holds.push((serial, value, reply));
            self.unseen = true;
        }
        self.answer_holds();
    }

    /// Answers those whose held speed has ended; ends those whose client is gone.
    pub(super) fn answer_holds(&mut self) {
        let Some(running) = self.running.as_mut().filter(|running| !running.holds.is_empty()) else { return };
        let mut ended = Vec::new();
        running.holds.retain_mut(|(serial, value, reply)| {
            if reply.is_closed() {
                let end = Command::End { axis: Axis::Speed, serial: *serial };
                let _ = running.stack.apply(end);
                self.unseen = true;
                return false;
            }
            let superseded = match running.stack.hold(*serial) {
                Hold::Going => return true,
                Hold::Stopped => false,
                Hold::Superseded => true,
            };
            // The place of the reply is taken by one that nobody waits for.
            let reply = std::mem::replace(reply, tokio::sync::oneshot::channel().0);
            ended.push((Held { value: *value, superseded }, reply));
            false
        });
        for (held, reply) in ended {
            self.answer(reply, held);
        }
    }

    /// Takes note of what happened to sounds. It is told when it can be seen.
    pub(super) fn hear(&mut self) {
        let Some(running) = &mut self.running else { return };
        let time_s = running.sim.tick() as f64 * TICK_S;
        let events = running.stack.take_audio_events();
        if let Some(judging) = self.judging.as_mut().filter(|_| !events.is_empty()) {
            judging.hear(&events);
        }
        self.heard.extend(events.into_iter().map(|event| (time_s, event)));
    }
}
