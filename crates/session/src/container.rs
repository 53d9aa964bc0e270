//! The container of a judging script: a jail of the simulator, or a container of podman or docker.
//!
//! Both kinds have the same methods. In a jail, all output that the script printed before a message
//! of the harness has arrived when the message arrives. An engine forwards output and messages
//! separately and may delay either, so their order has to be restored (`marks.rs`).

use crate::engine::{Contained, EngineError};
use crate::setting::{JudgeRunner, Setting};
use chicane_jail::closed_networks::NetworkPrefix;
use chicane_jail::isolation::Isolation;
use chicane_jail::judge_limits::{FILES, HARNESS, MEMORY, PROCESSES};
use chicane_jail::network::Network;
use chicane_jail::{Jail, JailError, JailPlan, JailSpec, JudgePlan, Report, Usage};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// Why there is no container for a judging script.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The pipe or socket could not be created.
    #[error("the pipes of the judge can't be created: {0}")]
    Descriptors(#[source] rustix::io::Errno),
    /// The jail could not be started.
    #[error(transparent)]
    Jail(#[from] JailError),
    /// The container engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A running container.
#[derive(Debug)]
pub(crate) enum Container {
    /// A jail of the simulator.
    Jail(Box<Jail>),
    /// A container of podman or docker.
    Engine(Box<Contained>),
}

/// A new container with its two streams.
pub(crate) struct StartedContainer {
    pub(crate) container: Container,
    /// The channel between the simulator and the harness.
    pub(crate) channel: OwnedFd,
    /// The script's output.
    pub(crate) output: OwnedFd,
    /// Bytes that the simulator has to send over the channel before the first call: for an engine,
    /// the text of the harness. Empty for a jail.
    pub(crate) first: Vec<u8>,
}

impl Container {
    /// Starts a container for a judging script: a jail, or a container of podman or docker.
    /// `setting.runner` says which.
    pub(crate) fn start(setting: &Setting) -> Result<StartedContainer, ContainerError> {
        match &setting.runner {
            JudgeRunner::Engine(engine) => {
                let (contained, channel, output) = Contained::start(engine)?;
                let container = Container::Engine(Box::new(contained));
                Ok(StartedContainer { container, channel, output, first: Contained::harness() })
            }
            JudgeRunner::Jail { root, network, forbidden } => {
                Container::start_jail(setting, root, network.as_ref(), forbidden)
            }
        }
    }

    fn start_jail(
        setting: &Setting,
        root: &Path,
        network: Option<&Network>,
        forbidden: &[NetworkPrefix],
    ) -> Result<StartedContainer, ContainerError> {
        let fail = ContainerError::Descriptors;
        let flags = SocketFlags::CLOEXEC;
        let (channel, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(fail)?;
        let (output, written) = pipe_with(PipeFlags::CLOEXEC).map_err(fail)?;
        rustix::io::ioctl_fionbio(&output, true).map_err(fail)?;
        let jail = Jail::start(JailSpec {
            launcher: &setting.launcher,
            plan: JailPlan::Judge(JudgePlan {
                root: root.to_owned(),
                harness: HARNESS.to_owned(),
                file_bytes: FILES,
                processes: PROCESSES,
                counted: setting.jail_isolation() != Isolation::Watchdog,
                internet: network.is_some(),
                forbidden: forbidden.to_owned(),
            }),
            stdout: written,
            stderr: inside,
            cgroups: &setting.cgroups,
            // The limit includes the script's files, because they are in memory too. The simulator
            // itself checks the memory without files (`MEMORY`).
            memory: Some(MEMORY + FILES),
            // The jail's own processes, `outer` and `init`, count too.
            processes: Some(PROCESSES + 2),
            copy: None,
            network,
        })?;
        Ok(StartedContainer {
            container: Container::Jail(Box::new(jail)),
            channel,
            output,
            first: Vec::new(),
        })
    }

    /// Finds the first process of an engine's container. Does nothing for a jail. The caller must
    /// call this only after the harness is ready, because the engine may start the container late.
    pub(crate) fn set_up(&mut self) -> Result<(), ContainerError> {
        match self {
            Container::Jail(_) => Ok(()),
            Container::Engine(contained) => Ok(contained.find_first_process()?),
        }
    }

    /// The prefix of the marks (`marks.rs`) in the script's output. `None` for a jail, because a
    /// jail needs no marks.
    pub(crate) fn mark(&self) -> Option<&str> {
        match self {
            Container::Jail(_) => None,
            Container::Engine(contained) => Some(contained.name()),
        }
    }

    /// How the limits of an engine's container are enforced. `None` for a jail: see
    /// `Setting::jail_isolation`.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        match self {
            Container::Jail(_) => None,
            Container::Engine(contained) => Some(contained.isolation()),
        }
    }

    /// The descriptor to poll for reports. `None` for an engine's container, because such a
    /// container has no control socket.
    pub(crate) fn control(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Container::Jail(jail) => jail.control(),
            Container::Engine(_) => None,
        }
    }

    /// The reports since the last call, and whether the container still runs.
    pub(crate) fn reports(&mut self) -> (Vec<Report>, bool) {
        match self {
            Container::Jail(jail) => jail.reports(),
            Container::Engine(contained) => (Vec::new(), contained.is_running()),
        }
    }

    /// Whether the network of a jail still works. True if the jail has no network, and for an
    /// engine's container.
    pub(crate) fn has_network(&mut self) -> bool {
        match self {
            Container::Jail(jail) => jail.has_network(),
            Container::Engine(_) => true,
        }
    }

    /// The usage of the processes inside, and the number of their threads. The number is `None`
    /// with a control group, because the kernel then enforces the limit of processes and threads.
    pub(crate) fn usage(&self) -> (Usage, Option<u64>) {
        match self {
            Container::Jail(jail) => jail.usage(),
            Container::Engine(contained) => contained.usage(),
        }
    }

    /// Kills all processes inside and waits until they are gone. May be called more than once.
    pub(crate) fn end(&mut self) {
        match self {
            Container::Jail(jail) => drop(jail.end()),
            Container::Engine(contained) => contained.end(),
        }
    }
}
