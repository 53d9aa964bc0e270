//! Shows where the time of a run in virtual time went.

use chicane_host::{PaceReport, WaitSum};
use std::time::Duration;

/// Number of nanoseconds in a second.
const SECOND: f64 = 1e9;
/// Number of nanoseconds in a tick.
const TICK: f64 = 5e6;

/// The lines of a report.
pub(crate) fn lines(report: &PaceReport) -> Vec<String> {
    let wait = |name: &str, sum: WaitSum| {
        format!("  {name:<34} {:>8} times {:>10.3} s", sum.count, sum.virtual_ns as f64 / SECOND)
    };
    let share = |name: &str, part: Duration, each: u64| {
        let each_us = part.as_secs_f64() * 1e6 / each.max(1) as f64;
        format!("  {name:<34} {:>8.3} s {each_us:>12.0} µs each", part.as_secs_f64())
    };
    let events = [report.sleeps, report.polls, report.locks, report.busy, report.answers];
    let events: u64 = events.iter().map(|sum| sum.count).sum();
    vec![
        "simulated time passed while the program waited for".to_owned(),
        wait("sleeps", report.sleeps),
        wait("timeouts of poll and select", report.polls),
        wait("timeouts of locks and conditions", report.locks),
        wait("answers of the simulator (pieces)", report.answers),
        wait("the clock in a loop", report.busy),
        format!(
            "  {} requests, {:.0} ticks of busy loops",
            report.requests,
            report.busy.virtual_ns as f64 / TICK
        ),
        "real time was used by".to_owned(),
        share("the program, until it waits again", report.program, events),
        share("waiting for simulation and judge", report.simulation, report.advances),
        share("the web server", report.server, report.requests),
    ]
}
