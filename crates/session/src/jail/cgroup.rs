//! Control groups: the kernel counts and limits what is inside a jail.
//!
//! Version 2 where the simulator's own group is handed over to it, so that it may have children with controllers; version 1 where
//! the hierarchies of memory, processes and processor time are ours to write (root). Which one it
//! is is found out once, by making a group and taking it away again. Where there is none, the limit of processes comes
//! from the user's own limit inside the jail and memory is watched from outside.

use super::group::Group;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the kernel shows its control groups.
pub(super) const BASE: &str = "/sys/fs/cgroup";
/// The hierarchies of version 1 that are used.
const HIERARCHIES: [&str; 3] = ["memory", "pids", "cpuacct"];
/// The controllers of version 2 that must be there. Processor time is counted without one.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// What the names of our groups begin with.
const PREFIX: &str = "chicane-";

/// Where control groups can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cgroups {
    /// Version 2, below this folder.
    V2(PathBuf),
    /// Version 1, below these folders: memory, pids, cpuacct, and cpu where that is apart.
    V1(Vec<PathBuf>),
    /// Nowhere.
    None,
}

impl Cgroups {
    /// Finds out what there is, by trying.
    pub fn find() -> Cgroups {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Cgroups::find_in(Path::new(BASE), &own)
    }

    fn find_in(base: &Path, own: &str) -> Cgroups {
        let two = own_v2(base, own).filter(|folder| hand_on(folder)).map(Cgroups::V2);
        let one = own_v1(base, own).map(Cgroups::V1);
        [two, one].into_iter().flatten().find(|c| c.works()).unwrap_or(Cgroups::None)
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
            Cgroups::V1(folders) => folders,
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
        match self {
            Cgroups::V2(folder) => Group::make(std::slice::from_ref(folder), &name, true),
            Cgroups::V1(folders) => Group::make(folders, &name, false),
            Cgroups::None => Group::make(&[], &name, false),
        }
    }
}

/// The folder of a process in version 2, as its `/proc/<pid>/cgroup` says.
pub(super) fn own_v2(base: &Path, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // Beside version 1 it has a folder of its own.
    let base =
        [base.join("unified"), base.to_owned()].into_iter().find(|b| b.join("cgroup.procs").exists())?;
    Some(if path.is_empty() { base } else { base.join(path) })
}

/// The folders of a process in version 1.
pub(super) fn own_v1(base: &Path, own: &str) -> Option<Vec<PathBuf>> {
    let folder = |name: &str| {
        let path = own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let names = parts.next()?;
            names.split(',').any(|one| one == name).then(|| parts.next()).flatten()
        })?;
        Some(base.join(name).join(path.trim_start_matches('/')))
    };
    let [memory, pids, cpuacct] = HIERARCHIES.map(folder);
    let mut all = vec![memory?, pids?, cpuacct?];
    // Nothing is written there: to be a group is to have one share, however many processes it has. Often it is the same folder.
    let real = |path: &Path| fs::canonicalize(path).ok();
    if let Some(cpu) = folder("cpu").filter(|cpu| cpu.is_dir() && real(cpu) != real(&all[2])) {
        all.push(cpu);
    }
    Some(all)
}

/// Sees to it that groups below this one have controllers. A group with members of its own may have none below it, unless it is the
/// root; so a simulator that is alone in its group goes into one below. Others are never moved.
fn hand_on(folder: &Path) -> bool {
    let words = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let has = |text: &str| CONTROLLERS.iter().all(|one| text.split_whitespace().any(|other| other == *one));
    if has(&words("cgroup.subtree_control")) {
        return true;
    }
    if !has(&words("cgroup.controllers")) {
        return false;
    }
    // With one for processors a group has one share of them, however many processes it has.
    let words_to_try = ["+memory +pids +cpu", "+memory +pids"];
    let hand = || words_to_try.iter().any(|w| fs::write(folder.join("cgroup.subtree_control"), w).is_ok());
    if hand() {
        return true;
    }
    let own = std::process::id().to_string();
    if words("cgroup.procs").split_whitespace().ne([own.as_str()]) {
        return false;
    }
    let below = folder.join(format!("{PREFIX}{own}-self"));
    let moved = fs::create_dir(&below).and_then(|()| fs::write(below.join("cgroup.procs"), &own));
    if moved.is_ok() && hand() {
        return true;
    }
    // As it was.
    let _ = fs::write(folder.join("cgroup.procs"), &own);
    let _ = fs::remove_dir(&below);
    false
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
