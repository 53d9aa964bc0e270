//! Simulates ticks: the ticks that are due, and the ticks of a step.

use super::judging::JudgedSession;
use super::order::Reply;
use super::refused::Refused;
use super::state::{Driver, TIME_SLICE, refuse};
use crate::source::Origin;
use chicane_robot::Command as RobotCommand;
use chicane_sim::SimEvent;
use chicane_wire::CommandName;
use std::time::{Duration, Instant};

/// Real time between two publications during a long step.
const STEP_PUBLISH_INTERVAL: Duration = Duration::from_millis(33);
/// Number of ticks after which a long step checks again whether its client is still connected.
const STEP_CHECK_TICKS: u64 = 32;

impl Driver {
    /// Simulates the ticks that are due, for one time slice at most.
    pub(super) fn do_due_ticks(&mut self) {
        if self.worlds.running.is_none() || self.session.is_held() {
            return;
        }
        let started = Instant::now();
        let due = self.clock.due(started).min(self.granted().unwrap_or(u64::MAX));
        let mut done = 0;
        while done < due {
            self.tick();
            done += 1;
            if started.elapsed() > TIME_SLICE || self.session.is_held() || self.inbox.has_next() {
                break;
            }
        }
        if done > 0 {
            self.clock.count_done(done);
            // A fast judged run makes thousands of observations per second, and time waits at each
            // observation. While time waits, this method therefore publishes at most once per time
            // slice.
            self.out.mark_stale();
            let is_late = self.granted().is_none_or(|ticks| ticks > 0);
            if is_late && (!self.session.is_held() || self.out.age() >= TIME_SLICE) {
                self.publish();
            }
        }
    }

    /// Simulates one tick and passes its events on.
    fn tick(&mut self) {
        // `answer_holds` is called before the tick, so that the car does not drive on for a client
        // that is gone.
        self.answer_holds();
        self.drive_by_tick();
        self.drive_granted_steps();
        let Some(running) = &mut self.worlds.running else { return };
        let started = Instant::now();
        running.tick();
        self.metrics.tick_time.observe(started.elapsed());
        let (mut changed, mut car_reset) = (false, false);
        for event in running.sim.events() {
            changed = true;
            if let SimEvent::Quarantined(who) = event {
                car_reset |= who.is_none();
                let who = who.map_or("the vehicle", |i| &running.served.names[i]);
                tracing::warn!(
                    who,
                    "the state of this object was not finite, so the object was reset to its start"
                );
            }
        }
        if changed {
            self.out.change();
        }
        self.worlds.epoch += u64::from(car_reset);
        self.tap_tick();
        self.take_sounds();
        self.answer_holds();
        self.end_granted_steps();
        self.observe_if_due();
    }

    /// Pauses time and simulates a number of ticks. No other order is carried out during the step.
    /// In virtual time, this method only registers the step, which then waits for granted ticks.
    pub(super) fn step(
        &mut self,
        origin: &Origin,
        ticks: u64,
        [speed, steering]: [Option<f64>; 2],
        reply: Reply<()>,
    ) {
        let early = self.session.judging.as_ref().is_some_and(JudgedSession::is_new);
        if self.worlds.ready().is_err() || early {
            return refuse(reply, Refused::NotReady);
        }
        if reply.is_closed() {
            // The client is gone, so the step is not started.
            return;
        }
        if self.is_virtual() {
            return self.begin_granted_step(origin, ticks, [speed, steering], reply);
        }
        let detail = serde_json::json!({"ticks": ticks, "speed": speed, "steering": steering});
        self.report_command(origin, CommandName::Step, detail);
        if self.out.is_unseen() {
            // Pending replies of earlier orders must describe the state before the step.
            self.publish();
        }
        if !self.clock.paused() {
            self.clock.set(Some(true), None);
            self.out.change();
        }
        let (mut shown, sender) = (Instant::now(), origin.sender());
        for done in 0..ticks {
            if !self.wait_until_judged(&reply, &mut shown) {
                self.keep_clock_of_session();
                return self.publish();
            }
            let Some(running) = &mut self.worlds.running else { return };
            // The drive command is sent again at every tick. Otherwise it would expire during a
            // long step.
            if speed.is_some() || steering.is_some() {
                let _ = running.command(&sender, RobotCommand::Drive { speed, steering });
            }
            self.tick();
            if done % STEP_CHECK_TICKS == 0 {
                if reply.is_closed() || self.is_stopping() {
                    break;
                }
                self.publish_if_due(&mut shown);
            }
        }
        self.out.answer(reply, ());
        self.keep_clock_of_session();
        // The state is published now, because the reply is only sent with a publication, and the
        // next order may be another long step.
        self.publish();
    }

    /// Waits until the session has judged its observation. Returns false if the step has to end.
    fn wait_until_judged(&mut self, reply: &Reply<()>, shown: &mut Instant) -> bool {
        while self.session.is_held() && !self.wait_for_session(STEP_PUBLISH_INTERVAL) {
            if reply.is_closed() || self.is_stopping() {
                return false;
            }
            self.publish_if_due(shown);
        }
        true
    }

    /// Publishes if `STEP_PUBLISH_INTERVAL` has passed since `shown`, the last publication of the
    /// step.
    fn publish_if_due(&mut self, shown: &mut Instant) {
        if shown.elapsed() >= STEP_PUBLISH_INTERVAL {
            self.publish();
            *shown = Instant::now();
        }
    }
}
