//! Where the time of a run went.

use std::time::Duration;

/// Waits of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitSum {
    /// Number of waits that ended because their time had come.
    pub count: u64,
    /// Virtual time that passed until they ended, in nanoseconds.
    pub virtual_ns: u64,
}

impl WaitSum {
    pub(crate) fn add(&mut self, virtual_ns: u64) {
        self.count += 1;
        self.virtual_ns += virtual_ns;
    }
}

/// What the keeper did. Virtual times are simulated times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaceReport {
    /// Why time depended on the wall clock. `None` if it did not.
    pub real: Option<String>,
    /// Sleeps.
    pub sleeps: WaitSum,
    /// Timeouts of `poll`, `select` and `epoll_wait`.
    pub polls: WaitSum,
    /// Timeouts of locks and condition variables.
    pub locks: WaitSum,
    /// Loops that read a clock until time passes.
    pub busy: WaitSum,
    /// Pieces of answers that were delivered.
    pub answers: WaitSum,
    /// Requests.
    pub requests: u64,
    /// How often the simulation was advanced.
    pub advances: u64,
    /// Real time in which the program ran.
    pub program: Duration,
    /// Real time in which the simulation and the judge ran.
    pub simulation: Duration,
    /// Real time in which the web server worked for the program.
    pub server: Duration,
}
