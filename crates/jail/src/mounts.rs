//! Builds the file system inside a judge's jail. Other jails use some of these functions too.

use super::plan::JudgePlan;
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, mount_remount, unmount,
};
use std::ffi::{CString, NulError};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Device files of a judge, and of a closed box.
pub(super) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// The device that a judge lacks if no control group counts memory: a shared map of it is memory
/// that belongs to no process.
const SHARED_MEMORY_DEVICE: &str = "zero";
/// Limit of inodes in the judge's writable layer.
const INODES: u32 = 16_384;
/// Where the judge's file system is assembled. The file system that is mounted here is visible in
/// the new mount namespace only.
const BUILD_FOLDER: &str = "/tmp";

/// Why the file system inside a jail could not be built.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The mounts of the new namespace could not be made private.
    #[error("mounts can't be made private: {0}")]
    Private(#[source] Errno),
    /// The mount options contain a zero byte.
    #[error("the mount options contain a zero byte: {0}")]
    Options(#[source] NulError),
    /// A file system in memory (tmpfs) could not be mounted.
    #[error("a file system in memory can't be mounted: {0}")]
    Tmpfs(#[source] Errno),
    /// The overlay of the prepared root could not be mounted.
    #[error("an overlay of the judge's root can't be mounted: {0}")]
    Overlay(#[source] Errno),
    /// A device file could not be bound into the root of a judge or of a closed box.
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
    /// The host's file system could not be unmounted from the new root.
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
    /// A file inside the jail could not be written.
    #[error("{name} can't be written: {source}")]
    Write {
        /// Path of the file inside the jail.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A folder could not be created.
    #[error("{} can't be created: {source}", .path.display())]
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
    /// A folder of the host could not be hidden.
    #[error("{} can't be hidden: {source}", .path.display())]
    Hide {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// A folder or file could not be shown in a closed box.
    #[error("{} can't be shown in the box: {source}", .path.display())]
    Show {
        /// The folder or file of the host.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// The root of a closed box could not be made read-only.
    #[error("the root of the box can't be made read-only: {0}")]
    ReadOnly(#[source] Errno),
    /// `/proc/sys` could not be made read-only.
    #[error("/proc/sys can't be made read-only: {0}")]
    ProcSys(#[source] Errno),
    /// `/proc/sysrq-trigger` could not be hidden.
    #[error("/proc/sysrq-trigger can't be hidden: {0}")]
    Sysrq(#[source] Errno),
    /// The host's `resolv.conf` could not be replaced inside.
    #[error("/etc/resolv.conf can't be replaced inside: {0}")]
    ResolvConf(#[source] Errno),
}

/// Stops the propagation of mounts between this namespace and the host, in both directions.
pub(super) fn make_mounts_private() -> Result<(), MountError> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(MountError::Private)
}

/// Mount options as the kernel takes them.
pub(super) fn options(text: String) -> Result<CString, MountError> {
    CString::new(text).map_err(MountError::Options)
}

/// Builds the judge's root: an overlay of the prepared root `lower` and a writable layer in memory,
/// with the device files of the judge.
pub(super) fn build_judge_root(plan: &JudgePlan, lower: &OwnedFd) -> Result<(), MountError> {
    make_mounts_private()?;
    let size = options(format!("size={},nr_inodes={INODES},mode=755", plan.file_bytes))?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    mount("chicane", BUILD_FOLDER, "tmpfs", safe, Some(size.as_c_str())).map_err(MountError::Tmpfs)?;
    let build = Path::new(BUILD_FOLDER);
    let (upper, root) = (build.join("upper"), build.join("root"));
    for folder in [&upper, &build.join("work"), &root] {
        create_folder(folder, 0o755)?;
    }
    fill(&upper, plan)?;
    let lower = lower.as_raw_fd();
    let layers = format!(
        "lowerdir=/proc/self/fd/{lower},upperdir={BUILD_FOLDER}/upper,workdir={BUILD_FOLDER}/work,userxattr"
    );
    mount("chicane", &root, "overlay", safe, Some(options(layers)?.as_c_str()))
        .map_err(MountError::Overlay)?;
    for device in devices(plan) {
        mount_bind(format!("/dev/{device}"), root.join("dev").join(device))
            .map_err(|source| MountError::Device { device, source })?;
    }
    create_folder(&root.join("old"), 0o700)
}

/// Makes the assembled root the root of this process, and unmounts the host's file system. The
/// working directory is then `/work`.
pub(super) fn enter_judge_root() -> Result<(), MountError> {
    let root = Path::new(BUILD_FOLDER).join("root");
    let old = root.join("old");
    rustix::process::pivot_root(&root, &old).map_err(MountError::PivotRoot)?;
    let enter = |path| std::env::set_current_dir(path).map_err(|source| MountError::Enter { path, source });
    enter("/")?;
    unmount("/old", UnmountFlags::DETACH).map_err(MountError::UnmountHost)?;
    std::fs::remove_dir("/old").map_err(MountError::RemoveOld)?;
    enter("/work")
}

fn devices(plan: &JudgePlan) -> impl Iterator<Item = &'static str> {
    let counted = plan.counted;
    DEVICES.into_iter().filter(move |device| counted || *device != SHARED_MEMORY_DEVICE)
}

/// Writes the judge's own files into the writable layer.
fn fill(upper: &Path, plan: &JudgePlan) -> Result<(), MountError> {
    for (folder, mode) in [
        ("dev", 0o755),
        ("dev/shm", 0o1777),
        ("etc", 0o755),
        ("tmp", 0o1777),
        ("work", 0o755),
        ("judge", 0o755),
    ] {
        create_folder(&upper.join(folder), mode)?;
    }
    // These files hide the files of the same name in the prepared root.
    let write = |name: &str, text: &str| {
        std::fs::write(upper.join(name), text)
            .map_err(|source| MountError::Write { name: name.to_owned(), source })
    };
    for device in devices(plan) {
        write(&format!("dev/{device}"), "")?;
    }
    write("etc/passwd", "root:x:0:0:judge:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")?;
    write("etc/group", "root:x:0:\nnogroup:x:65534:\n")?;
    write("etc/hostname", "judge\n")?;
    write("etc/hosts", "127.0.0.1 localhost judge\n::1 localhost\n")?;
    write("etc/resolv.conf", &super::resolver::resolv_conf(plan.internet))?;
    write("judge/harness.py", &plan.harness)
}

fn create_folder(folder: &Path, mode: u32) -> Result<(), MountError> {
    std::fs::create_dir(folder)
        .map_err(|source| MountError::CreateFolder { path: folder.to_owned(), source })?;
    set_mode(folder, mode)
}

pub(super) fn set_mode(folder: &Path, mode: u32) -> Result<(), MountError> {
    rustix::fs::chmod(folder, Mode::from_raw_mode(mode))
        .map_err(|source| MountError::Mode { path: folder.to_owned(), source })
}

/// Mounts a `/proc` that shows the processes of the jail only. Returns false if the kernel refuses
/// the mount, as it does inside some containers.
pub(super) fn mount_proc(at: &Path) -> Result<bool, MountError> {
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if mount("proc", at, "proc", safe, None).is_err() {
        return Ok(false);
    }
    // Otherwise a student's program that runs as root could change kernel settings through
    // `/proc/sys` and, for example, restart the machine through `/proc/sysrq-trigger`.
    let (sys, sysrq) = (at.join("sys"), at.join("sysrq-trigger"));
    mount_bind(&sys, &sys).map_err(MountError::ProcSys)?;
    mount_remount(&sys, MountFlags::BIND | MountFlags::RDONLY | safe, c"").map_err(MountError::ProcSys)?;
    if sysrq.exists() {
        mount_bind("/dev/null", &sysrq).map_err(MountError::Sysrq)?;
    }
    Ok(true)
}
