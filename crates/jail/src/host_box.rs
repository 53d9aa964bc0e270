//! The file system of a student's program in a host box: the host's files, without the files of any
//! simulator.
//!
//! Theory of operation. Init builds the box in its own mount namespace, with four kinds of mounts:
//!
//! - An empty, read-only file system hides each folder of a simulator, the control groups, and
//!   every `proc` that the host has mounted outside of `/proc`. If the folder of a simulator is
//!   also mounted at another path of the host, that path is hidden as well.
//! - Each folder above a hidden folder or above the program `chicane` is bound onto itself. The
//!   kernel refuses to rename or remove a folder that is a mount point in the namespace of the
//!   caller, so the program can't move a data folder away and put another one in its place.
//! - The program `chicane` is bound onto itself, read-only.
//! - New instances of `/proc` and `/dev/pts` show the program's own processes and terminals only.
//!
//! The student's program has no right to change these mounts. If the program creates a user
//! namespace, the kernel locks these mounts there, so that the program can't undo them either.

use super::cgroup_path::BASE;
use super::mount_table::{MountPoint, mount_table};
use super::mounts::{MountError, make_mounts_private, mount_proc, options};
use super::plan::StudentPlan;
use rustix::fs::StatVfsMountFlags;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive, mount_remount};
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Types of file systems that are hidden wherever they are mounted, except at and below `/proc`.
const HIDDEN_KINDS: [&str; 3] = ["cgroup", "cgroup2", "proc"];
/// Mount options of an empty file system.
const EMPTY: &str = "size=4k,nr_inodes=2,mode=555";

/// Why a host box could not be built.
#[derive(Debug, thiserror::Error)]
pub enum HostBoxError {
    /// A mount failed that is not specific to host boxes.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The table of this machine's mounts could not be read.
    #[error("the mounts of this machine can't be read: {0}")]
    Table(#[source] io::Error),
    /// The path of this process's program could not be read.
    #[error("the program chicane can't be found: {0}")]
    OwnProgram(#[source] io::Error),
    /// The workspace is in a folder that is hidden.
    #[error(
        "the workspace {} is in the folder {} of a simulator, which student programs must not see; \
         choose another --workspace",
        .workspace.display(), .folder.display()
    )]
    WorkspaceHidden {
        /// The workspace.
        workspace: PathBuf,
        /// The hidden folder.
        folder: PathBuf,
    },
    /// A folder of the host could not be hidden.
    #[error("{} can't be hidden: {source}", .path.display())]
    Hide {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// A folder could not be bound onto itself, which would protect it against renaming.
    #[error("{} can't be protected against renaming: {source}", .path.display())]
    Pin {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// The program `chicane` could not be made read-only.
    #[error("{} can't be made read-only: {source}", .path.display())]
    Program {
        /// The program.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
}

/// Hides the files of all simulators from a student's program, and shows the program only its own
/// processes.
pub(super) fn build(plan: &StudentPlan) -> Result<(), HostBoxError> {
    make_mounts_private()?;
    let table = mount_table().map_err(HostBoxError::Table)?;
    let program = own_program()?;
    // A folder that this user can't reach is left out, because the program can't reach it either.
    let hidden: BTreeSet<PathBuf> =
        plan.hide.iter().filter_map(|path| std::fs::canonicalize(path).ok()).filter(|p| p.is_dir()).collect();
    refuse_hidden_workspace(&plan.workspace, &hidden)?;

    let mut everything: BTreeSet<PathBuf> = hidden.clone();
    everything.extend(hidden.iter().flat_map(|folder| other_paths(folder, &table)));
    let of_kernel = table.iter().filter(|at| HIDDEN_KINDS.contains(&at.kind.as_str()));
    everything.extend(of_kernel.map(|at| at.path.clone()).filter(|path| !path.starts_with("/proc")));
    everything.extend(Some(PathBuf::from(BASE)).filter(|folder| folder.is_dir()));
    let everything = outermost(&everything);

    for folder in parents(hidden.iter().chain(&program)) {
        let is_mount = table.iter().any(|at| at.path == folder);
        if !is_mount && !is_below(&folder, &everything) {
            mount_bind_recursive(&folder, &folder)
                .map_err(|source| HostBoxError::Pin { path: folder.clone(), source })?;
        }
    }
    if let Some(program) = program.filter(|program| !is_below(program, &everything)) {
        protect_program(&program)?;
    }
    for folder in &everything {
        hide(folder)?;
    }
    renew_terminals()?;
    let proc = Path::new("/proc");
    // An empty folder hides the host's processes where a new `/proc` can't be mounted.
    if mount_proc(proc)? { Ok(()) } else { hide(proc) }
}

/// The file of the program `chicane`. `None` if its file was removed or replaced.
fn own_program() -> Result<Option<PathBuf>, HostBoxError> {
    let link = Path::new("/proc/self/exe");
    let path = std::fs::read_link(link).map_err(HostBoxError::OwnProgram)?;
    Ok(Some(path).filter(|path| is_same(path, link)))
}

/// Whether two paths lead to the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| std::fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
    id(one).is_some_and(|id_of_one| id(other) == Some(id_of_one))
}

/// Refuses a workspace inside of a hidden folder, because the program could not see the workspace.
/// A workspace that is itself a hidden folder is allowed, and appears empty.
fn refuse_hidden_workspace(workspace: &Path, hidden: &BTreeSet<PathBuf>) -> Result<(), HostBoxError> {
    let real = std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
    match hidden.iter().find(|folder| real != **folder && real.starts_with(folder)) {
        Some(folder) => {
            Err(HostBoxError::WorkspaceHidden { workspace: workspace.to_owned(), folder: folder.clone() })
        }
        None => Ok(()),
    }
}

/// Further paths that lead to a folder, because its file system is mounted more than once.
fn other_paths(folder: &Path, table: &[MountPoint]) -> Vec<PathBuf> {
    // Of several mounts at the same path, the last one is on top. `max_by_key` returns the last
    // one.
    let holder = table.iter().filter(|at| folder.starts_with(&at.path));
    let Some(holder) = holder.max_by_key(|at| at.path.as_os_str().len()) else { return Vec::new() };
    let Ok(below) = folder.strip_prefix(&holder.path) else { return Vec::new() };
    let inside = holder.root.join(below);
    let others = table.iter().filter(|at| at.device == holder.device);
    let paths = others.filter_map(|at| Some(at.path.join(inside.strip_prefix(&at.root).ok()?)));
    paths.filter(|path| path != folder && is_same(path, folder)).collect()
}

/// The paths of a set that are not inside of another path of the set.
fn outermost(paths: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let mut kept = BTreeSet::new();
    for path in paths {
        // The set is sorted, so a folder comes before the paths inside of it.
        if !is_below(path, &kept) {
            kept.insert(path.clone());
        }
    }
    kept
}

fn is_below(path: &Path, folders: &BTreeSet<PathBuf>) -> bool {
    path.ancestors().any(|ancestor| folders.contains(ancestor))
}

/// All parent folders of these paths except the root folder. A parent comes before its children.
fn parents<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> BTreeSet<PathBuf> {
    let parents = paths.flat_map(|path| path.ancestors().skip(1));
    parents.filter(|parent| parent.parent().is_some()).map(Path::to_owned).collect()
}

/// Binds the program onto itself, read-only.
fn protect_program(program: &Path) -> Result<(), HostBoxError> {
    let failed = |source| HostBoxError::Program { path: program.to_owned(), source };
    mount_bind(program, program).map_err(failed)?;
    // The kernel refuses a remount that would drop one of the flags below, so the flags that are
    // set are kept.
    let flags = rustix::fs::statvfs(program).map_err(failed)?.f_flag;
    let kept = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let kept = kept.into_iter().filter(|(has, _)| flags.contains(*has)).map(|(_, keep)| keep);
    let read_only = kept.fold(MountFlags::BIND | MountFlags::RDONLY, |all, one| all | one);
    mount_remount(program, read_only, c"").map_err(failed)
}

/// Hides a folder of the host. A folder that is gone or out of reach needs no hiding.
fn hide(path: &Path) -> Result<(), HostBoxError> {
    match mount_empty(path) {
        Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) if std::fs::read_dir(path).is_err() => Ok(()),
        done => done.map_err(|source| HostBoxError::Hide { path: path.to_owned(), source }),
    }
}

fn mount_empty(path: &Path) -> Result<(), Errno> {
    let closed = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    let empty = options(EMPTY.to_owned()).map_err(|_| Errno::INVAL)?;
    mount("chicane", path, "tmpfs", closed, Some(empty.as_c_str()))
}

/// Mounts a new `/dev/pts` without terminals over that of the host. Otherwise the program could
/// write to the terminals of the user who started the simulator.
fn renew_terminals() -> Result<(), HostBoxError> {
    let folder = Path::new("/dev/pts");
    if !folder.is_dir() {
        return Ok(());
    }
    let own: &CStr = c"newinstance,ptmxmode=0666,mode=0620";
    match mount("chicane", folder, "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, Some(own)) {
        Ok(()) => Ok(()),
        Err(_) => hide(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(all: &[&str]) -> BTreeSet<PathBuf> {
        all.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_folder_inside_of_a_hidden_folder_is_not_hidden_again() {
        let all = paths(&["/a", "/a/b", "/a.b", "/a.b/c/d", "/ab/c"]);
        assert_eq!(outermost(&all), paths(&["/a", "/a.b", "/ab/c"]));
    }

    #[test]
    fn parents_come_before_their_children_and_the_root_is_left_out() {
        let all = [PathBuf::from("/home/u/.local/share/chicane"), PathBuf::from("/home/u/bin/chicane")];
        let parents: Vec<PathBuf> = parents(all.iter()).into_iter().collect();
        let expected = ["/home", "/home/u", "/home/u/.local", "/home/u/.local/share", "/home/u/bin"];
        assert_eq!(parents, expected.map(PathBuf::from));
    }

    #[test]
    fn a_workspace_inside_of_a_hidden_folder_is_refused_with_the_remedy() {
        let hidden = paths(&["/nowhere/data"]);
        let refused = refuse_hidden_workspace(Path::new("/nowhere/data/work"), &hidden).expect_err("hidden");
        assert_eq!(
            refused.to_string(),
            "the workspace /nowhere/data/work is in the folder /nowhere/data of a simulator, which student \
             programs must not see; choose another --workspace"
        );
        for allowed in ["/nowhere", "/nowhere/data", "/nowhere/data2"] {
            assert!(refuse_hidden_workspace(Path::new(allowed), &hidden).is_ok(), "{allowed}");
        }
    }
}
