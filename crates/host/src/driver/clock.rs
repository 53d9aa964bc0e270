//! The clock of a simulation: its requested speed, and its measured speed.

use super::pace::{Meter, Pacer};
use std::time::{Duration, Instant};

/// Computes when ticks are due, and measures the real-time factor.
pub(super) struct SimClock {
    pacer: Pacer,
    meter: Meter,
}

impl SimClock {
    pub(super) fn new(speed: f64, now: Instant) -> SimClock {
        SimClock { pacer: Pacer::new(speed, now), meter: Meter::new(now) }
    }

    /// Whether time is paused.
    pub(super) fn paused(&self) -> bool {
        self.pacer.paused()
    }

    /// Requested real-time factor; 0 is as fast as possible.
    pub(super) fn speed(&self) -> f64 {
        self.pacer.speed()
    }

    /// Pauses or continues time, or changes its speed. `None` keeps a setting.
    pub(super) fn set(&mut self, paused: Option<bool>, speed: Option<f64>) {
        let now = Instant::now();
        if paused.is_some_and(|p| p != self.pacer.paused()) {
            self.meter.restart(now);
        }
        self.pacer.set(paused, speed, now);
    }

    /// Drops the ticks that became due during a wait. Otherwise time would run faster after the
    /// wait to make up for these ticks.
    pub(super) fn forget_due(&mut self) {
        self.pacer.restart(Instant::now());
    }

    /// Restarts the count of due ticks and the measurement, because another world was loaded.
    pub(super) fn restart(&mut self, now: Instant) {
        self.pacer.restart(now);
        self.meter.restart(now);
    }

    /// Ticks that are due and not simulated yet.
    pub(super) fn due(&mut self, now: Instant) -> u64 {
        self.pacer.due(now)
    }

    /// Counts ticks that were simulated because they were due.
    pub(super) fn count_done(&mut self, ticks: u64) {
        self.pacer.count_done(ticks);
        self.meter.count_done(ticks);
    }

    /// Real time until a tick is due; `None` while time is paused.
    pub(super) fn sleep(&self, now: Instant) -> Option<Duration> {
        self.pacer.sleep(now)
    }

    /// Measured real-time factor over the last second; 0 while time is paused.
    pub(super) fn factor(&mut self, now: Instant) -> f64 {
        if self.paused() { 0.0 } else { self.meter.factor(now) }
    }
}
