//! The first difference between a run and its journal or record.

use chicane_sim::TICK_S;

/// The first difference between a recorded run and the same run simulated again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The tick of the simulation; `None` if the difference belongs to no tick.
    pub tick: Option<u64>,
    /// What differs.
    pub what: String,
}

impl Difference {
    /// A difference at a tick.
    pub(super) fn at(tick: u64, what: impl Into<String>) -> Difference {
        Difference { tick: Some(tick), what: what.into() }
    }

    /// A difference that belongs to no tick.
    pub(super) fn of(what: impl Into<String>) -> Difference {
        Difference { tick: None, what: what.into() }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tick {
            Some(tick) => write!(f, "tick {tick} ({:.3} s): {}", tick as f64 * TICK_S, self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for Difference {}
