//! File systems inside a jail.

use super::plan::{JudgePlan, StudentPlan};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, mount_remount, unmount,
};
use std::ffi::{CString, NulError};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Files that every program expects.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Inodes of the judge's own files.
const INODES: u32 = 16_384;
/// Where control groups are set.
const CGROUPS: &str = "/sys/fs/cgroup";
/// Where the judge's file system is put together, in a name space where nobody else sees it.
const STAGE: &str = "/tmp";

/// Why the file system inside a jail could not be built.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The mounts of the new namespace could not be made private.
    #[error("mounts can't be made private: {0}")]
    Private(#[source] Errno),
    /// Mount options hold a zero byte.
    #[error("mount options hold a zero byte: {0}")]
    Options(#[source] NulError),
    /// The tmpfs of the writable layer.
    #[error("a file system in memory can't be mounted: {0}")]
    Tmpfs(#[source] Errno),
    /// The overlay of the prepared root.
    #[error("an overlay of the judge's root can't be mounted: {0}")]
    Overlay(#[source] Errno),
    /// A device file could not be bound into the judge's root.
    #[error("/dev/{device} can't be given to the judge: {source}")]
    Device {
        /// Name below `/dev`.
        device: &'static str,
        /// The kernel's error.
        source: Errno,
    },
    /// `pivot_root` failed.
    #[error("pivot_root: {0}")]
    PivotRoot(#[source] Errno),
    /// The host's file system is still mounted below the new root.
    #[error("the host's files can't be unmounted: {0}")]
    UnmountHost(#[source] Errno),
    /// The empty mount point of the host's file system could not be removed.
    #[error("/old can't be removed: {0}")]
    RemoveOld(#[source] io::Error),
    /// The working directory could not be changed.
    #[error("{path} can't be entered: {source}")]
    Enter {
        /// The folder.
        path: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// A file of the judge's root could not be written.
    #[error("{name} can't be written: {source}")]
    Write {
        /// Its path inside.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A folder could not be created.
    #[error("{} can't be made: {source}", .path.display())]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The mode of a folder could not be set.
    #[error("the mode of {} can't be set: {source}", .path.display())]
    Mode {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// A folder of the host would still be visible.
    #[error("{} can't be hidden: {source}", .path.display())]
    Hide {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// `/proc/sys` would still be writable.
    #[error("/proc/sys can't be made read-only: {0}")]
    ProcSys(#[source] Errno),
    /// `/proc/sysrq-trigger` would still be writable.
    #[error("/proc/sysrq-trigger can't be hidden: {0}")]
    Sysrq(#[source] Errno),
}

/// Nothing that is mounted here is seen outside, and nothing from outside comes in.
fn keep_apart() -> Result<(), MountError> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(MountError::Private)
}

fn options(text: String) -> Result<CString, MountError> {
    CString::new(text).map_err(MountError::Options)
}

/// Puts the prepared root under a writable layer in memory.
pub(super) fn build_judge_root(plan: &JudgePlan, below: &OwnedFd) -> Result<(), MountError> {
    keep_apart()?;
    let size = options(format!("size={},nr_inodes={INODES},mode=755", plan.file_bytes))?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    mount("chicane", STAGE, "tmpfs", safe, Some(size.as_c_str())).map_err(MountError::Tmpfs)?;
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
        .map_err(MountError::Overlay)?;
    for device in DEVICES {
        mount_bind(format!("/dev/{device}"), root.join("dev").join(device))
            .map_err(|source| MountError::Device { device, source })?;
    }
    make(&root.join("old"), 0o700)
}

/// Makes what was built the only file system there is.
pub(super) fn enter_judge_root() -> Result<(), MountError> {
    let root = Path::new(STAGE).join("root");
    let old = root.join("old");
    rustix::process::pivot_root(&root, &old).map_err(MountError::PivotRoot)?;
    let enter = |path| std::env::set_current_dir(path).map_err(|source| MountError::Enter { path, source });
    enter("/")?;
    unmount("/old", UnmountFlags::DETACH).map_err(MountError::UnmountHost)?;
    std::fs::remove_dir("/old").map_err(MountError::RemoveOld)?;
    enter("/work")
}

/// The judge's own files.
fn fill(upper: &Path, plan: &JudgePlan) -> Result<(), MountError> {
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
        std::fs::write(upper.join(name), text)
            .map_err(|source| MountError::Write { name: name.to_owned(), source })
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

fn make(folder: &Path, mode: u32) -> Result<(), MountError> {
    std::fs::create_dir(folder)
        .map_err(|source| MountError::CreateFolder { path: folder.to_owned(), source })?;
    rustix::fs::chmod(folder, Mode::from_raw_mode(mode))
        .map_err(|source| MountError::Mode { path: folder.to_owned(), source })
}

/// The host's files without some folders, and processes of its own only.
pub(super) fn hide_from_student(plan: &StudentPlan) -> Result<(), MountError> {
    keep_apart()?;
    let nothing = options("size=4k,nr_inodes=2,mode=555".to_owned())?;
    let closed = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    let hide = |path: &Path| {
        mount("chicane", path, "tmpfs", closed, Some(nothing.as_c_str()))
            .map_err(|source| MountError::Hide { path: path.to_owned(), source })
    };
    for folder in plan.hide.iter().filter(|folder| folder.is_dir()) {
        hide(folder)?;
    }
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // Where a container does not allow it, there is none at all: the host's must not be there.
    if mount("proc", "/proc", "proc", safe, None).is_err() {
        return hide(Path::new("/proc"));
    }
    // Root of a student is still the owner of these files: it could change the kernel's settings and lift its own limits.
    mount_bind("/proc/sys", "/proc/sys").map_err(MountError::ProcSys)?;
    mount_remount("/proc/sys", MountFlags::BIND | MountFlags::RDONLY | safe, c"")
        .map_err(MountError::ProcSys)?;
    if Path::new("/proc/sysrq-trigger").exists() {
        mount_bind("/dev/null", "/proc/sysrq-trigger").map_err(MountError::Sysrq)?;
    }
    if Path::new(CGROUPS).is_dir() {
        hide(Path::new(CGROUPS))?;
    }
    Ok(())
}
