//! Where the control groups of a process are in the file system.

use std::fs;
use std::path::{Path, PathBuf};

/// The mount point of the kernel's control groups.
pub(super) const BASE: &str = "/sys/fs/cgroup";
/// Prefix of the names of the groups that the simulator creates.
pub(super) const PREFIX: &str = "chicane-";
/// End of the name of the group that holds the simulator itself.
pub(super) const SELF: &str = "-self";
/// The hierarchies of version 1 that are required. The hierarchy `cpu` is used too if it exists.
const HIERARCHIES: [&str; 3] = ["memory", "pids", "cpuacct"];

/// The folder of a process's control group in version 2. `own` is the text of `/proc/<pid>/cgroup`
/// of this process. `None` if the text has no line of version 2, or if version 2 is not mounted.
pub(super) fn own_v2(base: &Path, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // Where version 1 is mounted too, version 2 is in the subfolder `unified`.
    let base =
        [base.join("unified"), base.to_owned()].into_iter().find(|b| b.join("cgroup.procs").exists())?;
    Some(if path.is_empty() { base } else { base.join(path) })
}

/// The folders of a process's control groups in version 1, one for each hierarchy. `own` is the
/// text of `/proc/<pid>/cgroup` of this process. `None` if one of the [`HIERARCHIES`] is missing.
pub(super) fn own_v1(base: &Path, own: &str) -> Option<Vec<PathBuf>> {
    let [memory, pids, cpuacct] = HIERARCHIES.map(|name| folder_v1(base, own, name));
    let mut all = vec![memory?, pids?, cpuacct?];
    // The folder `cpu` is added, although no limit is written to it: membership alone gives the
    // group one share of the processor, however many processes it has. If `cpu` is the same folder
    // as `cpuacct`, it is in the list already.
    let real = |path: &Path| fs::canonicalize(path).ok();
    if let Some(cpu) = own_cpu_v1(base, own).filter(|cpu| cpu.is_dir() && real(cpu) != real(&all[2])) {
        all.push(cpu);
    }
    Some(all)
}

/// The folder of a process's control group in the hierarchy `cpu` of version 1. `None` if this
/// hierarchy is missing.
pub(super) fn own_cpu_v1(base: &Path, own: &str) -> Option<PathBuf> {
    folder_v1(base, own, "cpu")
}

fn folder_v1(base: &Path, own: &str, name: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let names = parts.next()?;
        names.split(',').any(|one| one == name).then(|| parts.next()).flatten()
    })?;
    let folder = base.join(name).join(path.trim_start_matches('/'));
    // If the simulator has moved into a group of its own, it creates new groups beside that group.
    // A later simulator would not find and remove groups inside that group.
    let is_own = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(PREFIX) && name.ends_with(SELF)
    };
    Some(if is_own(&folder) { folder.parent()?.to_owned() } else { folder })
}
