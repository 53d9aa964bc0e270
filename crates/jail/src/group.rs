//! One control group, in version 1 or 2: sets its limits, reads its usage, kills its processes.

use super::cgroup_path::{BASE, own_v1, own_v2};
use crate::isolation::Isolation;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the processes of a group have used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Anonymous memory in bytes, without files. Without a control group, the value of
    /// [`TreeUsage::memory`](crate::process_tree::TreeUsage::memory).
    pub memory: u64,
    /// Processor time in microseconds.
    pub cpu_us: u64,
    /// Number of processes that the kernel killed because the memory limit was reached. 0 without a
    /// control group.
    pub out_of_memory: u64,
    /// Number of times that the kernel refused a new process. 0 without a control group.
    pub refused_processes: u64,
}

/// A control group of a jail. Dropping this value kills the group's processes and removes the
/// group.
#[derive(Debug)]
pub(super) struct Group {
    /// One folder in version 2. In version 1: memory, pids, cpuacct and possibly cpu. Empty if
    /// there are no control groups.
    folders: Vec<PathBuf>,
    v2: bool,
}

/// A group that a container engine created. The simulator only reads it.
#[derive(Debug)]
pub struct WatchedGroup {
    folders: Vec<PathBuf>,
    v2: bool,
}

impl Group {
    pub(super) fn create(parents: &[PathBuf], name: &str, v2: bool) -> io::Result<Group> {
        let mut group = Group { folders: Vec::new(), v2 };
        for parent in parents {
            let folder = parent.join(name);
            fs::create_dir(&folder)?;
            group.folders.push(folder);
        }
        Ok(group)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Sets the limits: bytes of memory, and number of processes.
    pub(super) fn limit(&self, memory: Option<u64>, processes: Option<u64>) -> io::Result<()> {
        let (Some(first), Some(of_processes)) =
            (self.folders.first(), self.folders.get(usize::from(!self.v2)))
        else {
            return Ok(());
        };
        if let Some(bytes) = memory {
            if self.v2 {
                fs::write(first.join("memory.max"), bytes.to_string())?;
                // The error is ignored, because the file is missing on systems that do not count
                // swap.
                let _ = fs::write(first.join("memory.swap.max"), "0");
                // With this setting the kernel kills all processes of the group when memory runs
                // out. Otherwise the kernel would kill only some of them, and the program could not
                // continue without the killed ones.
                fs::write(first.join("memory.oom.group"), "1")?;
            } else {
                fs::write(first.join("memory.limit_in_bytes"), bytes.to_string())?;
                let _ = fs::write(first.join("memory.memsw.limit_in_bytes"), bytes.to_string());
            }
        }
        if let Some(processes) = processes {
            fs::write(of_processes.join("pids.max"), processes.to_string())?;
        }
        Ok(())
    }

    /// Moves a process into the group. Later children of the process will be in the group too.
    pub(super) fn add(&self, pid: u32) -> io::Result<()> {
        self.folders.iter().try_for_each(|folder| fs::write(folder.join("cgroup.procs"), pid.to_string()))
    }

    /// What the group has used. `None` if there are no control groups, or if their files can't be
    /// read.
    pub(super) fn usage(&self) -> Option<Usage> {
        usage(&self.folders, self.v2)
    }

    /// Ids of the processes in the group.
    pub(super) fn processes(&self) -> Vec<i32> {
        let list = self.folders.first().and_then(|f| fs::read_to_string(f.join("cgroup.procs")).ok());
        list.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Kills every process that is left in the group after the jail's namespace has ended. Returns
    /// true if the group was empty already.
    pub(super) fn kill(&self) -> bool {
        let left = self.processes();
        if left.is_empty() {
            return true;
        }
        // `cgroup.kill` (version 2, since Linux 5.14) ends all processes at once, so that none
        // escapes by forking.
        let at_once = self.v2
            && self.folders.first().is_some_and(|f| f.join("cgroup.kill").exists())
            && self.folders.iter().all(|f| fs::write(f.join("cgroup.kill"), "1").is_ok());
        if !at_once {
            for pid in left.iter().filter_map(|pid| rustix::process::Pid::from_raw(*pid)) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        false
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..100 {
            self.folders.retain(|folder| fs::remove_dir(folder).is_err() && folder.exists());
            if self.folders.is_empty() {
                return;
            }
            self.kill();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        tracing::warn!(folders = ?self.folders, "a control group could not be removed");
    }
}

impl WatchedGroup {
    /// The control group that counts the usage of a process, if there is one.
    pub fn of(pid: u32) -> Option<WatchedGroup> {
        let own = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        WatchedGroup::find_in(Path::new(BASE), &own)
    }

    pub(super) fn find_in(base: &Path, own: &str) -> Option<WatchedGroup> {
        // An engine may put its processes into a child of the group that it limits, so the parent
        // groups are searched too.
        let limited = |folder: &Path| {
            fs::read_to_string(folder.join("memory.max")).is_ok_and(|text| text.trim() != "max")
        };
        let two = own_v2(base, own).and_then(|folder| {
            let within = folder.ancestors().take_while(|f| f.starts_with(base));
            within.map(Path::to_owned).find(|f| limited(f))
        });
        if let Some(folder) = two {
            return Some(WatchedGroup { folders: vec![folder], v2: true });
        }
        let folders = own_v1(base, own)?;
        folders.iter().all(|f| f.is_dir()).then_some(WatchedGroup { folders, v2: false })
    }

    /// Whether the group limits memory to at most this many bytes.
    pub fn limits_memory(&self, bytes: u64) -> bool {
        let file = if self.v2 { "memory.max" } else { "memory.limit_in_bytes" };
        let text = self.folders.first().and_then(|f| fs::read_to_string(f.join(file)).ok());
        text.and_then(|text| text.trim().parse::<u64>().ok()).is_some_and(|limit| limit <= bytes)
    }

    /// The version of the control group.
    pub fn isolation(&self) -> Isolation {
        if self.v2 { Isolation::CgroupV2 } else { Isolation::CgroupV1 }
    }

    /// What the group has used. `None` if the group is gone.
    pub fn usage(&self) -> Option<Usage> {
        usage(&self.folders, self.v2)
    }
}

fn usage(folders: &[PathBuf], v2: bool) -> Option<Usage> {
    let first = folders.first()?;
    let read = |path: PathBuf| fs::read_to_string(path).ok();
    let field = |text: &str, name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    let stat = read(first.join("memory.stat"))?;
    if v2 {
        return Some(Usage {
            memory: field(&stat, "anon"),
            cpu_us: read(first.join("cpu.stat")).map_or(0, |text| field(&text, "usage_usec")),
            out_of_memory: read(first.join("memory.events")).map_or(0, |text| field(&text, "oom_kill")),
            refused_processes: read(first.join("pids.events")).map_or(0, |text| field(&text, "max")),
        });
    }
    let [_, pids, cpu, ..] = folders else { return None };
    let ns = read(cpu.join("cpuacct.usage"))?;
    Some(Usage {
        memory: field(&stat, "rss"),
        cpu_us: ns.trim().parse::<u64>().unwrap_or(0) / 1000,
        out_of_memory: read(first.join("memory.oom_control")).map_or(0, |text| field(&text, "oom_kill")),
        refused_processes: read(pids.join("pids.events")).map_or(0, |text| field(&text, "max")),
    })
}
