//! Finds out which control groups this machine offers, and creates them.
//!
//! Control groups let the kernel count and limit the processes and the memory of a jail. Version 2
//! is used where the simulator may create groups below its own group. Version 1 is used where the
//! simulator, usually as root, may write to the hierarchies of memory, processes and processor
//! time. To find the version, the simulator creates a trial group once and removes it again.
//! Without control groups the number of processes is limited by a resource limit inside the jail,
//! and the simulator measures the memory of a judge.

use super::cgroup_path::{BASE, PREFIX, SELF, own_cpu_v1, own_v1, own_v2};
use super::group::Group;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The controllers of version 2 that are required. Processor time is counted without a controller.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// Maximum number of attempts to remove the simulator's own group.
const REMOVE_ATTEMPTS: u32 = 50;
/// Pause between two attempts to remove the simulator's own group.
const REMOVE_PAUSE: Duration = Duration::from_millis(2);

/// Where control groups can be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cgroups {
    /// Version 2, below this folder.
    V2(PathBuf),
    /// Version 1, below these folders: memory, pids, cpuacct, and cpu if that is a separate folder.
    V1(Vec<PathBuf>),
    /// No control group can be created.
    None,
}

impl Cgroups {
    /// Finds a version of control groups that works, by creating a trial group. May move the
    /// simulator into a group of its own, for the reasons given at `enable_controllers` and
    /// `leave_autogroup`. In version 1, [`leave_own_group`] removes the simulator's own group. In
    /// version 2, a later simulator removes it (see [`Cgroups::remove_orphans`]).
    pub fn find() -> Cgroups {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let found = Cgroups::find_in(Path::new(BASE), &own);
        if matches!(found, Cgroups::V1(_)) && is_autogroup_enabled() {
            leave_autogroup(Path::new(BASE), &own);
        }
        found
    }

    fn find_in(base: &Path, own: &str) -> Cgroups {
        let two = own_v2(base, own).filter(|folder| enable_controllers(folder)).map(Cgroups::V2);
        let one = own_v1(base, own).map(Cgroups::V1);
        [two, one].into_iter().flatten().find(|c| c.works()).unwrap_or(Cgroups::None)
    }

    fn works(&self) -> bool {
        self.remove_orphans();
        let Ok(group) = self.group("trial") else { return false };
        let limited = group.limit(Some(64 << 20), Some(8));
        limited.is_ok() && group.usage().is_some()
    }

    /// Removes groups of simulators that have ended. The name of such a group has the simulator's
    /// process id after the prefix. Groups with other names belong to other programs.
    pub fn remove_orphans(&self) {
        let folders = match self {
            Cgroups::V2(folder) => std::slice::from_ref(folder),
            Cgroups::V1(folders) => folders,
            Cgroups::None => &[],
        };
        for entry in folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            let pid = rest.split('-').next().unwrap_or_default();
            let is_pid = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
            if is_pid && !Path::new("/proc").join(pid).exists() {
                // The kernel refuses to remove a group that still has a process.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// Creates a group. `purpose` becomes part of its name.
    pub(super) fn group(&self, purpose: &str) -> io::Result<Group> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{purpose}-{count}", std::process::id());
        match self {
            Cgroups::V2(folder) => Group::create(std::slice::from_ref(folder), &name, true),
            Cgroups::V1(folders) => Group::create(folders, &name, false),
            Cgroups::None => Group::create(&[], &name, false),
        }
    }
}

/// Whether the kernel schedules the processes of a terminal session as one group, an autogroup.
fn is_autogroup_enabled() -> bool {
    fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").is_ok_and(|text| text.trim() == "1")
}

/// Moves the simulator from the root group of the hierarchy `cpu` into a group of its own. In the
/// root group, the simulator belongs to the autogroup of its terminal session. Linux 6.18 then lets
/// a busy thread of this autogroup keep the processes of other groups waiting for many seconds, so
/// a judge or a student's program would get no processor time. Errors are ignored, because the
/// simulator works without the group.
fn leave_autogroup(base: &Path, own: &str) {
    let Some(cpu) = own_cpu_v1(base, own).filter(|cpu| is_same(cpu, &base.join("cpu"))) else { return };
    let process = std::process::id().to_string();
    let child = cpu.join(format!("{PREFIX}{process}{SELF}"));
    if fs::create_dir(&child).is_ok() && fs::write(child.join("cgroup.procs"), &process).is_err() {
        let _ = fs::remove_dir(&child);
    }
}

/// Moves the simulator back to the root group of the hierarchy `cpu` (version 1), and removes the
/// group that [`Cgroups::find`] may have created there.
pub fn leave_own_group() {
    let process = std::process::id().to_string();
    let root = Path::new(BASE).join("cpu");
    let child = root.join(format!("{PREFIX}{process}{SELF}"));
    if !child.exists() || fs::write(root.join("cgroup.procs"), &process).is_err() {
        return;
    }
    // A helper process that was just ended may still be in the group, so removing the group may
    // fail at first. If every attempt fails, the next simulator removes the group.
    for _ in 0..REMOVE_ATTEMPTS {
        if fs::remove_dir(&child).is_ok() {
            return;
        }
        std::thread::sleep(REMOVE_PAUSE);
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    a.components().eq(b.components())
}

/// Enables the required controllers for the children of a group. Returns false if the controllers
/// can't be enabled.
///
/// The kernel does not enable controllers for the children of a group that itself contains
/// processes, unless that group is the root group. If the simulator is the only process of its
/// group, it therefore moves itself into a child group. Other processes are never moved.
fn enable_controllers(folder: &Path) -> bool {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let has = |text: &str| CONTROLLERS.iter().all(|one| text.split_whitespace().any(|other| other == *one));
    if has(&read("cgroup.subtree_control")) {
        return true;
    }
    if !has(&read("cgroup.controllers")) {
        return false;
    }
    // The cpu controller is optional. It gives a group one share of the processor, regardless of
    // the number of its processes.
    let choices = ["+memory +pids +cpu", "+memory +pids"];
    let enable = || choices.iter().any(|c| fs::write(folder.join("cgroup.subtree_control"), c).is_ok());
    if enable() {
        return true;
    }
    let own = std::process::id().to_string();
    if read("cgroup.procs").split_whitespace().ne([own.as_str()]) {
        return false;
    }
    let child = folder.join(format!("{PREFIX}{own}{SELF}"));
    let moved = fs::create_dir(&child).and_then(|()| fs::write(child.join("cgroup.procs"), &own));
    if moved.is_ok() && enable() {
        return true;
    }
    // The controllers can't be enabled, so the simulator moves back to its previous group.
    let _ = fs::write(folder.join("cgroup.procs"), &own);
    let _ = fs::remove_dir(&child);
    false
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
