//! Runs programs of other people in separate namespaces (a jail).
//!
//! Theory of operation. The simulator starts its own program again as `chicane __jail outer`.
//! Descriptor 0 is the control socket. Descriptors 1 and 2 are the output of a student's program.
//! For a judge, descriptor 1 is the script's output, and descriptor 2 is the channel of the
//! harness. No part calls `fork` itself: each part is a new process of the same binary.
//!
//! - *outer* reads its plan from the control socket, leaves the host's namespaces and waits. The
//!   simulator writes the user and group maps, moves outer into a control group, connects a network
//!   if there is one, and sends `Go`. Outer then builds the file system of a judge or of a closed
//!   box, starts *init* and waits for its end.
//! - *init* is process 1 of the new namespaces. It builds a host box, or enters the file system
//!   that outer has built. It sets the limits, drops privileges and then starts the program. It
//!   reaps orphaned processes and polls the control socket. It ends when that socket closes, when a
//!   judge's program ends, or when no process of a student is left. When init ends, the kernel
//!   kills every process inside.
//!
//! The control socket is therefore also a kill-on-close socket: when the simulator ends for any
//! reason, its end of the socket closes and the jail ends. To end a jail, the simulator kills init
//! through its pidfd. No process inside can prevent this.
//!
//! There are two plans. A *judge* sees no file of the host except some device files and the
//! prepared Python root. An overlay puts a small writable layer in memory over this root. A judge
//! also has its own network and a filter of system calls.
//! A *student* has its own process ids. It also has its own network, unless it asks for the host's
//! network. In its own network, the simulator's address leads to sockets that init opened
//! (`gate.rs`). In a host box (`host_box.rs`), a student sees the host's files, except the folders
//! of simulators, which are hidden. In a closed box (`closed.rs`), a student sees only listed
//! folders and a copy of the workspace, and runs as an unprivileged user.
//!
//! If the kernel refuses a namespace or the filter of system calls (`seccomp.rs`,
//! `student_filter.rs`), starting the jail fails: there is no fallback without them. The jail of a
//! judge and a host box also work without control groups. A resource limit then limits the number
//! of processes, and the simulator measures the memory of a judge. A closed box is not started
//! without control groups.
//!
//! This crate uses processes, clocks and files, so the restrictions of the pure crates do not
//! apply.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod ask;
mod cgroup;
mod cgroup_path;
mod closed;
pub mod closed_networks;
mod error;
mod file_watch;
mod gate;
mod group;
mod host;
mod host_box;
mod init;
pub mod isolation;
pub mod judge_limits;
pub mod launcher;
mod limits;
mod mount_table;
mod mounts;
mod net;
pub mod network;
mod outer;
pub mod package;
mod plan;
pub mod process_tree;
pub mod program_files;
mod read_only;
mod resolver;
pub mod root;
mod seccomp;
mod student_filter;
mod virtual_time;
pub mod wake;
pub mod workspace_copy;
pub mod workspace_stream;

pub use cgroup::{Cgroups, leave_own_group};
pub use closed::{HOME, WORKSPACE, WRITABLE};
pub use error::PartError;
pub use group::{Usage, WatchedGroup};
pub use host::{Jail, JailSpec};
pub use host::{JailError, LingeringProcesses};
pub use plan::{Bind, BoxNetwork, ClosedPlan, JailPlan, JudgePlan, Report, StudentPlan, TimePlan};
pub use virtual_time::CLOSED_FOLDER as CLOSED_TIME_FOLDER;

/// Runs `chicane __jail <part>`. On failure the part also reports the error to the simulator.
pub fn main(part: &str) -> Result<(), PartError> {
    // The kernel names a process after the last part of the path from which it was started. Here
    // that is a descriptor number, because `Launcher` starts the program through a descriptor.
    let _ = rustix::thread::set_name(c"chicane");
    let done = match part {
        "outer" => outer::run(),
        "init" => init::run(),
        other => return Err(PartError::Unknown(other.to_owned())),
    };
    if let Err(why) = &done {
        let _ = plan::send_report(rustix::stdio::stdin(), &Report::Failed(why.to_string()));
    }
    done
}
