//! The loop of the sim thread. Each turn carries out orders, publishes, and simulates ticks.

use super::inbox::Disconnected;
use super::order::Envelope;
use super::published::OverlayView;
use super::state::{Driver, TIME_SLICE};
use chicane_robot::audio::AudioEvent as SoundEvent;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of orders that are carried out between two publications.
const MAX_ORDERS_PER_TURN: usize = 256;

impl Driver {
    /// Runs the loop until the thread has to stop or every sender of the inbox is gone.
    pub(super) fn run(mut self) {
        while !self.is_stopping() {
            match catch_unwind(AssertUnwindSafe(|| self.run_once())) {
                Ok(Ok(())) => {}
                Ok(Err(Disconnected)) => return,
                Err(_) => self.drop_panicked_world(),
            }
        }
    }

    /// Runs one turn of the loop.
    fn run_once(&mut self) -> Result<(), Disconnected> {
        if let Some(order) = self.wait()? {
            self.carry_out(order);
            for _ in 1..MAX_ORDERS_PER_TURN {
                let Some(order) = self.inbox.try_next() else { break };
                self.carry_out(order);
            }
        }
        self.serve_session();
        self.answer_holds();
        self.expire_overlay();
        if self.out.is_unseen() || (self.is_late() && self.out.age() >= TIME_SLICE) {
            self.publish();
        }
        self.do_due_ticks();
        self.answer_grant();
        Ok(())
    }

    /// Whether the published value is stale and has to be replaced after a time slice. In virtual
    /// time, a value is published when the granted ticks are simulated, so that the program's
    /// streams do not depend on the wall clock. Many ticks are granted only if the program has no
    /// streams.
    fn is_late(&self) -> bool {
        self.out.is_stale() && self.granted().is_none_or(|ticks| ticks > 0)
    }

    /// Waits for the next order. Returns `None` if a tick, a publication, the end of the overlay or
    /// an observation is due first.
    fn wait(&mut self) -> Result<Option<Envelope>, Disconnected> {
        let now = Instant::now();
        let runs = self.worlds.running.is_some() && !self.session.is_held();
        let runs = runs && self.granted() != Some(0);
        let tick = if runs { self.clock.sleep(now) } else { None };
        let overlay = self.display.overlay.ends.map(|ends| ends.saturating_duration_since(now));
        let late = self.is_late().then_some(TIME_SLICE);
        let paused = self.next_paused_observation(now);
        let timeout = [tick, overlay, paused, late].into_iter().flatten().min();
        self.inbox.wait(timeout)
    }

    fn expire_overlay(&mut self) {
        if self.display.overlay.ends.is_some_and(|ends| Instant::now() >= ends) {
            let old = self.display.overlay.clone();
            self.display.overlay = OverlayView { text: Arc::from(""), ends: None, ..old };
            self.out.change();
        }
    }

    /// Drops a simulation that panicked. The host then loads its world again.
    fn drop_panicked_world(&mut self) {
        if let Some(running) = self.worlds.running.take() {
            tracing::error!(
                world = &*running.served.name,
                "the simulation failed; its world is loaded again"
            );
            self.worlds.lost = Some(running.served.name.clone());
            // Listeners have to stop the sounds of the dropped world.
            self.out.sounds.push((0.0, SoundEvent::StopAll));
        }
        if let Some(judging) = self.session.judging.take() {
            judging.report_lost();
        }
        // Clients that wait for a reply see a closed channel and report a failure.
        self.out.drop_replies();
        self.out.change();
        self.publish();
    }
}
