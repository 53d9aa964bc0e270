//! File systems inside a jail.

use super::plan::{JudgePlan, StudentPlan};
use rustix::fs::Mode;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, mount_remount, unmount,
};
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Files that every program expects.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Inodes of the judge's own files.
const INODES: u32 = 16_384;
/// Where control groups are set.
const CGROUPS: &str = "/sys/fs/cgroup";
/// Where the judge's file system is put together, in a name space where nobody else sees it.
const STAGE: &str = "/tmp";

/// Nothing that is mounted here is seen outside, and nothing from outside comes in.
fn keep_apart() -> Result<(), String> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|e| format!("mounts can't be kept apart: {e}"))
}

fn options(text: String) -> Result<CString, String> {
    CString::new(text).map_err(|e| e.to_string())
}

/// Puts the prepared root under a writable layer in memory.
pub(super) fn build_judge_root(plan: &JudgePlan, below: &OwnedFd) -> Result<(), String> {
    keep_apart()?;
    let size = options(format!("size={},nr_inodes={INODES},mode=755", plan.file_bytes))?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    mount("chicane", STAGE, "tmpfs", safe, Some(size.as_c_str()))
        .map_err(|e| format!("a file system in memory can't be mounted: {e}"))?;
    let stage = Path::new(STAGE);
    let (upper, root) = (stage.join("upper"), stage.join("root"));
    for folder in [&upper, &stage.join("work"), &root] {
        make(folder, 0o755)?;
    }
    fill(&upper, plan)?;
    let below = below.as_raw_fd();
    let layers =
        format!("lowerdir=/proc/self/fd/{below},upperdir={STAGE}/upper,workdir={STAGE}/work,userxattr");
    mount("chicane", &root, "overlay", safe, Some(options(layers)?.as_c_str()))
        .map_err(|e| format!("an overlay of the judge's root can't be mounted: {e}"))?;
    for device in DEVICES {
        mount_bind(format!("/dev/{device}"), root.join("dev").join(device))
            .map_err(|e| format!("/dev/{device} can't be given to the judge: {e}"))?;
    }
    make(&root.join("old"), 0o700)
}

/// Makes what was built the only file system there is.
pub(super) fn enter_judge_root() -> Result<(), String> {
    let root = Path::new(STAGE).join("root");
    let old = root.join("old");
    rustix::process::pivot_root(&root, &old).map_err(|e| format!("pivot_root: {e}"))?;
    std::env::set_current_dir("/").map_err(|e| e.to_string())?;
    unmount("/old", UnmountFlags::DETACH).map_err(|e| format!("the host's files can't be left: {e}"))?;
    std::fs::remove_dir("/old").map_err(|e| e.to_string())?;
    std::env::set_current_dir("/work").map_err(|e| e.to_string())
}

/// The judge's own files.
fn fill(upper: &Path, plan: &JudgePlan) -> Result<(), String> {
    for (folder, mode) in [
        ("dev", 0o755),
        ("dev/shm", 0o1777),
        ("etc", 0o755),
        ("tmp", 0o1777),
        ("work", 0o755),
        ("judge", 0o755),
    ] {
        make(&upper.join(folder), mode)?;
    }
    // The layer below has its own /dev and /etc: ours stand before them.
    let write = |name: &str, text: &str| {
        std::fs::write(upper.join(name), text).map_err(|e| format!("{name} can't be written: {e}"))
    };
    for device in DEVICES {
        write(&format!("dev/{device}"), "")?;
    }
    write("etc/passwd", "root:x:0:0:judge:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")?;
    write("etc/group", "root:x:0:\nnogroup:x:65534:\n")?;
    write("etc/hostname", "judge\n")?;
    write("etc/hosts", "127.0.0.1 localhost judge\n::1 localhost\n")?;
    let resolver = if plan.internet { super::net::NAME_SERVER } else { "127.0.0.1" };
    write("etc/resolv.conf", &format!("nameserver {resolver}\noptions timeout:2 attempts:2\n"))?;
    write("judge/harness.py", &plan.harness)
}

fn make(folder: &Path, mode: u32) -> Result<(), String> {
    std::fs::create_dir(folder).map_err(|e| format!("{} can't be made: {e}", folder.display()))?;
    rustix::fs::chmod(folder, Mode::from_raw_mode(mode)).map_err(|e| e.to_string())
}

/// The host's files without some folders, and processes of its own only.
pub(super) fn hide_from_student(plan: &StudentPlan) -> Result<(), String> {
    keep_apart()?;
    let nothing = options("size=4k,nr_inodes=2,mode=555".to_owned())?;
    let closed = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    for folder in plan.hide.iter().filter(|folder| folder.is_dir()) {
        mount("chicane", folder, "tmpfs", closed, Some(nothing.as_c_str()))
            .map_err(|e| format!("{} can't be hidden: {e}", folder.display()))?;
    }
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // Where a container does not allow it, there is none at all: the host's must not be there.
    if mount("proc", "/proc", "proc", safe, None).is_err() {
        return mount("chicane", "/proc", "tmpfs", closed, Some(nothing.as_c_str()))
            .map_err(|e| format!("/proc can't be hidden: {e}"));
    }
    // Root of a student is still the owner of these files: it could change the kernel's settings and lift its own limits.
    let failed = |e: rustix::io::Errno| format!("/proc/sys can't be closed: {e}");
    mount_bind("/proc/sys", "/proc/sys").map_err(failed)?;
    mount_remount("/proc/sys", MountFlags::BIND | MountFlags::RDONLY | safe, c"").map_err(failed)?;
    if Path::new("/proc/sysrq-trigger").exists() {
        mount_bind("/dev/null", "/proc/sysrq-trigger").map_err(|e| format!("sysrq can't be closed: {e}"))?;
    }
    if Path::new(CGROUPS).is_dir() {
        mount("chicane", CGROUPS, "tmpfs", closed, Some(nothing.as_c_str()))
            .map_err(|e| format!("{CGROUPS} can't be hidden: {e}"))?;
    }
    Ok(())
}
