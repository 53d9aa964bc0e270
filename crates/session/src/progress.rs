//! Decides when the record of a session, the value that its script has recorded, is published:
//! after a change, at most ten times per simulated second. The last record is always published.

use serde_json::Value;

/// Shortest simulated time between two published records, in seconds.
const MIN_INTERVAL_S: f64 = 0.1;

/// The current record of a session, and the last published record.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Progress {
    record: Value,
    published: Value,
    /// Simulated time of the last publication, in seconds; `None` before the first one.
    published_at: Option<f64>,
}

impl Progress {
    /// The current record.
    pub(crate) fn record(&self) -> &Value {
        &self.record
    }

    /// Replaces the record.
    pub(crate) fn set(&mut self, record: Value) {
        self.record = record;
    }

    /// Returns the record if it has to be published now, and notes that it was published. `None` if
    /// the published record is the same, or if the last publication was less than
    /// [`MIN_INTERVAL_S`] ago.
    pub(crate) fn publish(&mut self, time_s: f64) -> Option<Value> {
        // The tolerance covers rounding errors of the times.
        let early = self.published_at.is_some_and(|at| time_s - at < MIN_INTERVAL_S - 1e-6);
        if early { None } else { self.publish_last(time_s) }
    }

    /// Returns the record if it was not published yet, and notes that it was published; `None` if
    /// it was. The interval is ignored, because no later call follows at the end of a session.
    pub(crate) fn publish_last(&mut self, time_s: f64) -> Option<Value> {
        if self.record == self.published {
            return None;
        }
        self.published = self.record.clone();
        self.published_at = Some(time_s);
        Some(self.published.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_ten_records_a_second_and_always_the_last() {
        let mut progress = Progress::default();
        let mut published = Vec::new();
        for k in 0..101 {
            let time = f64::from(k) * 0.02;
            progress.set(Value::from(k));
            published.extend(progress.publish(time));
        }
        assert_eq!(published.len(), 21);
        assert_eq!(published[1], Value::from(5));
        progress.set(Value::from("last"));
        assert_eq!(progress.publish(2.02), None, "too early");
        assert_eq!(progress.publish(2.1), Some(Value::from("last")), "published later");
        assert_eq!(progress.publish(3.0), None, "no change");
        progress.set(Value::Null);
        assert_eq!(progress.publish_last(3.0), Some(Value::Null));
        assert_eq!(progress.publish_last(3.0), None);
    }
}
