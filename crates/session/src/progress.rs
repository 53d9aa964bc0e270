//! The record as it is told: on a change, at most ten times a simulated second, the last one always.

use serde_json::Value;

/// Least simulated time between two that are told.
const LEAST_S: f64 = 0.1;

/// The record of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Progress {
    record: Value,
    told: Value,
    told_at: Option<f64>,
}

impl Progress {
    /// The last record.
    pub(crate) fn record(&self) -> &Value {
        &self.record
    }

    /// Takes in a new one.
    pub(crate) fn set(&mut self, record: Value) {
        self.record = record;
    }

    /// What is to be told now, if anything is.
    pub(crate) fn tell(&mut self, time_s: f64) -> Option<Value> {
        // Observations come by the hundredth of a second: sums of them may fall short by a rounding.
        let early = self.told_at.is_some_and(|at| time_s - at < LEAST_S - 1e-6);
        if early { None } else { self.rest(time_s) }
    }

    /// What was not told, at the end.
    pub(crate) fn rest(&mut self, time_s: f64) -> Option<Value> {
        if self.record == self.told {
            return None;
        }
        self.told = self.record.clone();
        self.told_at = Some(time_s);
        Some(self.told.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_a_second_and_the_last_one() {
        let mut progress = Progress::default();
        let mut told = Vec::new();
        for k in 0..101 {
            let time = f64::from(k) * 0.02;
            progress.set(Value::from(k));
            told.extend(progress.tell(time));
        }
        assert_eq!(told.len(), 21);
        assert_eq!(told[1], Value::from(5));
        progress.set(Value::from("last"));
        assert_eq!(progress.tell(2.02), None, "too early");
        assert_eq!(progress.tell(2.1), Some(Value::from("last")), "but not forgotten");
        assert_eq!(progress.tell(3.0), None, "no change");
        progress.set(Value::Null);
        assert_eq!(progress.rest(3.0), Some(Value::Null));
        assert_eq!(progress.rest(3.0), None);
    }
}
