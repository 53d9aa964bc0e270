//! The messages of the control socket: plans to the jail, reports from the jail.

use crate::closed_networks::NetworkPrefix;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// The hidden subcommand of `chicane` that starts a part of a jail.
pub(super) const SUBCOMMAND: &str = "__jail";
/// Id of user and group inside a closed box.
const STUDENT_ID: u32 = 1000;
/// Limit of the bytes of a message to a jail. The longest message is a plan with its environment
/// variables.
const MAX_MESSAGE: usize = 4 << 20;

/// What runs in a jail, and with which settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum JailPlan {
    /// The judging script.
    Judge(JudgePlan),
    /// The student's program.
    Student(Box<StudentPlan>),
}

impl JailPlan {
    /// The file system of a closed box. `None` for other jails.
    pub(super) fn closed(&self) -> Option<&ClosedPlan> {
        match self {
            JailPlan::Student(student) => student.closed.as_ref(),
            JailPlan::Judge(_) => None,
        }
    }

    /// Whether this is the jail of a program in virtual time.
    pub(super) fn is_in_virtual_time(&self) -> bool {
        matches!(self, JailPlan::Student(student) if student.time.is_some())
    }

    /// The id of user and group inside. `None` if they keep the ids of the host, as in a host box.
    pub(super) fn inside_id(&self) -> Option<u32> {
        match self {
            JailPlan::Judge(_) => Some(0),
            JailPlan::Student(_) => self.closed().map(|_| STUDENT_ID),
        }
    }
}

/// The settings of a judge's jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgePlan {
    /// The prepared root file system.
    pub root: PathBuf,
    /// The Python program that runs the script.
    pub harness: String,
    /// Maximum number of bytes of the files that the script writes.
    pub file_bytes: u64,
    /// Maximum number of processes and threads of the script.
    pub processes: u64,
    /// Whether a control group counts all memory of the script. If not, the script can't use memory
    /// that belongs to no process, because the simulator could not measure this memory.
    pub counted: bool,
    /// Whether the script has internet access.
    pub internet: bool,
    /// Networks that the script must not reach.
    pub forbidden: Vec<NetworkPrefix>,
}

/// The settings of a student's jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudentPlan {
    /// The command line for `bash -c`.
    pub command: String,
    /// The working directory in a host box. A closed box does not use this path, because its
    /// working directory is [`WORKSPACE`](crate::WORKSPACE).
    pub workspace: PathBuf,
    /// All environment variables.
    pub environment: BTreeMap<String, String>,
    /// Folders that a host box hides from the program. A closed box uses [`ClosedPlan::hide`].
    pub hide: Vec<PathBuf>,
    /// Maximum number of processes of the program. The control group of the jail enforces this
    /// limit. In a host box a resource limit enforces the same number, because a host box may have
    /// no control group.
    pub processes: u64,
    /// The program's own network. `None` if the program shares the host's network.
    pub network: Option<BoxNetwork>,
    /// Virtual time. `None` if the program gets the clock of the host.
    pub time: Option<TimePlan>,
    /// The file system of a closed box. `None` for a host box.
    pub closed: Option<ClosedPlan>,
}

/// The virtual time of a student's jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimePlan {
    /// An existing folder inside the box, where the library of virtual time is mounted.
    pub folder: PathBuf,
    /// Seed of the random numbers that the program gets.
    pub seed: u64,
}

/// The file system of a closed box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedPlan {
    /// Size of the box's file system in memory, in bytes. It holds the copy of the workspace and
    /// the files that the program writes.
    pub file_bytes: u64,
    /// What the box shows of the host. A folder comes before its subfolders.
    pub binds: Vec<Bind>,
    /// The targets of symbolic links, by the paths of the links in the box.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// Folders below the shown folders. The box has an empty folder in place of each.
    pub hide: Vec<PathBuf>,
    /// Folders of installed packages that lack the package `chicane` on the host and get it in the
    /// box.
    pub packages: Vec<PathBuf>,
    /// Whether the program has internet access. If so, the `resolv.conf` of the box names a
    /// reachable name server.
    pub internet: bool,
}

/// A folder or file of the host that a closed box shows, read-only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// Path on the host.
    pub source: PathBuf,
    /// Path in the box.
    pub target: PathBuf,
    /// Whether the source is a folder.
    pub folder: bool,
}

/// The network of a student's box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxNetwork {
    /// The ports on loopback that lead to the simulator.
    pub ports: Vec<u16>,
    /// Whether the program has internet access.
    pub internet: bool,
    /// Addresses that the program must not reach, with their prefix length.
    pub forbidden: Vec<crate::closed_networks::NetworkPrefix>,
}

/// The message that the simulator sends to outer after the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HostMessage {
    /// User maps, control group and network are set up. For a closed box the copy of the workspace
    /// follows.
    Go,
}

/// A message from a jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Report {
    /// Outer left the host's namespaces and waits for its user maps.
    Unshared,
    /// Init was started. Holds its process id on the host.
    Init(i32),
    /// The sockets that lead to the simulator come with this message. In virtual time, the two
    /// descriptors of virtual time come with it too. Holds the number of descriptors.
    Listening(usize),
    /// The program was started. Holds its process id inside.
    Started(i32),
    /// The program ended. Holds its exit code, or the negated signal number.
    Exited(i32),
    /// The file system is full, or was full.
    Full,
    /// Init can't watch the calls that write files, so it only looks at the free space every 20 ms.
    /// Holds the kernel's error.
    FilesPolled(String),
    /// The jail failed. Holds the reason.
    Failed(String),
}

/// Why a message could not be sent or received over the control socket.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The message is longer than `MAX_MESSAGE` bytes.
    #[error("a message of the control socket is too long")]
    TooLong,
    /// The bytes are not the expected JSON.
    #[error("unreadable message on the control socket: {0}")]
    Decode(#[source] serde_json::Error),
    /// A value can't be written as JSON.
    #[error("a message for the control socket can't be written as JSON: {0}")]
    Encode(#[source] serde_json::Error),
    /// The simulator closed its end of the socket.
    #[error("the simulator is gone")]
    Closed,
    /// The socket itself failed.
    #[error("the control socket failed: {0}")]
    Socket(#[source] Errno),
}

/// Reads one message that the simulator sent to a part of a jail: its length, then JSON. Reads no
/// byte of the next message, because another process may have to read that message.
pub(super) fn read<T: DeserializeOwned>(control: impl AsFd) -> Result<T, ControlError> {
    let mut length = [0; 4];
    read_exactly(&control, &mut length)?;
    let length = u32::from_ne_bytes(length) as usize;
    if length > MAX_MESSAGE {
        return Err(ControlError::TooLong);
    }
    let mut message = vec![0; length];
    read_exactly(&control, &mut message)?;
    serde_json::from_slice(&message).map_err(ControlError::Decode)
}

fn read_exactly(control: impl AsFd, mut room: &mut [u8]) -> Result<(), ControlError> {
    while !room.is_empty() {
        match rustix::io::read(&control, &mut *room) {
            Ok(0) => return Err(ControlError::Closed),
            Ok(n) => room = &mut room[n..],
            Err(Errno::INTR) => {}
            Err(e) => return Err(ControlError::Socket(e)),
        }
    }
    Ok(())
}

/// Sends a message to a part of a jail.
pub(super) fn send_to_jail(control: impl AsFd, value: &impl Serialize) -> Result<(), ControlError> {
    let json = serde_json::to_vec(value).map_err(ControlError::Encode)?;
    let length = u32::try_from(json.len()).map_err(|_| ControlError::TooLong)?;
    let message = [&length.to_ne_bytes(), json.as_slice()].concat();
    write_all(control, &message)
}

/// Sends a report to the simulator: one line of JSON.
pub(super) fn send_report(control: impl AsFd, value: &impl Serialize) -> Result<(), ControlError> {
    let mut line = serde_json::to_vec(value).map_err(ControlError::Encode)?;
    line.push(b'\n');
    write_all(control, &line)
}

fn write_all(control: impl AsFd, mut rest: &[u8]) -> Result<(), ControlError> {
    while !rest.is_empty() {
        match send(&control, rest, SendFlags::NOSIGNAL) {
            Ok(n) => rest = &rest[n..],
            Err(Errno::INTR) => {}
            Err(e) => return Err(ControlError::Socket(e)),
        }
    }
    Ok(())
}
