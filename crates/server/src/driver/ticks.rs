//! Ticks: those that are due by the clock, and those of a step.

use super::judging::Judging;
use super::order::{Refused, Reply};
use super::run::{Driver, SLICE, refuse};
use chicane_sim::SimEvent;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A long step shows how it goes on this often.
const SHOW_STEP: Duration = Duration::from_millis(33);
/// A long step looks this often, in ticks, whether it is still wanted.
const LOOK_STEP: u64 = 32;

impl Driver {
    /// Does the ticks that are due, for a moment at most.
    pub(super) fn do_due_ticks(&mut self) {
        if self.running.is_none() || self.is_held() {
            return;
        }
        let started = Instant::now();
        let due = self.pacer.due(started);
        let mut done = 0;
        while done < due {
            self.tick();
            done += 1;
            if started.elapsed() > SLICE || self.is_held() {
                break;
            }
            if let Ok(order) = self.orders.try_recv() {
                self.next = Some(order);
                break;
            }
        }
        if done > 0 {
            self.pacer.did(done);
            self.meter.did(done);
            // With a script that judges a thousand times a second, not everyone has to see each time.
            self.stale = true;
            if !self.is_held() || self.published.elapsed() >= SLICE {
                self.publish();
            }
        }
    }

    fn tick(&mut self) {
        // Nothing moves for a client that is gone.
        self.answer_holds();
        self.drive_by_tick();
        let Some(running) = &mut self.running else { return };
        let started = Instant::now();
        running.tick();
        self.metrics.tick_time.observe(started.elapsed());
        let (mut told, mut begun) = (false, false);
        for event in running.sim.events() {
            told = true;
            if let SimEvent::Quarantined(who) = event {
                begun |= who.is_none();
                let who = who.map_or("the vehicle", |i| &running.place.names[i]);
                tracing::warn!(who, "a state that was not finite: put back to its start");
            }
        }
        if told {
            self.change();
        }
        self.epoch += u64::from(begun);
        self.tap_tick();
        self.hear();
        self.answer_holds();
        self.observe_if_due();
    }

    /// Stops time and goes on by so many ticks, whatever else waits.
    pub(super) fn step(&mut self, ticks: u64, [speed, steering]: [Option<f64>; 2], reply: Reply<()>) {
        // A session that was let run may not know yet.
        self.serve_session();
        let early = self.judging.as_ref().is_some_and(Judging::is_new);
        if self.running.is_none() || self.transition.is_some() || early {
            return refuse(reply, Refused::NotReady);
        }
        if reply.is_closed() {
            // Its client is gone; nothing was begun.
            return;
        }
        self.told("step", serde_json::json!({"ticks": ticks, "speed": speed, "steering": steering}));
        if self.unseen {
            // Orders before this one are answered as of now, not as of its end.
            self.publish();
        }
        if !self.pacer.paused() {
            self.set_clock(Some(true), None);
            self.change();
        }
        let mut shown = Instant::now();
        for done in 0..ticks {
            // A session judges on the way. Whoever steps waits for that, and for nothing else.
            while self.is_held() && !self.wait_for_session(SHOW_STEP) {
                if reply.is_closed() || self.stopping.load(Ordering::Relaxed) {
                    return self.publish();
                }
                if shown.elapsed() >= SHOW_STEP {
                    self.publish();
                    shown = Instant::now();
                }
            }
            let Some(running) = &mut self.running else { return };
            // Asked for anew at every tick: it is held while stepping.
            if speed.is_some() || steering.is_some() {
                let _ = running.stack.apply(chicane_robot::Command::Drive { speed, steering });
            }
            self.tick();
            if done % LOOK_STEP == 0 {
                if reply.is_closed() || self.stopping.load(Ordering::Relaxed) {
                    break;
                }
                if shown.elapsed() >= SHOW_STEP {
                    self.publish();
                    shown = Instant::now();
                }
            }
        }
        self.answer(reply, ());
        // The next order may well be another step: what this one did is seen first.
        self.publish();
    }
}
