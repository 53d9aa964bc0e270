//! Memory and processor time of a process tree, read from `/proc`. The simulator uses these sums
//! where no control group counts the processes.

use std::collections::BTreeMap;
use std::fs;

/// Sums over a process and all its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeUsage {
    /// Number of processes. Every thread counts, as in a control group.
    pub processes: u64,
    /// Memory in bytes: resident, swapped out, and in page tables.
    pub memory: u64,
    /// Processor time in microseconds, including children that ended and were reaped.
    pub cpu_us: u64,
}

/// The fields of `/proc/<pid>/stat` that are used.
struct Stat {
    parent: u32,
    threads: u64,
    /// Processor time in clock ticks, including the time of reaped children.
    ticks: u64,
}

/// Sums up the usage of a process and all its descendants. Memory that processes share is counted
/// fully for each of them. If the sum of the memory exceeds `limit`, that sum is computed again
/// with the proportional share of each process, which takes longer.
pub fn usage_below(root: u32, limit: u64) -> TreeUsage {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let stats: BTreeMap<u32, Stat> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let tick_us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let mut usage = TreeUsage::default();
    let mut below = Vec::new();
    for (pid, stat) in &stats {
        let (mut at, mut steps) = (*pid, 0);
        while at != root && steps < 1000 {
            let Some(next) = stats.get(&at) else { break };
            (at, steps) = (next.parent, steps + 1);
        }
        if at == root {
            usage.processes += stat.threads;
            usage.cpu_us += stat.ticks * tick_us;
            below.push(*pid);
        }
    }
    usage.memory = below.iter().map(|pid| whole_memory(*pid)).sum();
    if usage.memory > limit {
        usage.memory = below.iter().map(|pid| shared_memory(*pid)).sum();
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
    })
}

/// The memory of a process in bytes: resident, swapped out, and in page tables.
fn whole_memory(pid: u32) -> u64 {
    fields(&format!("/proc/{pid}/status"), &["VmRSS:", "VmSwap:", "VmPTE:"]).unwrap_or(0)
}

/// The memory of a process in bytes, with its proportional share of memory that several processes
/// share. For some processes the kernel refuses to give this share. Shared memory then counts
/// fully.
fn shared_memory(pid: u32) -> u64 {
    let parts = fields(&format!("/proc/{pid}/smaps_rollup"), &["Pss:", "SwapPss:"]);
    let tables = fields(&format!("/proc/{pid}/status"), &["VmPTE:"]).unwrap_or(0);
    parts.map_or_else(|| whole_memory(pid), |parts| parts + tables)
}

/// The sum of some fields of a file, in bytes. The file gives the fields in KiB. `None` if the file
/// can't be read.
fn fields(file: &str, names: &[&str]) -> Option<u64> {
    let text = fs::read_to_string(file).ok().filter(|text| !text.is_empty())?;
    let value = |line: &str| {
        let rest = names.iter().find_map(|name| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(text.lines().filter_map(value).sum::<u64>() * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_this_process_includes_this_process() {
        for limit in [u64::MAX, 0] {
            let usage = usage_below(std::process::id(), limit);
            assert!(usage.processes >= 1 && usage.memory > 1 << 20, "{usage:?}");
        }
    }
}
