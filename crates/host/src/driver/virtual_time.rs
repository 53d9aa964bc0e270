//! Virtual time: the sim thread simulates only the ticks that the time keeper of the student's
//! program has granted.
//!
//! An order to advance comes through the inbox like every other order. Therefore commands that were
//! sent earlier take effect before the first granted tick.

use super::judging::JudgedSession;
use super::order::Reply;
use super::state::Driver;
use crate::source::Origin;
use chicane_journal::Sender;
use chicane_robot::Command as RobotCommand;
use chicane_wire::CommandName;
use std::sync::mpsc::SyncSender;

/// The ticks that a session in virtual time may simulate.
#[derive(Default)]
pub(super) struct Grant {
    /// The last granted tick, counted from the start of the run.
    until: u64,
    /// Whether the time keeper has granted ticks in this session. The first observation waits for
    /// the first grant, because the observation must show what the program did at its start, for
    /// example that it exited.
    given: bool,
    /// Channel to the time keeper. The time keeper gets a message when tick `until` is simulated
    /// and no observation up to it is still being judged. `None` after that message, and before the
    /// first grant.
    reply: Option<SyncSender<()>>,
    /// Steps of clients that have not ended.
    steps: Vec<GrantedStep>,
}

/// A step of a client. In virtual time a step waits for granted ticks.
struct GrantedStep {
    /// The last tick of the step, as a tick of the simulation and not of the run.
    until: u64,
    /// The drive command during the step: speed in m/s and steering angle in rad.
    drive: [Option<f64>; 2],
    sender: Sender,
    reply: Reply<()>,
}

impl Grant {
    /// Number of ticks that may still be simulated; `tick` is counted from the start of the run.
    pub(super) fn left(&self, tick: u64) -> u64 {
        self.until.saturating_sub(tick)
    }
}

impl Driver {
    /// Whether the session runs in virtual time.
    pub(super) fn is_virtual(&self) -> bool {
        self.session.judging.as_ref().is_some_and(|judging| judging.grant.is_some())
    }

    /// Ticks that the time keeper has granted and that are not simulated yet; `None` in real time.
    pub(super) fn granted(&self) -> Option<u64> {
        let judging = self.session.judging.as_ref()?;
        let grant = judging.grant.as_ref()?;
        let tick = self.worlds.running.as_ref().map_or(0, |running| running.sim.tick());
        Some(judging.run_tick(tick).map_or(0, |tick| grant.left(tick)))
    }

    /// Grants the ticks up to `until`, counted from the start of the run.
    pub(super) fn grant(&mut self, until: u64, reply: SyncSender<()>) {
        let grant = self.session.judging.as_mut().and_then(|judging| judging.grant.as_mut());
        // Without a session the reply is dropped, and the time keeper learns that the session is
        // over.
        if let Some(grant) = grant {
            (grant.until, grant.given, grant.reply) = (until, true, Some(reply));
        }
        self.observe_if_due();
    }

    /// Whether the session may begin to observe. In virtual time, the session may observe only
    /// after the first grant.
    pub(super) fn may_observe(&self) -> bool {
        let judging = self.session.judging.as_ref();
        judging.and_then(|judging| judging.grant.as_ref()).is_none_or(|grant| grant.given)
    }

    /// Answers the time keeper, if the granted ticks are simulated and their observations are
    /// judged.
    pub(super) fn answer_grant(&mut self) {
        let is_paused = self.session.judging.as_ref().is_some_and(JudgedSession::is_paused_by_script);
        // While the script pauses the world, observations follow the wall clock. The time keeper
        // gets no answer during the pause, so time stands still for the program too. If the program
        // continued during the pause, the observations would depend on how far the program has got.
        if self.granted() != Some(0) || self.session.is_held() || is_paused {
            return;
        }
        let grant = self.session.judging.as_mut().and_then(|judging| judging.grant.as_mut());
        let Some(reply) = grant.and_then(|grant| grant.reply.take()) else { return };
        // The program continues after this message, and the answers that it reads must describe the
        // last granted tick.
        self.publish();
        let _ = reply.try_send(());
    }

    /// Lets time run without grants at the speed before the session, because no process of the
    /// program is left, or because the time keeper has failed.
    pub(super) fn release_time(&mut self) {
        if let Some(judging) = &mut self.session.judging {
            judging.grant = None;
            judging.take_clock();
        }
        self.keep_clock_of_session();
        self.clock.forget_due();
        self.observe_if_due();
    }

    /// Begins a client's step in virtual time. The step ends when the time keeper has granted the
    /// ticks of the step and the sim thread has simulated these ticks.
    pub(super) fn begin_granted_step(
        &mut self,
        origin: &Origin,
        ticks: u64,
        drive: [Option<f64>; 2],
        reply: Reply<()>,
    ) {
        let [speed, steering] = drive;
        let detail = serde_json::json!({"ticks": ticks, "speed": speed, "steering": steering});
        self.report_command(origin, CommandName::Step, detail);
        let tick = self.worlds.running.as_ref().map_or(0, |running| running.sim.tick());
        if let Some(grant) = self.session.judging.as_mut().and_then(|judging| judging.grant.as_mut()) {
            grant.steps.push(GrantedStep { until: tick + ticks, drive, sender: origin.sender(), reply });
        }
    }

    /// Sends the drive commands of the running steps to the robot. The commands are sent again
    /// before every tick, so that they do not expire. Steps whose client is gone are removed.
    pub(super) fn drive_granted_steps(&mut self) {
        let (Some(judging), Some(running)) = (&mut self.session.judging, &mut self.worlds.running) else {
            return;
        };
        let Some(grant) = &mut judging.grant else { return };
        grant.steps.retain(|step| !step.reply.is_closed());
        for GrantedStep { drive: [speed, steering], sender, .. } in &grant.steps {
            let (speed, steering) = (*speed, *steering);
            if speed.is_some() || steering.is_some() {
                let _ = running.command(sender, RobotCommand::Drive { speed, steering });
            }
        }
    }

    /// Answers the steps that end at the present tick.
    pub(super) fn end_granted_steps(&mut self) {
        let (Some(judging), Some(running)) = (&mut self.session.judging, &self.worlds.running) else {
            return;
        };
        let Some(grant) = &mut judging.grant else { return };
        let tick = running.sim.tick();
        for step in grant.steps.extract_if(.., |step| step.until <= tick) {
            self.out.answer(step.reply, ());
        }
    }
}
