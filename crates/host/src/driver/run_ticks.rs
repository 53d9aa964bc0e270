//! The ticks of a judged run: its start, its observations and its time limit.

use chicane_sim::{TICK_S, TICKS_PER_SECOND};

/// Ticks between two observations.
const OBSERVATION_TICKS: u64 = TICKS_PER_SECOND / 50;

/// What a run needs at one tick, before the next tick is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// The judge has to observe this tick.
    Observation,
    /// The run has to end, because the time limit has passed. The tick is not observed.
    Limit,
}

/// The ticks at which a run starts, has its next observation, and passes its time limit.
#[derive(Debug, Clone, Copy)]
pub struct RunTicks {
    /// The tick at which the session began to run.
    start: u64,
    /// The tick of the next observation.
    next: u64,
    /// The first tick past the time limit.
    limit: u64,
}

impl RunTicks {
    /// A run that starts at this tick.
    pub fn new(tick: u64, limit_s: f64) -> RunTicks {
        // Half a tick is added to round the limit, because a limit such as 0.3 s has no exact
        // binary representation.
        let limit = tick + (limit_s * TICKS_PER_SECOND as f64 + 0.5) as u64 + 1;
        RunTicks { start: tick, next: tick, limit }
    }

    /// A tick of the simulation, counted from the start of the run.
    pub fn since_start(&self, tick: u64) -> u64 {
        tick.saturating_sub(self.start)
    }

    /// Simulated seconds since the start of the run.
    pub fn time_s(&self, tick: u64) -> f64 {
        self.since_start(tick) as f64 * TICK_S
    }

    /// What the run needs at this tick.
    pub fn due(&self, tick: u64) -> Due {
        match tick {
            _ if tick >= self.limit => Due::Limit,
            _ if tick >= self.next => Due::Observation,
            _ => Due::Nothing,
        }
    }

    /// Plans the next observation, because this tick was observed.
    pub fn observed(&mut self, tick: u64) {
        self.next = tick + OBSERVATION_TICKS;
    }
}
