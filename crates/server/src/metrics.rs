//! What an operator may want to know, in the text format that Prometheus reads.

use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Time of one tick; its count is the number of ticks.
    pub(crate) tick_time: Histogram,
    /// From an order to its answer.
    pub(crate) command_latency: Histogram,
    pub(crate) rtf: Gauge,
    pub(crate) subscribers: AtomicI64,
    pub(crate) connections: AtomicI64,
    /// State frames that subscribers were too slow for.
    pub(crate) dropped_frames: AtomicU64,
    pub(crate) frames: AtomicU64,
    /// Answers by the first digit of their status, 1 to 5.
    pub(crate) answers: [AtomicU64; 5],
}

/// Upper bounds of the buckets, seconds.
const BOUNDS: [f64; 14] = [2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 1e-1, 1.0];

/// How often durations fell into each bucket.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Histogram {
    pub(crate) fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|b| seconds <= *b).unwrap_or(BOUNDS.len());
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
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

/// A number that goes up and down.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicU64);

impl Gauge {
    pub(crate) fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Relaxed);
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

impl Metrics {
    /// All of it as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(4096);
        let mut one = |name: &str, kind: &str, help: &str, value: f64| {
            head(&mut text, name, kind, help);
            let _ = writeln!(text, "{name} {value}");
        };
        one("chicane_ticks_total", "counter", "Ticks simulated.", self.tick_time.count() as f64);
        one(
            "chicane_real_time_factor",
            "gauge",
            "Simulated seconds in a real one, over the last second.",
            self.rtf.get(),
        );
        let subscribers = self.subscribers.load(Relaxed) as f64;
        one("chicane_event_subscribers", "gauge", "Open event streams.", subscribers);
        let connections = self.connections.load(Relaxed) as f64;
        one("chicane_connections", "gauge", "Open connections.", connections);
        let frames = self.frames.load(Relaxed) as f64;
        one("chicane_state_frames_total", "counter", "State frames made for event streams.", frames);
        let dropped = self.dropped_frames.load(Relaxed) as f64;
        one("chicane_dropped_frames_total", "counter", "State frames that slow readers missed.", dropped);
        head(&mut text, "chicane_http_answers_total", "counter", "Answers by class of status.");
        for (class, count) in self.answers.iter().enumerate() {
            let (class, count) = (class + 1, count.load(Relaxed));
            let _ = writeln!(text, "chicane_http_answers_total{{class=\"{class}xx\"}} {count}");
        }
        self.tick_time.write(&mut text, "chicane_tick_seconds", "Real time that a tick took.");
        self.command_latency.write(&mut text, "chicane_command_seconds", "From a command to its answer.");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let metrics = Metrics::default();
        for us in [1, 3, 30, 3_000_000] {
            metrics.tick_time.observe(Duration::from_micros(us));
        }
        metrics.rtf.set(0.5);
        let text = metrics.text();
        for line in [
            "chicane_ticks_total 4",
            "chicane_real_time_factor 0.5",
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
