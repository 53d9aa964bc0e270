//! Resource limits and privileges inside a jail. They are set before the program starts, and all
//! processes of the program inherit them.

use super::plan::JudgePlan;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Maximum number of open files of a process in a judge's jail, if a control group counts memory.
const OPEN_FILES: u64 = 256;
/// Maximum number of open files of a process in a judge's jail, if no control group counts memory.
/// The kernel's socket buffers belong to no process, so the simulator does not measure their
/// memory. Only the number of sockets limits it.
const OPEN_FILES_UNCOUNTED: u64 = 128;
/// Maximum address space of a process in a judge's jail, in bytes, if no control group counts
/// memory. This limit bounds the page tables, which grow even if a process only reads memory that
/// it has never written.
const ADDRESS_SPACE_UNCOUNTED: u64 = 8 << 30;
/// Maximum number of open files of a process in a closed box.
const CLOSED_OPEN_FILES: u64 = 4096;
/// Nice value of a student's program. It is above 0, so that the kernel prefers the simulator.
const NICE: i32 = 5;

/// Why a limit could not be set, or a privilege could not be dropped.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// `setrlimit` failed.
    #[error("the limit of {what} can't be set: {source}")]
    Resource {
        /// What the limit counts.
        what: &'static str,
        /// The kernel's error.
        source: Errno,
    },
    /// A capability could not be dropped.
    #[error("privileges can't be dropped: {0}")]
    Privileges(#[source] Errno),
    /// Inherited descriptors could not be marked as close-on-exec.
    #[error("close_range: {0}")]
    CloseRange(#[source] std::io::Error),
}

/// Every capability bit, whether or not the kernel knows it.
pub(super) fn each_capability() -> impl Iterator<Item = CapabilitySet> {
    (0..64).map(|bit| CapabilitySet::from_bits_retain(1 << bit))
}

/// Sets the limits of a judge.
pub(super) fn limit_judge(plan: &JudgePlan) -> Result<(), LimitError> {
    // This limit is slightly higher than the allowed number, because it is only a fallback. The
    // control group or the watchdog enforces the allowed number.
    limit("processes", Resource::Nproc, plan.processes + 8)?;
    let open_files = if plan.counted { OPEN_FILES } else { OPEN_FILES_UNCOUNTED };
    limit("open files", Resource::Nofile, open_files)?;
    if !plan.counted {
        limit("address space", Resource::As, ADDRESS_SPACE_UNCOUNTED)?;
    }
    limit("size of a file", Resource::Fsize, plan.file_bytes)?;
    limit("core dumps", Resource::Core, 0)?;
    limit("locked memory", Resource::Memlock, 1 << 20)?;
    limit("message queues", Resource::Msgqueue, 1 << 16)?;
    prefer_for_oom_kill();
    Ok(())
}

/// Sets the limits of a student's program.
pub(super) fn limit_student(processes: u64) -> Result<(), LimitError> {
    limit("processes", Resource::Nproc, processes)?;
    limit("core dumps", Resource::Core, 0)?;
    prefer_for_oom_kill();
    // A judge keeps the normal priority, because the simulator waits for it.
    let _ = rustix::process::setpriority_process(None, NICE);
    Ok(())
}

/// Sets the limits of a program in a closed box.
pub(super) fn limit_closed(processes: u64, file_bytes: u64) -> Result<(), LimitError> {
    // This limit is slightly higher than the allowed number, which the control group enforces.
    limit_student(processes + 8)?;
    limit("open files", Resource::Nofile, CLOSED_OPEN_FILES)?;
    limit("size of a file", Resource::Fsize, file_bytes)?;
    limit("message queues", Resource::Msgqueue, 1 << 16)
}

/// Makes the kernel kill this process rather than the simulator when memory is short.
pub(super) fn prefer_for_oom_kill() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

fn limit(what: &'static str, resource: Resource, value: u64) -> Result<(), LimitError> {
    // The kernel refuses a value above the current hard limit, so such a value is lowered to it.
    let max = rustix::process::getrlimit(resource).maximum.map_or(value, |max| max.min(value));
    setrlimit(resource, Rlimit { current: Some(max), maximum: Some(max) })
        .map_err(|source| LimitError::Resource { what, source })
}

/// Permanently drops every capability except those in `keep`.
pub(super) fn drop_privileges(keep: CapabilitySet) -> Result<(), LimitError> {
    let failed = LimitError::Privileges;
    rustix::thread::clear_ambient_capability_set().map_err(failed)?;
    for one in each_capability().filter(|one| !keep.contains(*one)) {
        // A capability that the kernel does not know is not in the set.
        if rustix::thread::capability_is_in_bounding_set(one).unwrap_or(false) {
            rustix::thread::remove_capability_from_bounding_set(one).map_err(failed)?;
        }
    }
    let had = rustix::thread::capabilities(None).map_err(failed)?;
    let kept = had.permitted & keep;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets).map_err(failed)?;
    rustix::thread::set_no_new_privs(true).map_err(failed)
}

/// Marks inherited descriptors from 3 on as close-on-exec, so that the program inside does not get
/// them. The simulator itself may have inherited descriptors, for instance from a build tool that
/// leaks them.
#[allow(unsafe_code)]
pub(super) fn close_inherited_on_exec() -> Result<(), LimitError> {
    let (first, last) = (3 as libc::c_uint, libc::c_uint::MAX);
    // SAFETY: the call takes no pointers and only sets the close-on-exec flag of descriptors.
    let failed = unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    // Linux before 5.11 does not support this call with this flag. On such a kernel only the
    // descriptors that the simulator itself opened are close-on-exec.
    let why = std::io::Error::last_os_error();
    if failed != 0 && !matches!(why.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) {
        return Err(LimitError::CloseRange(why));
    }
    Ok(())
}
