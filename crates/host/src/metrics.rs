//! Metrics of the running simulator, in the text format of Prometheus.

use chicane_wire::Outcome;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Metrics of the sim thread, the event stream, the evaluations and the backups.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Real time that the simulation of a tick takes. The count of the histogram is the number of
    /// ticks.
    pub tick_time: Histogram,
    /// Real time from an order to its reply. Orders of `Simulator::send_when_free`, which waits
    /// while the inbox is full, are not measured.
    pub command_latency: Histogram,
    /// Measured real-time factor.
    pub rtf: Gauge,
    /// Number of open event streams.
    pub subscribers: AtomicI64,
    /// State frames that slow subscribers missed.
    pub dropped_frames: AtomicU64,
    /// State frames made so far.
    pub frames: AtomicU64,
    /// Number of evaluations that ended with each outcome, in the order of [`Outcome::ALL`].
    evaluations: [AtomicU64; Outcome::ALL.len()],
    /// Simulated time of all evaluations that ended, ms.
    evaluated_ms: AtomicU64,
    /// Time of the newest backup in seconds since 1970. While there is no backup, the time at which
    /// `--backup` took effect; 0 without `--backup`.
    backup: AtomicU64,
}

/// Upper bounds of the buckets, s.
const BOUNDS: [f64; 14] = [2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 1e-1, 1.0];

/// A histogram of durations.
#[derive(Debug, Default)]
pub struct Histogram {
    /// Number of durations in each bucket. The last bucket has no upper bound.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    /// Sum of all durations, ns.
    nanoseconds: AtomicU64,
}

impl Histogram {
    /// Counts a duration.
    pub fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|b| seconds <= *b).unwrap_or(BOUNDS.len());
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|b| b.load(Relaxed)).sum()
    }

    fn write(&self, text: &mut String, name: &str, help: &str) {
        head(text, name, "histogram", help);
        let mut sum = 0;
        for (count, bound) in self.buckets.iter().zip(BOUNDS) {
            sum += count.load(Relaxed);
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {sum}");
        }
        sum += self.buckets[BOUNDS.len()].load(Relaxed);
        let seconds = self.nanoseconds.load(Relaxed) as f64 * 1e-9;
        let _ =
            writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {sum}\n{name}_sum {seconds}\n{name}_count {sum}");
    }
}

/// A value that can increase and decrease.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Replaces the value.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Relaxed);
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }
}

/// Appends the `HELP` and `TYPE` lines of a metric.
pub fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Appends a metric that has one value.
pub fn single(text: &mut String, name: &str, kind: &str, help: &str, value: f64) {
    head(text, name, kind, help);
    let _ = writeln!(text, "{name} {value}");
}

impl Metrics {
    /// Counts an evaluation that ended after `time_s` simulated seconds.
    pub fn count_evaluation(&self, outcome: Outcome, time_s: f64) {
        if let Some(place) = Outcome::ALL.iter().position(|known| *known == outcome) {
            self.evaluations[place].fetch_add(1, Relaxed);
        }
        self.evaluated_ms.fetch_add((time_s * 1e3) as u64, Relaxed);
    }

    /// Stores the time of the newest backup. At the start of `--backup`, the caller passes the time
    /// of the newest existing backup, or the current time if there is none.
    pub fn note_backup(&self, time: SystemTime) {
        let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        self.backup.store(seconds, Relaxed);
    }

    fn write_evaluations(&self, text: &mut String) {
        let name = "chicane_evaluations_total";
        head(text, name, "counter", "Evaluations that ended since the start, by outcome.");
        for (outcome, count) in Outcome::ALL.iter().zip(&self.evaluations) {
            let _ = writeln!(text, "{name}{{outcome=\"{}\"}} {}", outcome.name(), count.load(Relaxed));
        }
        let seconds = self.evaluated_ms.load(Relaxed) as f64 * 1e-3;
        let help = "Simulated time of the evaluations that ended.";
        single(text, "chicane_evaluation_seconds_total", "counter", help, seconds);
        let backup = self.backup.load(Relaxed);
        if backup > 0 {
            let help = "Time of the last backup. Before the first one, the start of the simulator.";
            single(text, "chicane_backup_timestamp_seconds", "gauge", help, backup as f64);
        }
    }

    /// Appends all metrics to the text.
    pub fn write(&self, text: &mut String) {
        single(text, "chicane_ticks_total", "counter", "Ticks simulated.", self.tick_time.count() as f64);
        let help = "Simulated seconds per real second, over the last second.";
        single(text, "chicane_real_time_factor", "gauge", help, self.rtf.get());
        let subscribers = self.subscribers.load(Relaxed) as f64;
        single(text, "chicane_event_subscribers", "gauge", "Open event streams.", subscribers);
        let frames = self.frames.load(Relaxed) as f64;
        let help = "State frames made for event streams.";
        single(text, "chicane_state_frames_total", "counter", help, frames);
        let dropped = self.dropped_frames.load(Relaxed) as f64;
        let help = "State frames that slow subscribers missed.";
        single(text, "chicane_dropped_frames_total", "counter", help, dropped);
        self.write_evaluations(text);
        self.tick_time.write(text, "chicane_tick_seconds", "Real time of a tick.");
        self.command_latency.write(text, "chicane_command_seconds", "Real time from a command to its reply.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let metrics = Metrics::default();
        for us in [1, 3, 30, 3_000_000] {
            metrics.tick_time.observe(Duration::from_micros(us));
        }
        metrics.rtf.set(0.5);
        metrics.count_evaluation(Outcome::Timeout, 2.5);
        let mut text = String::new();
        metrics.write(&mut text);
        for line in [
            "chicane_ticks_total 4",
            "chicane_real_time_factor 0.5",
            "chicane_evaluations_total{outcome=\"finished\"} 0",
            "chicane_evaluations_total{outcome=\"timeout\"} 1",
            "chicane_evaluation_seconds_total 2.5",
            "chicane_tick_seconds_bucket{le=\"0.000002\"} 1",
            "chicane_tick_seconds_bucket{le=\"0.00005\"} 3",
            "chicane_tick_seconds_bucket{le=\"1\"} 3",
            "chicane_tick_seconds_bucket{le=\"+Inf\"} 4",
            "chicane_tick_seconds_count 4",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} in\n{text}");
        }
    }
}
