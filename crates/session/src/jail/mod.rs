//! The launcher: other people's programs in namespaces of their own.
//!
//! Theory of operation. The simulator starts its own program again as `chicane __jail outer`, with three
//! descriptors: 0 is the control socket, 1 and 2 are what the program inside will have. Nobody forks
//! by hand; every step is a new process image of the same binary.
//!
//! - *outer* reads its plan from the control socket, leaves the host's namespaces and asks to be mapped. The simulator,
//!   which may do that, writes the maps of user and group numbers, puts it into a cgroup, gives it
//!   a network if there is one, and says go. Outer starts *init* and waits for it.
//! - *init* is process 1 of the new namespaces. It builds the file system, sets the limits, gives up every
//!   privilege, and only then starts the program. It reaps whatever is left to it, watches the control socket,
//!   and ends when that closes or the program does. With it the kernel ends every process inside.
//!
//! So one descriptor holds a whole jail: when the simulator dies in any way, its end of the control socket closes
//! and nothing is left. When it wants the jail to end it kills init by its pidfd, which nobody inside can prevent.
//!
//! There are two plans. A *judge* sees nothing of the host: an overlay of the prepared Python root on a small
//! memory file system, its own network, a filter of system calls. A *student* keeps the file system and the
//! network (its program is to talk to the simulator) but has its own processes, and
//! neither the data folder nor the judge's root are there for it.
//!
//! What can't be had is an error with its remedy. There is no weaker way that is taken instead.

mod cgroup;
mod error;
mod group;
mod host;
mod init;
mod limits;
mod mounts;
mod net;
mod outer;
mod plan;
mod seccomp;

pub(crate) use cgroup::Cgroups;
pub use error::PartError;
pub(crate) use group::{Usage, Watched};
pub use host::JailError;
pub use host::Left;
pub(crate) use host::{Jail, Spawn};
pub(crate) use plan::{JudgePlan, Plan, Report, StudentPlan};

/// The hidden word of the command line that starts a part of a jail.
const WORD: &str = "__jail";

/// What `chicane __jail <part>` does. Never returns to the program's ordinary work. A part that can't do it says why to the
/// simulator.
pub fn main(part: &str) -> Result<(), PartError> {
    let done = match part {
        "outer" => outer::run(),
        "init" => init::run(),
        other => return Err(PartError::Unknown(other.to_owned())),
    };
    if let Err(why) = &done {
        let _ = plan::write(rustix::stdio::stdin(), &Report::Failed(why.to_string()));
    }
    done
}
