//! Where a judging script runs: in a jail of our own, or in a container of an engine. For those who speak with it there is no difference
//! but one: an engine hands on what a script prints by another way than what its harness says, and so out of step.

use crate::engine::{Contained, EngineError};
use crate::jail::{Jail, JailError, JudgePlan, Plan, Report, Spawn, Usage};
use crate::judge::{FILES, MEMORY, PROCESSES};
use crate::setting::{Isolation, Setting, Way};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::{BorrowedFd, OwnedFd};

/// Why there is no container for a judging script.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// Pipe or socket could not be made.
    #[error("no descriptors for the judge: {0}")]
    Descriptors(#[source] rustix::io::Errno),
    /// The jail could not be started.
    #[error(transparent)]
    Jail(#[from] JailError),
    /// The container engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A container that runs.
#[derive(Debug)]
pub(crate) enum Container {
    /// Our own.
    Jail(Box<Jail>),
    /// An engine's.
    Engine(Box<Contained>),
}

/// A container and the two ways out of it.
pub(crate) struct Started {
    pub(crate) container: Container,
    pub(crate) channel: OwnedFd,
    pub(crate) output: OwnedFd,
    /// Bytes that go over the channel before anything else.
    pub(crate) first: Vec<u8>,
}

impl Container {
    /// Starts one as the machine's setting says.
    pub(crate) fn start(setting: &Setting) -> Result<Started, ContainerError> {
        match &setting.way {
            Way::Engine(engine) => {
                let (contained, channel, output) = Contained::start(engine)?;
                let container = Container::Engine(Box::new(contained));
                Ok(Started { container, channel, output, first: Contained::harness() })
            }
            Way::Jail { root, network, forbidden } => {
                let fail = ContainerError::Descriptors;
                let flags = SocketFlags::CLOEXEC;
                let (channel, inside) =
                    socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(fail)?;
                let (output, written) = pipe_with(PipeFlags::CLOEXEC).map_err(fail)?;
                rustix::io::ioctl_fionbio(&output, true).map_err(fail)?;
                let jail = Jail::start(Spawn {
                    launcher: &setting.launcher,
                    plan: Plan::Judge(JudgePlan {
                        root: root.clone(),
                        harness: crate::HARNESS.to_owned(),
                        file_bytes: FILES,
                        processes: PROCESSES,
                        internet: network.is_some(),
                        forbidden: forbidden.clone(),
                    }),
                    stdout: written,
                    stderr: inside,
                    cgroups: &setting.cgroups,
                    // Files of the script are memory too; what is its own is watched apart.
                    memory: Some(MEMORY + FILES),
                    // Outer and init are ours.
                    processes: Some(PROCESSES + 2),
                    network: network.as_ref(),
                })?;
                Ok(Started { container: Container::Jail(Box::new(jail)), channel, output, first: Vec::new() })
            }
        }
    }

    /// The harness is up: whatever can be found out only now.
    pub(crate) fn is_up(&mut self) -> Result<(), ContainerError> {
        match self {
            Container::Jail(_) => Ok(()),
            Container::Engine(contained) => Ok(contained.look_for()?),
        }
    }

    /// What lines of the harness among the prints begin with, where there are such.
    pub(crate) fn mark(&self) -> Option<&str> {
        match self {
            Container::Jail(_) => None,
            Container::Engine(contained) => Some(contained.name()),
        }
    }

    /// How limits are held; `None` where the setting says it.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        match self {
            Container::Jail(_) => None,
            Container::Engine(contained) => Some(contained.isolation()),
        }
    }

    /// For those who wait for reports.
    pub(crate) fn control(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Container::Jail(jail) => jail.control(),
            Container::Engine(_) => None,
        }
    }

    /// What it said since, and whether it still stands.
    pub(crate) fn reports(&mut self) -> (Vec<Report>, bool) {
        match self {
            Container::Jail(jail) => jail.reports(),
            Container::Engine(contained) => (Vec::new(), contained.stands()),
        }
    }

    /// What is used inside, and how many processes there are where no group counts.
    pub(crate) fn usage(&self) -> (Usage, Option<u64>) {
        match self {
            Container::Jail(jail) => jail.usage(),
            Container::Engine(contained) => contained.usage(),
        }
    }

    /// Ends everything inside and waits until it is gone. May be called again.
    pub(crate) fn end(&mut self) {
        match self {
            Container::Jail(jail) => drop(jail.end()),
            Container::Engine(contained) => contained.end(),
        }
    }
}
