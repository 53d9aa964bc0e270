//! The running world, with the robot in it.
//!
//! `Running::tick` connects robot and world: the stack gives the drive command, the world advances
//! by one tick, and the stack reads the sensors. Timeouts, timed speed commands and sounds are
//! counted in ticks. A respawn, a switch and the start of a session create a new stack. A reset
//! clears the commands and sounds of the stack and keeps its odometry. A teleport does not change
//! the stack, because a physical car would not notice a teleport either.

use super::order::{Held, Reply};
use super::published::{Exposure, RobotView, WorldView};
use crate::served_world::ServedWorld;
use chicane_journal::{Change, Recorder, Sender, SenderKind, state_hashes};
use chicane_robot::{Axis, Command as RobotCommand, Done, Hold, Stack};
use chicane_sim::{Applied, Command, Refusal, Sim, Snapshot, TICKS_PER_SECOND, sample_at};
use std::sync::Arc;
use std::time::Instant;

/// A world, its simulation and the robot in it.
pub struct Running {
    /// The simulation.
    pub sim: Sim,
    /// The robot's software.
    pub stack: Stack,
    /// The parts of the world that do not change.
    pub served: Arc<ServedWorld>,
    /// When this simulation became the running world.
    since: Instant,
    /// Contacts of the car in the last published value.
    contacts: Vec<usize>,
    /// The world at the last tick with a camera frame.
    pub exposure: Arc<Exposure>,
    /// The robot in the last published value.
    robot: RobotView,
    /// Timed speed commands that have not ended: serial number, speed in m/s, and the channel for
    /// the reply to the client.
    holds: Vec<(u64, f64, Reply<Held>)>,
    /// The journal of a judged run; `None` if no run is judged.
    journal: Option<Recorder>,
}

impl Running {
    /// A world at its start. `since` is the time at which it becomes the running world.
    pub fn new(sim: Sim, served: Arc<ServedWorld>, since: Instant) -> Running {
        let exposure = Arc::new(Exposure {
            served: Arc::clone(&served),
            seed: sim.seed(),
            snapshot: sim.snapshot(),
            frame: 0,
        });
        let mut stack = Stack::new(Arc::clone(served.nominal_profile(&sim)));
        stack.sense(&sim.readings());
        let (contacts, holds, robot) = (Vec::new(), Vec::new(), RobotView::default());
        Running { sim, stack, served, since, contacts, exposure, robot, holds, journal: None }
    }

    /// Writes commands, observations and hashes of the state to a journal from now on.
    pub(super) fn record_to(&mut self, journal: Recorder) {
        self.journal = Some(journal);
    }

    /// Writes the hashes of the state and the last entry to the journal, if there is one, and
    /// closes the journal.
    pub(super) fn end_journal(&mut self) {
        self.note_state();
        self.note(|| Change::Halted);
        self.journal = None;
    }

    /// Writes an entry to the journal, if there is one.
    pub(super) fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(journal) = &mut self.journal {
            journal.put(self.sim.tick(), &change());
        }
    }

    /// Writes the hashes of the state to the journal, if there is one.
    fn note_state(&mut self) {
        if let Some(journal) = &mut self.journal {
            let hashes = state_hashes(&self.sim, &self.stack);
            journal.put(self.sim.tick(), &Change::State(hashes));
        }
    }

    /// Applies a command to the world. After a reset the robot has no commands.
    pub fn apply(&mut self, sender: &Sender, command: Command) -> Result<Applied, Refusal> {
        // Refused commands are not written to the journal, except those of the judging script. The
        // script sees that its command was refused, so a repeated run has to refuse the command
        // again.
        let noted = self.journal.is_some().then(|| command.clone());
        let is_reset = matches!(command, Command::Reset);
        let applied = self.sim.apply(command);
        let is_noted = applied.is_ok() || sender.kind == SenderKind::Judge;
        if let Some(command) = noted.filter(|_| is_noted) {
            let sender = sender.clone();
            self.note(|| Change::World { sender, command });
        }
        if is_reset && applied.is_ok() {
            self.stack.clear_commands();
        }
        applied
    }

    /// Sends a command to the robot.
    pub fn command(
        &mut self,
        sender: &Sender,
        command: RobotCommand,
    ) -> Result<Done, chicane_robot::Refusal> {
        let tick = self.sim.tick();
        let order = self.journal.as_mut().map(|journal| journal.order(tick, &command));
        let done = self.stack.apply(command)?;
        if let Some(order) = order {
            let sender = sender.clone();
            self.note(|| Change::Robot { sender, order });
        }
        Ok(done)
    }

    /// Simulates one tick: the drive command of the robot moves the car, then the robot reads its
    /// sensors.
    pub fn tick(&mut self) {
        let readings = self.sim.step(self.stack.drive());
        self.stack.sense(&readings);
        self.expose();
        if self.sim.tick().is_multiple_of(TICKS_PER_SECOND) {
            self.note_state();
        }
    }

    /// Keeps the snapshot for the camera, if this tick has a camera frame.
    fn expose(&mut self) {
        let rate = self.sim.profile().camera.rate_hz;
        if let Some(frame) = sample_at(self.sim.tick(), rate) {
            let (served, snapshot) = (Arc::clone(&self.served), self.sim.snapshot());
            self.exposure = Arc::new(Exposure { served, seed: self.sim.seed(), snapshot, frame });
        }
    }

    /// The world as it is published.
    pub fn view(&mut self) -> WorldView {
        self.robot.update(&self.stack);
        WorldView {
            served: Arc::clone(&self.served),
            snapshot: self.sim.snapshot(),
            since: self.since,
            exposure: Arc::clone(&self.exposure),
            robot: self.robot.clone(),
        }
    }

    /// Whether the car's contacts changed since the last call.
    pub(super) fn contacts_changed(&mut self, snapshot: &Snapshot) -> bool {
        let changed = snapshot.contacts != self.contacts;
        if changed {
            self.contacts.clone_from(&snapshot.contacts);
        }
        changed
    }

    /// Adds a timed speed command that was applied.
    pub(super) fn add_hold(&mut self, serial: u64, value: f64, reply: Reply<Held>) {
        self.holds.push((serial, value, reply));
    }

    /// Removes the timed speed commands that have ended, and returns each with its reply channel.
    /// If the client of a command is gone, the command is ended, and there is no reply channel.
    pub(super) fn ended_holds(&mut self) -> Vec<(Held, Option<Reply<Held>>)> {
        let mut ended = Vec::new();
        if self.holds.is_empty() {
            return ended;
        }
        let (stack, mut given_up) = (&self.stack, Vec::new());
        self.holds.retain_mut(|(serial, value, reply)| {
            if reply.is_closed() {
                given_up.push(*serial);
                ended.push((Held { value: *value, superseded: true }, None));
                return false;
            }
            let superseded = match stack.hold(*serial) {
                Hold::Going => return true,
                Hold::Stopped => false,
                Hold::Superseded => true,
            };
            // `retain_mut` only lends the reply, so a closed channel is left in its place.
            let reply = std::mem::replace(reply, tokio::sync::oneshot::channel().0);
            ended.push((Held { value: *value, superseded }, Some(reply)));
            false
        });
        for serial in given_up {
            let end = RobotCommand::End { axis: Axis::Speed, serial };
            let _ = self.command(&SenderKind::Program.into(), end);
        }
        ended
    }
}
