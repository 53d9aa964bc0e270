//! The filter of system calls for a judge. It allows the calls that Python and common programs use.
//!
//! Any other call fails with `ENOSYS`, as on an older kernel, so that libraries use their fallback.
//! Some calls are allowed only with certain arguments: no new namespaces, no unusual socket
//! families, and no close or replacement of the channel to the simulator. Without control groups
//! the filter also refuses memory that belongs to no process.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Allowed calls that exist on every architecture.
const ALLOWED: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_readlinkat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_umask,
    libc::SYS_ftruncate,
    libc::SYS_truncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_utimensat,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_ioctl,
    libc::SYS_dup,
    libc::SYS_pipe2,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_membarrier,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_signalfd4,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_getpriority,
    libc::SYS_setpriority,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_getpgid,
    libc::SYS_setpgid,
    libc::SYS_getsid,
    libc::SYS_setsid,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_capget,
    libc::SYS_prctl,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_prlimit64,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmmsg,
];

/// Allowed calls that exist on x86-64 only.
#[cfg(target_arch = "x86_64")]
const X86_ONLY: &[i64] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_getdents,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_readlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_inotify_init,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_time,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const X86_ONLY: &[i64] = &[];

/// Every flag of `clone` that creates a namespace.
pub(super) const NEW_NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Why the filter of system calls could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// The filter could not be compiled.
    #[error("the filter of system calls can't be compiled: {0}")]
    Build(#[source] seccompiler::BackendError),
    /// The kernel refused the filter.
    #[error("the filter of system calls can't be installed: {0}")]
    Install(#[source] seccompiler::Error),
}

/// Calls that get memory which belongs to no process. They are allowed only where a control group
/// counts memory, because elsewhere the simulator adds up the memory of processes and would miss
/// this memory. Python's `multiprocessing` does not need these calls: it uses files in /dev/shm.
const UNOWNED_MEMORY: &[i64] = &[
    libc::SYS_memfd_create,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmdt,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
];

/// Installs the filter for this thread and the processes that it starts. The filter keeps these
/// processes from closing or replacing the descriptor `channel`. `counted` says whether a control
/// group counts their memory.
pub(super) fn install(channel: i32, counted: bool) -> Result<(), FilterError> {
    let program = build(channel, counted).map_err(FilterError::Build)?;
    seccompiler::apply_filter(&program).map_err(FilterError::Install)
}

fn build(channel: i32, counted: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let no_such_call = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules(channel, counted)?, no_such_call, SeccompAction::Allow, arch)?.try_into()
}

fn rules(channel: i32, counted: bool) -> Result<Rules, seccompiler::BackendError> {
    let unowned = if counted { UNOWNED_MEMORY } else { &[] };
    let allowed = ALLOWED.iter().chain(X86_ONLY).chain(unowned);
    let mut rules: Rules = allowed.map(|call| (*call, Vec::new())).collect();
    let channel = u64::from(channel.unsigned_abs());
    let when = |argument, operator, value| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
    };
    rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(NEW_NAMESPACES), 0)?]);
    for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK] {
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            rules.entry(call).or_default().push(when(0, SeccompCmpOp::Eq, u64::from(family.unsigned_abs()))?);
        }
    }
    rules.insert(libc::SYS_close, vec![when(0, SeccompCmpOp::Ne, channel)?]);
    rules.insert(libc::SYS_dup3, vec![when(1, SeccompCmpOp::Ne, channel)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_dup2, vec![when(1, SeccompCmpOp::Ne, channel)?]);
    // `close_range` is allowed only for ranges that do not include the channel.
    let range = vec![when(1, SeccompCmpOp::Lt, channel)?, when(0, SeccompCmpOp::Gt, channel)?];
    rules.insert(libc::SYS_close_range, range);
    // Only these options of `prctl` are allowed. Other options could change the memory map
    // (`PR_SET_MM`) or permit tracing (`PR_SET_PTRACER`).
    let harmless = [libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_PDEATHSIG, libc::PR_GET_DUMPABLE];
    let harmless: Result<Vec<_>, _> =
        harmless.iter().map(|option| when(0, SeccompCmpOp::Eq, u64::from(option.unsigned_abs()))).collect();
    rules.insert(libc::SYS_prctl, harmless?);
    if !counted {
        // A memory map must be private or a map of a file. A shared anonymous map is refused,
        // because its memory belongs to no process.
        let flag = |flag: i32| when(3, SeccompCmpOp::MaskedEq(u64::from(flag.unsigned_abs())), 0);
        rules.insert(libc::SYS_mmap, vec![flag(libc::MAP_SHARED)?, flag(libc::MAP_ANONYMOUS)?]);
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_filter_can_be_built() {
        for counted in [true, false] {
            assert!(!super::build(3, counted).expect("built").is_empty());
        }
    }
}
