//! The file system of a closed box: a file system in memory with the listed folders and files of
//! the host, read-only, and a copy of the workspace.
//!
//! Two processes, outer and init, build the box (see `lib.rs`). Outer opens the listed folders
//! while it still has the simulator's rights, because the student's user may lack access to the
//! folders above them. Outer then builds the new root as the student's user. A `/proc` shows the
//! process ids of the namespace in which it was mounted, so init mounts it and not outer. Init then
//! makes the new root its root folder, and unmounts the host's file system. Besides the listed
//! folders and files, the box has only a few device files of the host (`DEVICES`).

use super::mounts::{self, DEVICES, MountError};
use super::plan::{Bind, ClosedPlan};
use super::read_only::{bind_read_only, clone_read_only, open_real};
use super::resolver::resolv_conf;
use super::virtual_time::CLOSED_FOLDER;
use crate::package;
use crate::workspace_stream;
use chicane_pace::LIBRARY_NAME;
use rustix::fs::{CWD, Mode};
use rustix::mount::{
    MountFlags, MoveMountFlags, UnmountFlags, mount, mount_bind, mount_remount, move_mount, unmount,
};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// Where the new root is built. The file system that is mounted here is visible in the new mount
/// namespace only.
const BUILD_FOLDER: &str = "/tmp";
/// Maximum number of files and folders in the box's file system in memory.
const INODES: u32 = 262_144;
/// Where the workspace is inside the box.
pub const WORKSPACE: &str = "/workspace";
/// The home folder inside the box.
pub const HOME: &str = "/home/student";
/// Folders that the program can write to, with their modes.
pub const WRITABLE: [(&str, u32); 5] =
    [(WORKSPACE, 0o755), (HOME, 0o755), ("/tmp", 0o1777), ("/var/tmp", 0o1777), ("/dev/shm", 0o1777)];
/// Where the package `chicane` is inside the box.
const PACKAGE: &str = "/opt/chicane/python";
/// The file that names the libraries which every program in the box loads.
const PRELOAD: &str = "/etc/ld.so.preload";
/// Links below `/dev` that programs expect, each with its target.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// A folder or file of the host that the box will show.
enum Source {
    /// A read-only copy of the mounts at and below the folder or file.
    Tree(OwnedFd),
    /// The opened folder or file itself, on kernels that can't copy mounts.
    File(OwnedFd),
}

/// The opened folders and files of the host, in the order of [`ClosedPlan::binds`]. An entry is
/// `None` until its folder or file is open.
#[derive(Default)]
pub(super) struct Sources(Vec<Option<Source>>);

impl Sources {
    /// Opens folders and files in the host's namespaces if the simulator runs as root. Root opens
    /// them there, because after leaving the host's namespaces root can no longer enter the private
    /// folders of other users. Other users are not allowed to copy mounts there, so for them
    /// nothing is opened. An entry that can't be opened stays `None`.
    pub(super) fn open_as_root(plan: &ClosedPlan) -> Sources {
        if !rustix::process::geteuid().is_root() {
            return Sources::default();
        }
        Sources(
            plan.binds
                .iter()
                .map(|bind| {
                    open_real(&bind.source).and_then(|file| clone_read_only(&file)).ok().map(Source::Tree)
                })
                .collect(),
        )
    }

    /// Opens in the new namespaces the folders and files that `open_as_root` has not opened. This
    /// happens before the change of user, because the student's user may lack access to them.
    pub(super) fn open_rest(&mut self, plan: &ClosedPlan) -> Result<(), MountError> {
        self.0.resize_with(plan.binds.len(), || None);
        for (source, bind) in self.0.iter_mut().zip(&plan.binds) {
            if source.is_none() {
                *source = Some(open(bind)?);
            }
        }
        Ok(())
    }
}

fn open(bind: &Bind) -> Result<Source, MountError> {
    let show = |source| MountError::Show { path: bind.source.clone(), source };
    let file = open_real(&bind.source).map_err(show)?;
    Ok(clone_read_only(&file).map_or(Source::File(file), Source::Tree))
}

/// The path of a file of the box below [`BUILD_FOLDER`], where the root of the box is built.
fn in_build(path: &Path) -> PathBuf {
    let mut built = PathBuf::from(BUILD_FOLDER);
    built.extend(path.components().filter(|part| matches!(part, Component::Normal(_))));
    built
}

/// Builds the new root, and receives the copy of the workspace over the control socket. If
/// `in_virtual_time` is set, the file [`PRELOAD`] makes every program in the box load the library
/// of virtual time.
pub(super) fn build(
    plan: &ClosedPlan,
    sources: Sources,
    in_virtual_time: bool,
    control: impl AsFd,
) -> Result<(), super::PartError> {
    mounts::make_mounts_private()?;
    let _ = rustix::process::umask(Mode::from_raw_mode(0o022));
    let size = mounts::options(format!("size={},nr_inodes={INODES},mode=755", plan.file_bytes))?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    mount("chicane", BUILD_FOLDER, "tmpfs", safe, Some(size.as_c_str())).map_err(MountError::Tmpfs)?;
    for (folder, mode) in WRITABLE {
        let folder = in_build(Path::new(folder));
        create_folders(&folder)?;
        mounts::set_mode(&folder, mode)?;
        // Each of these folders becomes a mount of its own, which stays writable when the root
        // becomes read-only.
        mount_bind(&folder, &folder).map_err(|source| MountError::Show { path: folder.clone(), source })?;
    }
    workspace_stream::receive(control, &in_build(Path::new(WORKSPACE)))?;
    for (bind, source) in plan.binds.iter().zip(sources.0) {
        attach(bind, source)?;
    }
    add_devices()?;
    write_files(plan)?;
    if in_virtual_time {
        create_folders(&in_build(Path::new(CLOSED_FOLDER)))?;
        let text = format!("{CLOSED_FOLDER}/{LIBRARY_NAME}\n");
        let failed = |source| MountError::Write { name: PRELOAD.to_owned(), source };
        std::fs::write(in_build(Path::new(PRELOAD)), text).map_err(failed)?;
    }
    let empty = mounts::options("size=4k,nr_inodes=2,mode=555".to_owned())?;
    for folder in &plan.hide {
        let closed = safe | MountFlags::NOEXEC | MountFlags::RDONLY;
        mount("chicane", in_build(folder), "tmpfs", closed, Some(empty.as_c_str()))
            .map_err(|source| MountError::Hide { path: folder.clone(), source })?;
    }
    Ok(create_folders(&in_build(Path::new("/old")))?)
}

fn create_folders(folder: &Path) -> Result<(), MountError> {
    let failed = |source| MountError::CreateFolder { path: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(failed)
}

/// Shows a folder or file of the host at its place in the box.
fn attach(bind: &Bind, source: Option<Source>) -> Result<(), MountError> {
    let target = in_build(&bind.target);
    let write = |source: io::Error| MountError::Write { name: bind.target.display().to_string(), source };
    if bind.folder {
        create_folders(&target)?;
    } else {
        target.parent().map_or(Ok(()), create_folders)?;
        std::fs::File::create(&target).map_err(write)?;
    }
    let show = |source| MountError::Show { path: bind.source.clone(), source };
    match source {
        Some(Source::Tree(tree)) => {
            move_mount(&tree, "", CWD, &target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(show)
        }
        Some(Source::File(file)) => bind_read_only(&file, &target).map_err(show),
        None => Err(show(rustix::io::Errno::NOENT)),
    }
}

fn add_devices() -> Result<(), MountError> {
    let dev = in_build(Path::new("/dev"));
    for device in DEVICES {
        let target = dev.join(device);
        let created = std::fs::File::create(&target);
        created.map_err(|source| MountError::Write { name: target.display().to_string(), source })?;
        mount_bind(format!("/dev/{device}"), target)
            .map_err(|source| MountError::Device { device, source })?;
    }
    Ok(())
}

/// Writes links, files below `/etc` and the package `chicane`. The box has these instead of the
/// host's files.
fn write_files(plan: &ClosedPlan) -> Result<(), MountError> {
    let failed = |name: &str, source| MountError::Write { name: name.to_owned(), source };
    let mut links: Vec<(&Path, &Path)> =
        DEVICE_LINKS.iter().map(|(at, to)| (Path::new(*at), Path::new(*to))).collect();
    links.extend(plan.links.iter().map(|(at, to)| (at.as_path(), to.as_path())));
    for (at, to) in links {
        let built = in_build(at);
        built.parent().map_or(Ok(()), create_folders)?;
        std::os::unix::fs::symlink(to, &built).map_err(|e| failed(&at.display().to_string(), e))?;
    }
    for (name, text) in [
        (
            "/etc/passwd",
            "root:x:0:0:root:/root:/bin/false\nstudent:x:1000:1000:student:/home/student:/bin/bash\n\
             nobody:x:65534:65534:nobody:/:/bin/false\n",
        ),
        ("/etc/group", "root:x:0:\nstudent:x:1000:\nnogroup:x:65534:\n"),
        ("/etc/hostname", "box\n"),
        ("/etc/hosts", "127.0.0.1 localhost box\n::1 localhost\n"),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n"),
        ("/etc/resolv.conf", &resolv_conf(plan.internet)),
    ] {
        let built = in_build(Path::new(name));
        built.parent().map_or(Ok(()), create_folders)?;
        std::fs::write(built, text).map_err(|e| failed(name, e))?;
    }
    create_folders(&in_build(Path::new("/proc")))?;
    let folder = in_build(Path::new(PACKAGE));
    create_folders(&folder)?;
    package::write(&folder).map_err(|e| failed(PACKAGE, e))
}

/// Makes the new root the root of this process, and unmounts the host's file system.
pub(super) fn enter(plan: &ClosedPlan) -> Result<(), MountError> {
    // The kernel mounts a new `/proc` only while a complete `/proc` is visible, so the new one is
    // mounted before the host's file system is unmounted.
    let proc = in_build(Path::new("/proc"));
    // The result is ignored. Inside some containers a new `/proc` can't be mounted, and the folder
    // then stays empty.
    let _ = mounts::mount_proc(&proc)?;
    let build = Path::new(BUILD_FOLDER);
    rustix::process::pivot_root(build, build.join("old")).map_err(MountError::PivotRoot)?;
    let enter = |path| std::env::set_current_dir(path).map_err(|source| MountError::Enter { path, source });
    enter("/")?;
    unmount("/old", UnmountFlags::DETACH).map_err(MountError::UnmountHost)?;
    std::fs::remove_dir("/old").map_err(MountError::RemoveOld)?;
    for folder in &plan.packages {
        // `add_package` fails on kernels that do not let users mount overlays. `PYTHONPATH` then
        // leads to the package (see `search_path`).
        let _ = add_package(folder);
    }
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount("/", flags, c"").map_err(MountError::ReadOnly)?;
    enter(WORKSPACE)
}

/// Mounts an overlay over a folder of installed packages, so that the folder also contains the
/// package `chicane`.
fn add_package(folder: &Path) -> Result<(), MountError> {
    let escaped = folder.display().to_string().replace('\\', "\\\\").replace(':', "\\:").replace(',', "\\,");
    let layers = mounts::options(format!("lowerdir={PACKAGE}:{escaped}"))?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
    mount("chicane", folder, "overlay", safe, Some(layers.as_c_str())).map_err(MountError::Overlay)
}

/// The value of `PYTHONPATH` that a program needs to import the package `chicane`.
/// [`ClosedPlan::packages`] has only folders that lack this package. The value is `None` if
/// [`enter`] could mount the package into every one of these folders, so that no search path is
/// needed.
pub(super) fn search_path(plan: &ClosedPlan) -> Option<&'static str> {
    let lacks = |folder: &PathBuf| !folder.join(package::NAME).exists();
    plan.packages.iter().any(lacks).then_some(PACKAGE)
}
