//! Notices that a judge's file system was full, even if the script deletes its files right
//! afterwards.
//!
//! The kernel keeps no trace of a full tmpfs. A script may catch the error `ENOSPC` of a write and
//! delete its files, so a check of the free space every 20 ms would miss that the file system was
//! full. Therefore the kernel notifies init before a system call that writes, creates or deletes a
//! file (a user notification of seccomp). Init checks the free space and then lets the call
//! continue. A call gets `ENOSPC` only if no room was left when the call began, so init sees the
//! full file system before the script gets the error.
//!
//! Writes to descriptors 1 and 2 are not watched, because a script may print often and a
//! notification takes some microseconds. A script may open a file as one of these descriptors and
//! fill the file system through it. To free the space of a deleted file again, the script has to
//! replace or close the descriptor or end the process, so these calls are watched.
//!
//! Init also checks the free space every 20 ms. Two cases are left to that check. First, a write
//! through a memory map of a file is no system call; if the file system is full, the kernel ends
//! the process with a signal. Second, a script may fill the file system with a write that still
//! succeeds, and then free the space by closing a file that it has deleted before. Such a close is
//! not watched unless the descriptor is 1 or 2.

use libc::{c_ulong, sock_filter, sock_fprog};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Calls that are always watched.
const CALLS: &[i64] = &[
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_copy_file_range,
    libc::SYS_fallocate,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_openat2,
    libc::SYS_close_range,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit_group,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_pidfd_send_signal,
];
/// Calls that are always watched and exist on x86-64 only.
#[cfg(target_arch = "x86_64")]
const X86_CALLS: &[i64] = &[
    libc::SYS_creat,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
];
#[cfg(not(target_arch = "x86_64"))]
const X86_CALLS: &[i64] = &[];
/// Calls that are watched unless they write to descriptor 1, descriptor 2 or the harness's channel
/// to the simulator.
const WRITES: &[i64] = &[libc::SYS_write, libc::SYS_writev];
/// Calls that are watched if they close or replace descriptor 1 or 2, each with the index of the
/// argument that contains the descriptor.
#[cfg(target_arch = "x86_64")]
const CLOSES: &[(i64, u32)] = &[(libc::SYS_close, 0), (libc::SYS_dup3, 1), (libc::SYS_dup2, 1)];
#[cfg(not(target_arch = "x86_64"))]
const CLOSES: &[(i64, u32)] = &[(libc::SYS_close, 0), (libc::SYS_dup3, 1)];
/// Calls that are watched if their flags open a file for writing, each with the index of the
/// argument that contains the flags.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(i64, u32)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(i64, u32)] = &[(libc::SYS_openat, 2)];
/// A call opens a file for writing if it has at least one of these flags.
const FOR_WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC).cast_unsigned();

/// The `ioctl` requests of the kernel's notification descriptor: `_IOWR('!', 0, seccomp_notif)`,
/// `_IOWR('!', 1, seccomp_notif_resp)` and `_IOW('!', 4, u64)`.
const RECEIVE: c_ulong = 0xc050_2100;
const RESPOND: c_ulong = 0xc018_2101;
const SET_FLAGS: c_ulong = 0x4008_2104;
/// A flag for `SET_FLAGS` (`SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`). It tells the kernel that the
/// waiting process and init run in turns, so the kernel should not move them to two processors.
const WAKE_IN_TURN: u64 = 1;

/// The descriptor on which the kernel notifies init of a call before the call begins.
#[derive(Debug)]
pub(super) struct FileWatch {
    listener: OwnedFd,
}

impl FileWatch {
    /// Starts to watch system calls of this thread and of all processes that it starts later. The
    /// documentation of this module says which calls are watched.
    ///
    /// `channel` is the descriptor of the harness's channel. A watched call blocks until its
    /// notification is answered, so another thread has to answer it (see [`FileWatch::answer`]).
    #[allow(unsafe_code)]
    pub(super) fn install(channel: i32) -> io::Result<FileWatch> {
        let mut filter = filter(channel.cast_unsigned());
        let length = u16::try_from(filter.len()).map_err(io::Error::other)?;
        let program = sock_fprog { len: length, filter: filter.as_mut_ptr() };
        let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
        // SAFETY: `program` points to `filter`, which lives longer than the call.
        let listener = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
        if listener < 0 {
            return Err(io::Error::last_os_error());
        }
        let listener = i32::try_from(listener).map_err(io::Error::other)?;
        // SAFETY: the kernel has just created this descriptor, and no other value owns it.
        let listener = unsafe { OwnedFd::from_raw_fd(listener) };
        // SAFETY: the request takes a number and no pointer. Linux before 6.6 refuses the request,
        // and then the answers take a little longer.
        let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, WAKE_IN_TURN) };
        Ok(FileWatch { listener })
    }

    /// The descriptor to poll: it is readable while a watched call waits for its answer.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.listener)
    }

    /// Lets the next waiting call continue. Runs `look` first, before the call begins. The caller
    /// must have polled the descriptor, because this function blocks until a call is waiting.
    #[allow(unsafe_code)]
    pub(super) fn answer(&self, look: impl FnOnce()) {
        // SAFETY: all bytes zero are a valid value, and the kernel requires them.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes at most the size of the structure, which is part of `RECEIVE`.
        let received = unsafe { libc::ioctl(self.listener.as_raw_fd(), RECEIVE, &raw mut call) };
        if received != 0 {
            return; // The waiting process was killed or interrupted.
        }
        look();
        let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1);
        let mut answer = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags };
        // SAFETY: the kernel reads at most the size of the structure, which is part of `RESPOND`.
        // An error means that the process was killed or interrupted.
        let _ = unsafe { libc::ioctl(self.listener.as_raw_fd(), RESPOND, &raw mut answer) };
    }
}

/// Whether the kernel refused the watch because a program around the simulator, for instance a
/// container engine, already watches this process with a notification descriptor. The kernel allows
/// only one such descriptor for a process.
pub(super) fn is_taken(why: &io::Error) -> bool {
    why.raw_os_error() == Some(Errno::BUSY.raw_os_error())
}

/// The filter program. It has one block for each call, which is skipped if the number of the call
/// is another one. Each block ends with a decision: notify init, or allow the call.
fn filter(channel: u32) -> Vec<sock_filter> {
    let load = |at: u32| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at);
    let end = |action: u32| statement(libc::BPF_RET | libc::BPF_K, action);
    // The low half of an argument. In the data that the kernel gives the filter, the number of the
    // call is at byte 0, and the arguments begin at byte 16.
    let low = if cfg!(target_endian = "little") { 0 } else { 4 };
    let argument = |n: u32| load(16 + 8 * n + low);
    let (ask, allow) = (libc::SECCOMP_RET_USER_NOTIF, libc::SECCOMP_RET_ALLOW);
    let mut blocks: Vec<(i64, Vec<sock_filter>)> = Vec::new();
    for call in CALLS.iter().chain(X86_CALLS) {
        blocks.push((*call, vec![end(ask)]));
    }
    for call in WRITES {
        let printed = [jump(libc::BPF_JEQ, 1, 3), jump(libc::BPF_JEQ, 2, 2)];
        let mut body = vec![argument(0)];
        body.extend(printed);
        body.extend([jump(libc::BPF_JEQ, channel, 1), end(ask), end(allow)]);
        blocks.push((*call, body));
    }
    for (call, descriptor) in CLOSES {
        let (first, second) = (jump(libc::BPF_JEQ, 1, 2), jump(libc::BPF_JEQ, 2, 1));
        blocks.push((*call, vec![argument(*descriptor), first, second, end(allow), end(ask)]));
    }
    for (call, flags) in OPENS {
        let body = vec![argument(*flags), jump(libc::BPF_JSET, FOR_WRITING, 1), end(allow), end(ask)];
        blocks.push((*call, body));
    }
    let mut program = vec![load(0)];
    for (call, body) in blocks {
        let number = u32::try_from(call).unwrap_or(u32::MAX);
        let skip = u8::try_from(body.len()).unwrap_or(u8::MAX);
        program.push(sock_filter { jf: skip, jt: 0, ..jump(libc::BPF_JEQ, number, 0) });
        program.extend(body);
    }
    program.push(end(allow));
    program
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// A comparison that skips `steps` statements if it holds.
fn jump(comparison: u32, k: u32, steps: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | libc::BPF_K | comparison) as u16, jt: steps, jf: 0, k }
}
