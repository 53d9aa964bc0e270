//! Makes the observations of a judged session, and carries out its requests.

use super::entry::{SessionEntry, SessionRequest};
use super::judging::JudgedSession;
use super::order::Reply;
use super::refused::Refused;
use super::run_ticks::Due;
use super::state::{Driver, refuse};
use crate::observe::{self, ObservedClock};
use crate::source::Source;
use chicane_journal::{Change, SenderKind};
use chicane_robot::Command as RobotCommand;
use chicane_sim::{Command, How, Who};
use chicane_wire::Observation;
use std::sync::PoisonError;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

impl Driver {
    /// Whether a session owns the world. A session owns the world from the creation of the session
    /// until its end, also before the simulation of the session is swapped in. After a panic of the
    /// simulation, the session no longer owns the world. The world can then be loaded again while
    /// the session ends.
    pub(super) fn session_owns_world(&self) -> bool {
        let session = &self.session;
        let exists = || session.to_show.lock().unwrap_or_else(PoisonError::into_inner).evaluation.active;
        session.judging.is_some() || (self.worlds.lost.is_none() && exists())
    }

    /// Replaces the running simulation with the simulation of an evaluation. Simulated time does
    /// not advance until the session starts its run. The reply is the first observation.
    pub(super) fn begin_session(&mut self, entry: SessionEntry, reply: Reply<Option<Box<Observation>>>) {
        if let Err(why) = self.worlds.ready() {
            return refuse(reply, why);
        }
        if self.session.judging.is_some() {
            return refuse(reply, Refused::Evaluating);
        }
        let (judging, loaded, at, journal) = JudgedSession::new(entry, self.clock.speed());
        self.swap(loaded);
        if let Some(running) = &mut self.worlds.running {
            running.record_to(journal);
        }
        if let Some([x, y, yaw]) = at {
            let (who, how) = (Who::Vehicle, How::AtOnce);
            let (x, y, yaw) = (Some(x), Some(y), Some(yaw));
            let _ = self.apply(&Source::Program.into(), Command::Place { who, x, y, z: None, yaw, how });
        }
        self.session.judging = Some(judging);
        self.clock.set(Some(false), None);
        let first = self.observation().map(Box::new);
        self.reply(reply, first);
    }

    /// Real time until the next observation of a world that the script pauses; `None` if no such
    /// observation will be due.
    pub(super) fn next_paused_observation(&self, now: Instant) -> Option<Duration> {
        let judging = self.session.judging.as_ref().filter(|_| self.clock.paused())?;
        judging.next_paused_observation(now)
    }

    /// Applies the command of the recorded drive that is in force at this tick.
    pub(super) fn drive_by_tick(&mut self) {
        let (Some(judging), Some(running)) = (&mut self.session.judging, &mut self.worlds.running) else {
            return;
        };
        if let Some(at) = judging.drive_at(running.sim.tick()) {
            let drive = RobotCommand::Drive { speed: Some(at.speed), steering: Some(at.steering) };
            let _ = running.command(&SenderKind::Program.into(), drive);
        }
    }

    /// Sends an observation to the session, if one is due at this tick. If the time limit has
    /// passed, reports the limit to the session instead.
    pub(super) fn observe_if_due(&mut self) {
        let (Some(judging), Some(running)) = (&mut self.session.judging, &mut self.worlds.running) else {
            return;
        };
        if judging.is_holding() {
            return;
        }
        match judging.due(running.sim.tick()) {
            Due::Nothing => {}
            Due::Observation => self.observe(),
            Due::Limit => {
                running.note(|| Change::LimitPassed);
                judging.report_limit(running.sim.tick());
            }
        }
    }

    fn observe(&mut self) {
        let observation = self.observation();
        if let (Some(judging), Some(observation)) = (&mut self.session.judging, observation) {
            judging.observe(observation);
        }
    }

    /// The current state as a judging script gets it; `None` without a session or a world.
    fn observation(&mut self) -> Option<Observation> {
        let paused = self.clock.paused();
        let brightness = self.display.brightness;
        let (judging, running) = (self.session.judging.as_mut()?, self.worlds.running.as_mut()?);
        // If the session began in virtual time, the factor is always 1, because a measured factor
        // would differ from run to run.
        let rtf = if judging.is_virtual { 1.0 } else { self.clock.factor(Instant::now()) };
        let time_s = judging.time_s(running.sim.tick());
        let sounds = judging.take_sounds();
        let clock = ObservedClock { time_s, paused, rtf, brightness };
        running.note(|| Change::Observed { paused, rtf });
        let playing = running.stack.playing();
        Some(observe::observation(&running.served, &running.sim.snapshot(), clock, &playing, &sounds))
    }

    /// Carries out the session's requests.
    pub(super) fn serve_session(&mut self) {
        while let Some(request) = self.session.judging.as_ref().and_then(JudgedSession::try_request) {
            self.carry_out_request(request);
        }
        if self.next_paused_observation(Instant::now()).is_some_and(|left| left.is_zero()) {
            if let Some(judging) = &mut self.session.judging {
                judging.observed_paused_now();
            }
            self.observe();
        }
    }

    /// Waits for one request of the session during a step, at most for `timeout`, and carries it
    /// out. If the thread of the session has ended, the session no longer holds time. Returns
    /// whether simulated time may continue.
    pub(super) fn wait_for_session(&mut self, timeout: Duration) -> bool {
        let Some(judging) = &self.session.judging else { return true };
        match judging.wait_request(timeout) {
            Ok(request) => self.carry_out_request(request),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.session.judging = None,
        }
        !self.session.is_held()
    }

    fn carry_out_request(&mut self, request: SessionRequest) {
        match request {
            SessionRequest::Run { limit_s } => self.start_session_time(limit_s),
            SessionRequest::Resume => {
                if let Some(judging) = &mut self.session.judging {
                    judging.resume();
                }
            }
            SessionRequest::Apply(command, reply) => {
                self.publish_pending_replies();
                let is_light = matches!(command, Command::SetLight { .. });
                let done = self.apply(&Source::Judge.into(), command).map(drop);
                if done.is_ok() {
                    self.out.change();
                }
                if is_light {
                    // The keeper stores the lights of the published state, so the state must be
                    // published before the reply is sent.
                    self.publish();
                }
                // The send fails if the session gave up waiting.
                let _ = reply.try_send(done);
            }
            SessionRequest::Overlay { text, ttl_s, size } => {
                self.publish_pending_replies();
                self.set_overlay(&Source::Judge.into(), text, ttl_s, size);
                self.out.change();
            }
            SessionRequest::Pause(paused) => {
                self.publish_pending_replies();
                self.set_clock(&Source::Judge.into(), Some(paused), None);
                self.out.change();
            }
            SessionRequest::TakeClock => {
                if let Some(judging) = &mut self.session.judging {
                    judging.take_clock();
                }
                self.keep_clock_of_session();
            }
            SessionRequest::Brightness(value, reply) => {
                self.set_brightness(&Source::Judge.into(), value);
                self.out.change();
                self.publish();
                let _ = reply.try_send(());
            }
            SessionRequest::Halt(reply) => {
                let _ = reply.try_send(self.halt_session());
            }
        }
    }

    fn start_session_time(&mut self, limit_s: f64) {
        let (Some(judging), Some(running)) = (&mut self.session.judging, &mut self.worlds.running) else {
            return;
        };
        judging.start(running.sim.tick(), limit_s);
        running.note(|| Change::Started);
        self.clock.forget_due();
        if self.may_observe() {
            self.observe_if_due();
        }
    }

    /// Ends the session: the car stops, and time no longer waits for the judge. Returns the
    /// simulated seconds of the session.
    fn halt_session(&mut self) -> f64 {
        // The clock is changed below. Pending replies are sent before this change, because each of
        // them must show the clock as its client set it.
        self.publish_pending_replies();
        let Some(judging) = self.session.judging.take() else { return 0.0 };
        let Some(running) = &mut self.worlds.running else { return 0.0 };
        let time_s = judging.time_s(running.sim.tick());
        running.end_journal();
        let _ = running.stack.apply(RobotCommand::Speed(0.0));
        self.answer_holds();
        // A pause or another real-time factor that was set during the run ends with the run. If
        // time runs only during sessions, time is paused now.
        self.clock.set(Some(self.session.only_sessions), Some(judging.speed()));
        self.clock.forget_due();
        self.out.change();
        time_s
    }

    /// Lets time continue at the speed before the session, if the student's program has exited or
    /// the time keeper has failed. A step pauses time, so a program that exits after a step would
    /// otherwise leave the session waiting. A pause of the script stays in force.
    pub(super) fn keep_clock_of_session(&mut self) {
        let Some(judging) = self.session.judging.as_ref().filter(|j| j.has_clock()) else { return };
        if !judging.is_paused_by_script() {
            let speed = judging.speed();
            self.publish_pending_replies();
            self.clock.set(Some(false), Some(speed));
            self.clock.forget_due();
            self.out.change();
        }
    }
}
