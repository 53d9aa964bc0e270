//! The errors of `outer` and `init`, the two parts of a jail.

use super::gate::GateError;
use super::host_box::HostBoxError;
use super::limits::LimitError;
use super::mounts::MountError;
use super::net::NetError;
use super::plan::ControlError;
use super::seccomp::FilterError;
use crate::workspace_stream::CopyError;
use rustix::io::Errno;
use std::io;
use std::path::PathBuf;

/// The error of `outer` or `init`. Its text is sent to the simulator as a report.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The command line names no part of a jail.
    #[error("unknown part of a jail: {0:?} (outer or init)")]
    Unknown(String),
    /// The control socket failed.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A limit could not be set.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The file system could not be built.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The host box could not be built.
    #[error(transparent)]
    HostBox(#[from] HostBoxError),
    /// The workspace could not be copied into a closed box.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The network could not be set up.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The sockets that lead to the simulator could not be opened.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The filter of system calls could not be installed.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The kernel does not let this user create namespaces.
    #[error(
        "this system does not allow user namespaces ({0}): \
         sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu \
         sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container, run it privileged"
    )]
    Unshare(#[source] Errno),
    /// The judge's root, which `chicane setup` has prepared, could not be opened.
    #[error("the judge's root {} can't be opened: {source}", .path.display())]
    OpenRoot {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: Errno,
    },
    /// The student's workspace could not be entered.
    #[error("the workspace {} can't be entered: {source}", .path.display())]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("{program} can't be started: {source}")]
    Start {
        /// The program.
        program: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{call}: {source}")]
    Call {
        /// The name of the system call.
        call: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The calls that write files could not be watched.
    #[error("the calls that write files can't be watched ({0}): this needs Linux 5.5 or later")]
    FileWatch(String),
    /// The thread that starts the program panicked.
    #[error("the thread that starts the program panicked")]
    Thread,
    /// The started program has no process id.
    #[error("the program has no process id")]
    NoPid,
}

impl PartError {
    /// Turns the error of a system call into a `PartError`, for `map_err`.
    pub(super) fn call<E: Into<io::Error>>(call: &'static str) -> impl FnOnce(E) -> PartError {
        move |e| PartError::Call { call, source: e.into() }
    }
}
