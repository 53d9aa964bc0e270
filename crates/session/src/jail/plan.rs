//! What is said over the control socket: plans one way, reports the other.

use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Longest message to a jail: a plan with its environment.
const MAX_MESSAGE: usize = 4 << 20;

/// What a jail is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Plan {
    /// The judging script.
    Judge(JudgePlan),
    /// The student's program.
    Student(StudentPlan),
}

/// The judging script's jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JudgePlan {
    /// The prepared root file system.
    pub root: PathBuf,
    /// The harness, Python.
    pub harness: String,
    /// Bytes of files it may keep.
    pub file_bytes: u64,
    /// Processes and threads it may have.
    pub processes: u64,
    /// Whether it has a network.
    pub internet: bool,
    /// Addresses that it must not reach, with the length of their prefix.
    pub forbidden: Vec<(std::net::Ipv4Addr, u8)>,
}

/// The student's jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StudentPlan {
    /// For `bash -c`.
    pub command: String,
    /// Folder that it runs in.
    pub workspace: PathBuf,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// Folders that are not there for it.
    pub hide: Vec<PathBuf>,
    /// Processes it may have, where the kernel counts them by user.
    pub processes: u64,
}

/// What the simulator says after the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Hello {
    /// Maps, cgroup and network are there.
    Go,
}

/// What a jail says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Report {
    /// Outer left the host's namespaces and wants to be mapped.
    Unshared,
    /// Init was started and has this number on the host.
    Init(i32),
    /// The program was started; its number inside.
    Started(i32),
    /// The program ended: its exit code, negative for a signal.
    Exited(i32),
    /// There is no room for files left.
    Full,
    /// The jail can't be made.
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

/// Reads one message for a part of a jail: its length, then JSON. Whatever follows is for someone else.
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

/// Writes one message for a part of a jail.
pub(super) fn tell(control: impl AsFd, value: &impl Serialize) -> Result<(), ControlError> {
    let json = serde_json::to_vec(value).map_err(ControlError::Encode)?;
    let length = u32::try_from(json.len()).map_err(|_| ControlError::TooLong)?;
    let message = [&length.to_ne_bytes(), json.as_slice()].concat();
    write_all(control, &message)
}

/// Writes a report of a jail: one line.
pub(super) fn write(control: impl AsFd, value: &impl Serialize) -> Result<(), ControlError> {
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
