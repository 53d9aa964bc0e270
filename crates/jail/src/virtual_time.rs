//! The inside of a box with virtual time: the library that the program loads, the file that it
//! shares with the simulator, and settings of the kernel that would differ from run to run.

use super::error::PartError;
use super::mounts::{self, MountError};
use super::plan::TimePlan;
use chicane_pace::{CLOCK_BYTES, CLOCK_NAME, LIBRARY, LIBRARY_NAME};
use rustix::mount::{MountFlags, mount};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket_with};
use rustix::thread::CpuSet;
use std::fs::{self, File};
use std::os::fd::OwnedFd;

/// The folder of the library in a closed box.
pub const CLOSED_FOLDER: &str = "/opt/chicane/time";
/// Bytes that the file system has in addition to the library and the shared file.
const SPARE_BYTES: u64 = 64 << 10;

/// Mounts the folder of virtual time, and opens what the simulator needs: a socket through which
/// the kernel tells which bytes are on their way in this network, and the file that the program
/// shares with the simulator.
pub(super) fn set_up(plan: &TimePlan) -> Result<[OwnedFd; 2], PartError> {
    let size = CLOCK_BYTES + LIBRARY.len() as u64 + SPARE_BYTES;
    let options = mounts::options(format!("size={size},nr_inodes=8,mode=755"))?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    mount("chicane", &plan.folder, "tmpfs", safe, Some(options.as_c_str())).map_err(MountError::Tmpfs)?;
    let write = |source| MountError::Write { name: plan.folder.display().to_string(), source };
    fs::write(plan.folder.join(LIBRARY_NAME), LIBRARY).map_err(write)?;
    let file = File::options().read(true).write(true).create_new(true).open(plan.folder.join(CLOCK_NAME));
    let file = file.map_err(write)?;
    chicane_pace::prepare(&file, plan.seed).map_err(write)?;
    let protocol = Some(netlink::SOCK_DIAG);
    let diagnosis = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, protocol);
    Ok([diagnosis.map_err(PartError::call("socket"))?, OwnedFd::from(file)])
}

/// Turns off what differs from run to run: random addresses, and the parallel execution of threads.
#[allow(unsafe_code)] // No crate in use wraps this call.
pub(super) fn fix_execution() -> Result<(), PartError> {
    let personality = u64::from(libc::ADDR_NO_RANDOMIZE.cast_unsigned());
    // SAFETY: the call takes a number.
    unsafe { libc::personality(personality as libc::c_ulong) };
    let mut one = CpuSet::new();
    one.set(rustix::thread::sched_getcpu());
    rustix::thread::sched_setaffinity(None, &one).map_err(PartError::call("sched_setaffinity"))
}
