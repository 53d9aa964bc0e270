//! Control groups: the kernel counts and limits what is inside a jail.
//!
//! Version 2 where the simulator's own group may have children with controllers; version 1 where the
//! hierarchies of memory, processes and processor time are ours to write (root). Which one it
//! is is found out once, by making a group and taking it away again. Where there is none, the limit of processes comes
//! from the user's own limit inside the jail and memory is watched from outside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The hierarchies of version 1 that are used.
const HIERARCHIES: [&str; 3] = ["memory", "pids", "cpuacct"];
/// What the names of our groups begin with.
const PREFIX: &str = "chicane-";

/// Where control groups can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cgroups {
    /// Version 2, below this folder.
    V2(PathBuf),
    /// Version 1, below these folders: memory, pids, cpuacct.
    V1([PathBuf; 3]),
    /// Nowhere.
    None,
}

/// What a group has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
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
    folders: Vec<PathBuf>,
    v2: bool,
}

impl Cgroups {
    /// Finds out what there is, by trying.
    pub fn find() -> Cgroups {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        [v2(&own), v1(&own)].into_iter().flatten().find(|c| c.works()).unwrap_or(Cgroups::None)
    }

    /// In a few words.
    pub fn describe(&self) -> &'static str {
        match self {
            Cgroups::V2(_) => "cgroup v2",
            Cgroups::V1(_) => "cgroup v1",
            Cgroups::None => "no cgroup",
        }
    }

    fn works(&self) -> bool {
        self.sweep();
        let Ok(group) = self.group("trial") else { return false };
        let limited = group.limit(Some(64 << 20), Some(8));
        limited.is_ok() && group.usage().is_some()
    }

    /// Takes away groups that a killed simulator left behind.
    pub fn sweep(&self) {
        let folders = match self {
            Cgroups::V2(folder) => std::slice::from_ref(folder),
            Cgroups::V1(folders) => folders.as_slice(),
            Cgroups::None => &[],
        };
        for entry in folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            let pid = rest.split('-').next().unwrap_or_default();
            if !Path::new("/proc").join(pid).exists() {
                // One that still holds a process is refused by the kernel, and rightly so.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// A new group.
    pub(super) fn group(&self, what: &str) -> io::Result<Group> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("{PREFIX}{}-{what}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let (parents, v2) = match self {
            Cgroups::V2(folder) => (vec![folder], true),
            Cgroups::V1(folders) => (folders.iter().collect(), false),
            Cgroups::None => (Vec::new(), false),
        };
        let mut group = Group { folders: Vec::new(), v2 };
        for parent in parents {
            let folder = parent.join(&name);
            fs::create_dir(&folder)?;
            group.folders.push(folder);
        }
        Ok(group)
    }
}

/// The folder of version 2, if its controllers can be handed on.
fn v2(own: &str) -> Option<Cgroups> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Path::new("/sys/fs/cgroup").join(path);
    let handed_on = fs::read_to_string(folder.join("cgroup.subtree_control")).ok()?;
    let has = |name: &str| handed_on.split_whitespace().any(|one| one == name);
    (has("memory") && has("pids")).then_some(Cgroups::V2(folder))
}

fn v1(own: &str) -> Option<Cgroups> {
    let folder = |name: &str| {
        let path = own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let names = parts.next()?;
            names.split(',').any(|one| one == name).then(|| parts.next()).flatten()
        })?;
        Some(Path::new("/sys/fs/cgroup").join(name).join(path.trim_start_matches('/')))
    };
    let [memory, pids, cpu] = HIERARCHIES.map(folder);
    Some(Cgroups::V1([memory?, pids?, cpu?]))
}

impl Group {
    pub(super) fn is_none(&self) -> bool {
        self.folders.is_empty()
    }

    /// Sets limits.
    pub(super) fn limit(&self, memory: Option<u64>, processes: Option<u64>) -> io::Result<()> {
        let (memory_files, processes_at): (&[&str], usize) = match (self.v2, self.is_none()) {
            (_, true) => return Ok(()),
            (true, _) => (&["memory.max", "memory.swap.max"], 0),
            (false, _) => (&["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"], 1),
        };
        if let Some(bytes) = memory {
            let swap = if self.v2 { 0 } else { bytes };
            fs::write(self.folders[0].join(memory_files[0]), bytes.to_string())?;
            // Systems that do not count swap have no such file.
            let _ = fs::write(self.folders[0].join(memory_files[1]), swap.to_string());
            if self.v2 {
                let _ = fs::write(self.folders[0].join("memory.oom.group"), "1");
            }
        }
        if let Some(processes) = processes {
            fs::write(self.folders[processes_at].join("pids.max"), processes.to_string())?;
        }
        Ok(())
    }

    /// Puts a process into it, and with it all that it starts.
    pub(super) fn add(&self, pid: u32) -> io::Result<()> {
        self.folders.iter().try_for_each(|folder| fs::write(folder.join("cgroup.procs"), pid.to_string()))
    }

    /// What it has used; `None` where nobody counts.
    pub(super) fn usage(&self) -> Option<Usage> {
        let first = self.folders.first()?;
        let read = |path: PathBuf| fs::read_to_string(path).ok();
        let field = |text: &str, name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
        };
        let stat = read(first.join("memory.stat"))?;
        if self.v2 {
            Some(Usage {
                memory: field(&stat, "anon"),
                cpu_us: read(first.join("cpu.stat")).map_or(0, |text| field(&text, "usage_usec")),
                out_of_memory: read(first.join("memory.events")).map_or(0, |text| field(&text, "oom_kill")),
                refused_processes: read(first.join("pids.events")).map_or(0, |text| field(&text, "max")),
            })
        } else {
            let ns = read(self.folders[2].join("cpuacct.usage"))?;
            Some(Usage {
                memory: field(&stat, "rss"),
                cpu_us: ns.trim().parse::<u64>().unwrap_or(0) / 1000,
                out_of_memory: read(first.join("memory.oom_control"))
                    .map_or(0, |text| field(&text, "oom_kill")),
                refused_processes: read(self.folders[1].join("pids.events"))
                    .map_or(0, |text| field(&text, "max")),
            })
        }
    }

    /// Numbers of the processes in it.
    pub(super) fn processes(&self) -> Vec<i32> {
        let list = self.folders.first().and_then(|f| fs::read_to_string(f.join("cgroup.procs")).ok());
        list.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Ends every process in it: the second net, after the namespace. Whether it was empty already.
    pub(super) fn kill(&self) -> bool {
        let left = self.processes();
        for pid in &left {
            if let Some(pid) = rustix::process::Pid::from_raw(*pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        left.is_empty()
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
