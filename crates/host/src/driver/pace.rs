//! Computes how many ticks are due, and measures the real-time factor.
//!
//! Due ticks are counted from a fixed time. After a late wake-up, the missed ticks are simulated,
//! so errors do not accumulate. If the lag exceeds [`MAX_LAG`], the machine is too slow and the
//! missed ticks are dropped. The measured factor is then below the requested factor.

use chicane_sim::{TICK_S, TICKS_PER_SECOND};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Longest lag whose missed ticks are still simulated.
const MAX_LAG: Duration = Duration::from_millis(500);
/// Shortest sleep until a tick is due. At a high speed, several ticks are due after a sleep of this
/// length.
const MIN_SLEEP: Duration = Duration::from_millis(1);

/// Computes when ticks are due.
#[derive(Debug)]
pub(super) struct Pacer {
    /// Requested real-time factor; 0 is as fast as possible.
    speed: f64,
    paused: bool,
    /// The time from which due ticks are counted.
    since: Instant,
    /// Ticks simulated since `since`.
    done: u64,
}

impl Pacer {
    pub(super) fn new(speed: f64, now: Instant) -> Pacer {
        Pacer { speed, paused: false, since: now, done: 0 }
    }

    pub(super) fn speed(&self) -> f64 {
        self.speed
    }

    pub(super) fn paused(&self) -> bool {
        self.paused
    }

    /// Pauses or continues time, or changes its speed. `None` keeps a setting. The lag is kept, so
    /// that repeated calls do not slow time down.
    pub(super) fn set(&mut self, paused: Option<bool>, speed: Option<f64>, now: Instant) {
        let lag_ticks = self.lag_ticks(now);
        self.paused = paused.unwrap_or(self.paused);
        self.speed = speed.unwrap_or(self.speed);
        self.restart(now);
        if !self.paused && self.speed > 0.0 {
            let lead = Duration::from_secs_f64(lag_ticks / (self.speed * TICKS_PER_SECOND as f64));
            self.since = now.checked_sub(lead.min(MAX_LAG)).unwrap_or(now);
        }
    }

    /// Ticks that are due and not simulated yet, including the fraction of the next tick. 0 while
    /// time is paused or runs as fast as possible.
    fn lag_ticks(&self, now: Instant) -> f64 {
        if self.paused || self.speed == 0.0 {
            return 0.0;
        }
        let rate = self.speed * TICKS_PER_SECOND as f64;
        (now.saturating_duration_since(self.since).as_secs_f64() * rate - self.done as f64).max(0.0)
    }

    /// Restarts the count of due ticks at `now`, and thereby drops overdue ticks.
    pub(super) fn restart(&mut self, now: Instant) {
        self.since = now;
        self.done = 0;
    }

    /// Ticks that are due and not simulated yet.
    pub(super) fn due(&mut self, now: Instant) -> u64 {
        if self.paused {
            return 0;
        }
        if self.speed == 0.0 {
            return u64::MAX;
        }
        let rate = self.speed * TICKS_PER_SECOND as f64;
        let total = (now.saturating_duration_since(self.since).as_secs_f64() * rate) as u64;
        let due = total.saturating_sub(self.done);
        if due as f64 > MAX_LAG.as_secs_f64() * rate + 1.0 {
            self.restart(now);
            return 1;
        }
        due
    }

    /// Counts ticks that were simulated.
    pub(super) fn count_done(&mut self, ticks: u64) {
        self.done += ticks;
    }

    /// Real time until a tick is due; `None` while time is paused.
    pub(super) fn sleep(&self, now: Instant) -> Option<Duration> {
        if self.paused {
            return None;
        }
        if self.speed == 0.0 {
            return Some(Duration::ZERO);
        }
        let next_s = (self.done + 1) as f64 / (self.speed * TICKS_PER_SECOND as f64);
        let next = self.since + Duration::from_secs_f64(next_s);
        let wait = next.saturating_duration_since(now);
        Some(if wait.is_zero() { wait } else { wait.max(MIN_SLEEP) })
    }
}

/// Measures the real-time factor over the last second.
#[derive(Debug)]
pub(super) struct Meter {
    /// Pairs of a real time and the number of ticks that were simulated until this time.
    samples: VecDeque<(Instant, u64)>,
    /// Number of ticks so far.
    ticks: u64,
}

/// Real time over which the factor is measured.
const METER_WINDOW: Duration = Duration::from_secs(1);
/// Shortest real time between two samples of the meter.
const METER_SAMPLE_INTERVAL: Duration = Duration::from_millis(20);

impl Meter {
    pub(super) fn new(now: Instant) -> Meter {
        let mut samples = VecDeque::with_capacity(64);
        samples.push_back((now, 0));
        Meter { samples, ticks: 0 }
    }

    /// Starts a new measurement.
    pub(super) fn restart(&mut self, now: Instant) {
        self.samples.clear();
        self.samples.push_back((now, self.ticks));
    }

    /// Counts ticks that were simulated.
    pub(super) fn count_done(&mut self, ticks: u64) {
        self.ticks += ticks;
    }

    /// Simulated seconds per real second.
    pub(super) fn factor(&mut self, now: Instant) -> f64 {
        if self
            .samples
            .back()
            .is_none_or(|(at, _)| now.saturating_duration_since(*at) >= METER_SAMPLE_INTERVAL)
        {
            self.samples.push_back((now, self.ticks));
        }
        let old = |sample: &(Instant, u64)| now.saturating_duration_since(sample.0) > METER_WINDOW;
        while self.samples.len() > 1 && self.samples.get(1).is_some_and(old) {
            self.samples.pop_front();
        }
        let Some(&(from, ticks)) = self.samples.front() else { return 0.0 };
        let real_s = now.saturating_duration_since(from).as_secs_f64();
        if real_s < 1e-3 { 0.0 } else { (self.ticks - ticks) as f64 * TICK_S / real_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_late_wake_up_is_made_up_for() {
        let start = Instant::now();
        let mut pacer = Pacer::new(1.0, start);
        let mut done = 0;
        // The thread wakes at irregular times for a minute. The number of ticks never differs from
        // the exact number by more than one.
        let mut now = start;
        for i in 0..6000 {
            now += ms(7 + i % 7);
            let due = pacer.due(now);
            pacer.count_done(due);
            done += due;
            let exact = (now - start).as_secs_f64() * 200.0;
            assert!((exact - done as f64).abs() <= 1.0, "{done} of {exact}");
        }
        assert!(done > 11_000);
    }

    #[test]
    fn a_sleep_ends_when_the_next_tick_is_due() {
        let start = Instant::now();
        let mut pacer = Pacer::new(1.0, start);
        assert_eq!(pacer.sleep(start), Some(ms(5)));
        assert_eq!(pacer.due(start + ms(4)), 0);
        assert_eq!(pacer.due(start + ms(5)), 1);
        pacer.count_done(1);
        assert_eq!(pacer.sleep(start + ms(6)), Some(ms(4)));
        pacer.set(Some(true), None, start);
        assert_eq!((pacer.sleep(start), pacer.due(start + ms(100))), (None, 0));
        pacer.set(Some(false), Some(100.0), start);
        assert_eq!(pacer.sleep(start), Some(MIN_SLEEP), "several ticks after one sleep");
        assert_eq!(pacer.due(start + ms(1)), 20);
    }

    #[test]
    fn a_machine_that_is_too_slow_gives_up_the_lag() {
        let start = Instant::now();
        let mut pacer = Pacer::new(1.0, start);
        assert_eq!(pacer.due(start + ms(400)), 80);
        assert_eq!(pacer.due(start + ms(2000)), 1);
        assert_eq!(pacer.due(start + ms(2010)), 2);
    }

    #[test]
    fn setting_the_same_speed_repeatedly_loses_no_time() {
        let start = Instant::now();
        for (speed, ticks) in [(1.0, 600), (0.05, 30)] {
            let mut pacer = Pacer::new(speed, start);
            let mut done = 0;
            for i in 0..1500 {
                let now = start + ms(2 * i);
                pacer.set(None, Some(speed), now);
                let due = pacer.due(now);
                pacer.count_done(due);
                done += due;
            }
            assert!((done as i64 - ticks).abs() <= 1, "{done} of {ticks} at {speed}");
        }
    }

    #[test]
    fn the_factor_is_measured_over_the_last_second() {
        let start = Instant::now();
        let mut meter = Meter::new(start);
        let mut now = start;
        for speed in [1, 4] {
            for _ in 0..300 {
                now += ms(5);
                meter.count_done(speed);
                meter.factor(now);
            }
            let factor = meter.factor(now);
            assert!((factor / speed as f64 - 1.0).abs() < 0.02, "{factor} at {speed}");
        }
        meter.restart(now);
        assert_eq!(meter.factor(now), 0.0);
    }
}
