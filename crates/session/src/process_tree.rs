//! Memory and processor time of a process tree, read from `/proc`. The simulator uses these sums
//! where no control group counts the processes.

use std::collections::BTreeMap;
use std::fs;

/// Sums over a process and all its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TreeUsage {
    /// Number of processes. Every thread counts, as in a control group.
    pub(crate) processes: u64,
    /// Resident memory in bytes.
    pub(crate) memory: u64,
    /// Processor time in microseconds, including children that ended and were reaped.
    pub(crate) cpu_us: u64,
}

/// The fields of `/proc/<pid>/stat` that are used.
struct Stat {
    parent: u32,
    threads: u64,
    /// Processor time in clock ticks, including the time of reaped children.
    ticks: u64,
    /// Resident memory in pages.
    pages: u64,
}

/// Sums up a process and all its descendants.
pub(crate) fn usage_below(root: u32) -> TreeUsage {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let stats: BTreeMap<u32, Stat> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let page = rustix::param::page_size() as u64;
    let tick_us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let mut usage = TreeUsage::default();
    for (pid, stat) in &stats {
        let (mut at, mut steps) = (*pid, 0);
        while at != root && steps < 1000 {
            let Some(next) = stats.get(&at) else { break };
            (at, steps) = (next.parent, steps + 1);
        }
        if at == root {
            usage.processes += stat.threads;
            usage.memory += stat.pages * page;
            usage.cpu_us += stat.ticks * tick_us;
        }
    }
    usage
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name is in brackets and may itself contain brackets, so the last bracket ends the
    // name.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
    Some(Stat {
        parent: u32::try_from(number(1)?).ok()?,
        ticks: (11..15).filter_map(number).sum(),
        threads: number(17)?,
        pages: number(21)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_this_process_includes_this_process() {
        let usage = usage_below(std::process::id());
        assert!(usage.processes >= 1 && usage.memory > 1 << 20, "{usage:?}");
    }
}
