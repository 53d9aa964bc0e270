//! Limits and privileges of a process inside: taken on before the program starts, inherited by all it starts.

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Open files of a process inside.
const OPEN_FILES: u64 = 256;
/// How much a student's program leaves the processor to the simulator.
const NICE: i32 = 5;

/// Why a limit could not be set or a privilege not be dropped.
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
    #[error("privileges can't be given up: {0}")]
    Privileges(#[source] Errno),
    /// Inherited descriptors could not be marked.
    #[error("close_range: {0}")]
    CloseRange(#[source] std::io::Error),
}

/// Every capability that a kernel may know.
pub(super) fn each_capability() -> impl Iterator<Item = CapabilitySet> {
    (0..64).map(|bit| CapabilitySet::from_bits_retain(1 << bit))
}

/// What a judge may use.
pub(super) fn limit_judge(processes: u64, file_bytes: u64) -> Result<(), LimitError> {
    // A few more than allowed: that there are too many is seen by whoever counts, and this is the net below.
    limit("processes", Resource::Nproc, processes + 8)?;
    limit("open files", Resource::Nofile, OPEN_FILES)?;
    limit("size of a file", Resource::Fsize, file_bytes)?;
    limit("core dumps", Resource::Core, 0)?;
    limit("locked memory", Resource::Memlock, 1 << 20)?;
    limit("message queues", Resource::Msgqueue, 1 << 16)?;
    go_first();
    Ok(())
}

/// What a student's program may use.
pub(super) fn limit_student(processes: u64) -> Result<(), LimitError> {
    limit("processes", Resource::Nproc, processes)?;
    limit("core dumps", Resource::Core, 0)?;
    go_first();
    // Not so a judge: the simulator waits for it.
    let _ = rustix::process::setpriority_process(None, NICE);
    Ok(())
}

/// When memory is short, it is not the simulator that has to go.
fn go_first() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

fn limit(what: &'static str, resource: Resource, value: u64) -> Result<(), LimitError> {
    // Never above what was allowed before: that would be refused.
    let most = rustix::process::getrlimit(resource).maximum.map_or(value, |most| most.min(value));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
        .map_err(|source| LimitError::Resource { what, source })
}

/// Gives up every capability but these, for good.
pub(super) fn give_up_privileges(but: CapabilitySet) -> Result<(), LimitError> {
    let failed = LimitError::Privileges;
    rustix::thread::clear_ambient_capability_set().map_err(failed)?;
    for one in each_capability().filter(|one| !but.contains(*one)) {
        // A kernel that does not know one has nothing to give up.
        if rustix::thread::capability_is_in_bounding_set(one).unwrap_or(false) {
            rustix::thread::remove_capability_from_bounding_set(one).map_err(failed)?;
        }
    }
    let had = rustix::thread::capabilities(None).map_err(failed)?;
    let kept = had.permitted & but;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets).map_err(failed)?;
    rustix::thread::set_no_new_privs(true).map_err(failed)
}

/// Descriptors that came from outside by accident, such as those of a build tool, go no farther.
#[allow(unsafe_code)]
pub(super) fn pass_on_nothing() -> Result<(), LimitError> {
    let (first, last) = (3 as libc::c_uint, libc::c_uint::MAX);
    // SAFETY: no memory is handed over, and the call only marks descriptors to be closed by exec.
    let failed = unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    // A kernel before 5.11 can't; there descriptors are as the simulator left them, which marks its own.
    let why = std::io::Error::last_os_error();
    if failed != 0 && !matches!(why.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) {
        return Err(LimitError::CloseRange(why));
    }
    Ok(())
}
