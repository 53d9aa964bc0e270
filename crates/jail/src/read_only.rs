//! Read-only copies of mounts, including the mounts below them.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{MountFlags, OpenTreeFlags, mount_bind_recursive, mount_remount, open_tree};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Opens a path, and fails if a part of the path is a symbolic link. A student may have put a link
/// there after the box was planned, and the link could lead to a folder that only the simulator may
/// enter.
pub(super) fn open_real(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6 can only check the last part of the path.
        Err(Errno::NOSYS) => rustix::fs::open(path, flags, Mode::empty()),
        opened => opened,
    }
}

/// Copies the mounts at and below an opened file or folder, read-only. The copy is not attached
/// anywhere. Fails on kernels before 5.12.
pub(super) fn clone_read_only(file: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(file, "", flags)?;
    set_read_only(&tree)?;
    Ok(tree)
}

#[allow(unsafe_code)]
fn set_read_only(tree: &OwnedFd) -> Result<(), Errno> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    // SAFETY: the path is a C string, and the size is that of the attributes. The kernel only reads
    // both.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    match failed {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
    }
}

/// Mounts an opened file or folder at a path, with the mounts below it, and makes each of them
/// read-only. Older kernels need this, because they can't copy mounts (see [`clone_read_only`]).
pub(super) fn bind_read_only(file: &OwnedFd, target: &Path) -> Result<(), Errno> {
    mount_bind_recursive(format!("/proc/self/fd/{}", file.as_raw_fd()), target)?;
    let table = std::fs::read_to_string("/proc/self/mountinfo").map_err(|_| Errno::IO)?;
    for (path, flags) in mounts_below(&table, target) {
        let safe = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        mount_remount(&path, MountFlags::BIND | safe | flags, c"")?;
    }
    Ok(())
}

/// The mounts at and below a path, with the flags that a remount must keep. `table` is the text of
/// `/proc/self/mountinfo`.
fn mounts_below(table: &str, target: &Path) -> Vec<(PathBuf, MountFlags)> {
    let row = |line: &str| {
        let mut fields = line.split(' ').skip(4);
        let (path, options) = (PathBuf::from(unescaped(fields.next()?)), fields.next()?);
        let flags = options.split(',').filter_map(|option| match option {
            "noexec" => Some(MountFlags::NOEXEC),
            "noatime" => Some(MountFlags::NOATIME),
            "nodiratime" => Some(MountFlags::NODIRATIME),
            "relatime" => Some(MountFlags::RELATIME),
            _ => None,
        });
        path.starts_with(target).then(|| (path, flags.fold(MountFlags::empty(), |all, one| all | one)))
    };
    table.lines().filter_map(row).collect()
}

/// Replaces the octal numbers that stand for blanks, tabs, line ends and backslashes.
fn unescaped(text: &str) -> String {
    let mut plain = text.to_owned();
    for (number, character) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(number, character);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mounts_below_a_path_keep_their_flags() {
        let table = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /tmp/usr ro,nosuid,noexec,relatime - tmpfs x rw
31 30 0:27 / /tmp/usr/a\\040b rw,noatime shared:2 - tmpfs x rw
32 22 0:28 / /tmp/usrlocal rw - tmpfs x rw
";
        assert_eq!(
            mounts_below(table, Path::new("/tmp/usr")),
            [
                (PathBuf::from("/tmp/usr"), MountFlags::NOEXEC | MountFlags::RELATIME),
                (PathBuf::from("/tmp/usr/a b"), MountFlags::NOATIME),
            ]
        );
    }
}
