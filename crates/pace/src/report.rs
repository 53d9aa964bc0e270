//! Statistics about what a run spent its time on.

use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

/// The sums of all events of one kind: ends of waits, or deliveries of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitSum {
    /// Number of these events.
    pub count: u64,
    /// The virtual time by which the simulation was advanced to reach these events, in nanoseconds.
    pub virtual_ns: u64,
}

impl WaitSum {
    pub(crate) fn add(&mut self, virtual_ns: u64) {
        self.count += 1;
        self.virtual_ns += virtual_ns;
    }
}

/// Bytes that the program sent to the simulator at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentBytes {
    /// Virtual time in nanoseconds.
    pub at_ns: u64,
    /// Number of the connection.
    pub connection: u64,
    /// The first line of the bytes, truncated to 80 bytes.
    pub line: String,
    /// A hash of all bytes.
    pub hash: u64,
}

/// Maximum number of entries of [`PaceReport::sent`]. Later entries are dropped.
pub(crate) const MAX_SENT: usize = 50_000;

impl SentBytes {
    pub(crate) fn new(at_ns: u64, connection: u64, bytes: &[u8]) -> SentBytes {
        let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        SentBytes { at_ns, connection, line, hash: hasher.finish() }
    }
}

/// What a run spent its time on. Virtual times are simulated times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaceReport {
    /// Why time depended on the wall clock. `None` if it did not.
    pub real: Option<String>,
    /// Ends of sleeps.
    pub sleeps: WaitSum,
    /// Timeouts of `poll`, `select` and `epoll_wait`.
    pub polls: WaitSum,
    /// Timeouts of locks and condition variables.
    pub locks: WaitSum,
    /// Ends of waits in loops that read a clock until some time has passed.
    pub busy: WaitSum,
    /// Deliveries of chunks of answers to the program.
    pub answers: WaitSum,
    /// Number of requests from the program.
    pub requests: u64,
    /// What the program sent.
    pub sent: Vec<SentBytes>,
    /// Number of times that the simulation was advanced.
    pub advances: u64,
    /// Real time in which the program ran. The simulation and the judge may have run at the same
    /// time.
    pub program: Duration,
    /// Real time in which the simulation and the judge ran while the program waited.
    pub simulation: Duration,
    /// Real time in which the web server worked for the program.
    pub server: Duration,
}
