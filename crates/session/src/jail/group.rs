//! One control group: limited, looked at, killed. Both versions of the kernel's files.

use super::cgroup::{BASE, own_v1, own_v2};
use crate::setting::Isolation;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a group has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// Bytes of memory of its own, files apart.
    pub memory: u64,
    /// Processor time, microseconds.
    pub cpu_us: u64,
    /// How often someone was killed for lack of memory.
    pub out_of_memory: u64,
    /// How often a process could not be made.
    pub refused_processes: u64,
}

/// A control group; gone when dropped, once nobody is in it.
#[derive(Debug)]
pub(super) struct Group {
    /// One of version 2; memory, pids, cpuacct and maybe cpu of version 1; none where nobody counts.
    folders: Vec<PathBuf>,
    v2: bool,
}

/// A group of somebody else, which is only looked at.
#[derive(Debug)]
pub(crate) struct Watched {
    folders: Vec<PathBuf>,
    v2: bool,
}

impl Group {
    pub(super) fn make(parents: &[PathBuf], name: &str, v2: bool) -> io::Result<Group> {
        let mut group = Group { folders: Vec::new(), v2 };
        for parent in parents {
            let folder = parent.join(name);
            fs::create_dir(&folder)?;
            group.folders.push(folder);
        }
        Ok(group)
    }

    pub(super) fn is_none(&self) -> bool {
        self.folders.is_empty()
    }

    /// Sets limits.
    pub(super) fn limit(&self, memory: Option<u64>, processes: Option<u64>) -> io::Result<()> {
        let (Some(first), Some(of_processes)) =
            (self.folders.first(), self.folders.get(usize::from(!self.v2)))
        else {
            return Ok(());
        };
        if let Some(bytes) = memory {
            if self.v2 {
                fs::write(first.join("memory.max"), bytes.to_string())?;
                // Systems that do not count swap have no such file.
                let _ = fs::write(first.join("memory.swap.max"), "0");
                // All or none: what is left of a script that lost a part is no script.
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

    /// Puts a process into it, and with it all that it starts.
    pub(super) fn add(&self, pid: u32) -> io::Result<()> {
        self.folders.iter().try_for_each(|folder| fs::write(folder.join("cgroup.procs"), pid.to_string()))
    }

    /// What it has used; `None` where nobody counts.
    pub(super) fn usage(&self) -> Option<Usage> {
        usage(&self.folders, self.v2)
    }

    /// Numbers of the processes in it.
    pub(super) fn processes(&self) -> Vec<i32> {
        let list = self.folders.first().and_then(|f| fs::read_to_string(f.join("cgroup.procs")).ok());
        list.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Ends every process in it: the second net, after the namespace. Whether it was empty already.
    pub(super) fn kill(&self) -> bool {
        let left = self.processes();
        if left.is_empty() {
            return true;
        }
        // At one stroke where the kernel can (version 2, since 5.14), so that nobody slips through by forking.
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
        tracing::warn!(folders = ?self.folders, "a control group could not be taken away");
    }
}

impl Watched {
    /// The group of a process, if one counts it.
    pub(crate) fn of(pid: u32) -> Option<Watched> {
        let own = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        Watched::find_in(Path::new(BASE), &own)
    }

    pub(super) fn find_in(base: &Path, own: &str) -> Option<Watched> {
        // An engine may put its processes below the group that it limits.
        let limited = |folder: &Path| {
            fs::read_to_string(folder.join("memory.max")).is_ok_and(|text| text.trim() != "max")
        };
        let two = own_v2(base, own).and_then(|folder| {
            let within = folder.ancestors().take_while(|f| f.starts_with(base));
            within.map(Path::to_owned).find(|f| limited(f))
        });
        if let Some(folder) = two {
            return Some(Watched { folders: vec![folder], v2: true });
        }
        let folders = own_v1(base, own)?;
        folders.iter().all(|f| f.is_dir()).then_some(Watched { folders, v2: false })
    }

    /// Whether its memory has at most this limit.
    pub(crate) fn limits_memory(&self, bytes: u64) -> bool {
        let file = if self.v2 { "memory.max" } else { "memory.limit_in_bytes" };
        let text = self.folders.first().and_then(|f| fs::read_to_string(f.join(file)).ok());
        text.and_then(|text| text.trim().parse::<u64>().ok()).is_some_and(|limit| limit <= bytes)
    }

    /// Which kind it is.
    pub(crate) fn isolation(&self) -> Isolation {
        if self.v2 { Isolation::CgroupV2 } else { Isolation::CgroupV1 }
    }

    /// What it has used; `None` when it is gone.
    pub(crate) fn usage(&self) -> Option<Usage> {
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
