//! Who runs below a process, and what they use, as /proc tells it: for where no control group counts.

use std::collections::BTreeMap;
use std::fs;

/// What the processes below one use together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Census {
    pub(crate) processes: u64,
    /// Resident bytes.
    pub(crate) memory: u64,
    /// Processor time, microseconds, of those who ended and were reaped too.
    pub(crate) cpu_us: u64,
}

struct Row {
    parent: u32,
    threads: u64,
    ticks: u64,
    pages: u64,
}

/// Counts a process and all below it.
pub(crate) fn below(root: u32) -> Census {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let rows: BTreeMap<u32, Row> = pids.filter_map(|pid| Some((pid, row(pid)?))).collect();
    let page = rustix::param::page_size() as u64;
    let tick_us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let mut census = Census::default();
    for (pid, row) in &rows {
        let (mut at, mut steps) = (*pid, 0);
        while at != root && steps < 1000 {
            let Some(next) = rows.get(&at) else { break };
            (at, steps) = (next.parent, steps + 1);
        }
        if at == root {
            census.processes += row.threads;
            census.memory += row.pages * page;
            census.cpu_us += row.ticks * tick_us;
        }
    }
    census
}

fn row(pid: u32) -> Option<Row> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, brackets too.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
    Some(Row {
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
    fn this_process_is_below_itself() {
        let census = below(std::process::id());
        assert!(census.processes >= 1 && census.memory > 1 << 20, "{census:?}");
    }
}
