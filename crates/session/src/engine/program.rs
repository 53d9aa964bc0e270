//! The engine's program: whether it works, whether it has the image, and which containers it has.

use super::error::EngineError;
use chicane_jail::ask::{ClientError, ask, last_line};
use std::path::PathBuf;
use std::time::Duration;

/// Prefix of the names of the simulator's containers.
const PREFIX: &str = "chicane-judge-";
/// The label of all containers of the simulator.
pub(super) const LABEL: &str = "chicane.judge=1";
/// How long the engine's program may take for a short command.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// The default image.
const IMAGE: &str = "python:3.14-slim";

/// A container engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// Podman.
    Podman,
    /// Docker.
    Docker,
}

impl EngineKind {
    /// The engine's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Podman => "podman",
            EngineKind::Docker => "docker",
        }
    }
}

/// The engine that the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineOptions {
    /// The engine.
    pub kind: EngineKind,
    /// Path of the engine's program. If omitted, a program with the engine's name is used.
    pub program: Option<PathBuf>,
    /// The image. If omitted, `python:3.14-slim` is used.
    pub image: Option<String>,
    /// Whether the simulator accepts local connections only. In that case a network without access
    /// to the host's loopback has no access to the simulator.
    pub loopback_only: bool,
}

/// The network of a script's container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineNetwork {
    /// slirp4netns, without access to the host's loopback.
    Slirp,
    /// The engine's bridge, which has no access to the host's loopback.
    Bridge,
    /// No network, because the script could reach the simulator through a network.
    Closed,
    /// No network, because slirp4netns is missing.
    Missing,
}

/// An engine that works, with its image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// The engine.
    pub kind: EngineKind,
    /// The engine's program.
    pub program: PathBuf,
    /// The image.
    pub image: String,
    /// The network of the containers.
    pub network: EngineNetwork,
}

impl Engine {
    /// Checks the engine and its image, and removes containers of simulators that were killed.
    pub fn find(options: &EngineOptions) -> Result<Engine, EngineError> {
        let kind = options.kind;
        let name = kind.name();
        let program = options.program.clone().unwrap_or_else(|| name.into());
        let image = options.image.clone().unwrap_or_else(|| IMAGE.to_owned());
        // The engine would take a name that begins with `-` for an option. No image name is empty
        // or contains white space.
        if image.is_empty() || image.starts_with('-') || image.contains(char::is_whitespace) {
            return Err(EngineError::ImageName(image));
        }
        let engine = Engine { kind, program, image, network: network(options) };
        engine.check_running()?;
        engine.check_image()?;
        engine.remove_orphans();
        Ok(engine)
    }

    fn check_running(&self) -> Result<(), EngineError> {
        let name = self.kind.name();
        // For docker the version of the server is requested, because docker's program needs a
        // running daemon.
        let format = match self.kind {
            EngineKind::Podman => "{{.Client.Version}}",
            EngineKind::Docker => "{{.Server.Version}}",
        };
        let said =
            ask(&self.program, ["version", "--format", format], REQUEST_TIMEOUT).map_err(|e| match e {
                ClientError::Missing => EngineError::NotInstalled(name),
                source => EngineError::Client { engine: name, source },
            })?;
        if said.success {
            return Ok(());
        }
        Err(EngineError::Down { engine: name, line: last_line(&said.error).to_owned() })
    }

    fn check_image(&self) -> Result<(), EngineError> {
        let (name, image) = (self.kind.name(), &self.image);
        let said = ask(&self.program, ["image", "inspect", "--format", "{{.Id}}", image], REQUEST_TIMEOUT)
            .map_err(|source| EngineError::Client { engine: name, source })?;
        if said.success {
            return Ok(());
        }
        let line = last_line(&said.error).to_owned();
        Err(EngineError::NoImage { engine: name, image: image.clone(), line })
    }

    /// Removes containers of simulators that were killed.
    pub fn remove_orphans(&self) {
        let filter = format!("label={LABEL}");
        let listed =
            ask(&self.program, ["ps", "-a", "--filter", &filter, "--format", "{{.Names}}"], REQUEST_TIMEOUT);
        let Ok(listed) = listed else { return };
        for name in listed.output.lines().map(str::trim).filter(|name| is_orphan(name)) {
            tracing::warn!(name, "removing a container of a simulator that was killed");
            self.remove(name);
        }
    }

    /// Kills and removes a container. It is not an error if the container is gone already.
    pub(super) fn remove(&self, name: &str) {
        let gone = match self.kind {
            EngineKind::Podman => {
                ask(&self.program, ["rm", "-f", "-t", "0", "--ignore", name], REQUEST_TIMEOUT)
            }
            EngineKind::Docker => ask(&self.program, ["rm", "-f", name], REQUEST_TIMEOUT),
        };
        if let Err(e) = gone {
            tracing::error!(name, why = %e, "a container could not be removed");
        }
    }

    /// Describes the engine in a few words, for people.
    pub fn describe(&self) -> String {
        let network = match self.network {
            EngineNetwork::Slirp => "internet through slirp4netns, this machine's loopback closed",
            EngineNetwork::Bridge => "internet through its bridge, this machine's loopback out of reach",
            EngineNetwork::Closed => {
                "no internet (the simulator accepts connections from other machines, so scripts could reach it)"
            }
            EngineNetwork::Missing => "no internet (slirp4netns is missing)",
        };
        format!("{} with image {}, {network}", self.kind.name(), self.image)
    }
}

/// Chooses the network of a script's container. The script must not reach the simulator through
/// this network.
fn network(options: &EngineOptions) -> EngineNetwork {
    if !options.loopback_only {
        return EngineNetwork::Closed;
    }
    match options.kind {
        EngineKind::Docker => EngineNetwork::Bridge,
        EngineKind::Podman if chicane_jail::network::on_path("slirp4netns").is_some() => EngineNetwork::Slirp,
        EngineKind::Podman => EngineNetwork::Missing,
    }
}

/// A unique container name. It contains the id and the start time of this process, from which
/// `is_orphan` finds out whether this process has ended.
pub(super) fn new_name() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = std::process::id();
    let start = start_time(pid).unwrap_or(0);
    format!("{PREFIX}{pid}-{start}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether a container belongs to a simulator that has ended.
fn is_orphan(name: &str) -> bool {
    let numbers: Option<Vec<u64>> = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split('-').map(|number| number.parse().ok()).collect());
    match numbers.as_deref() {
        Some([pid, start, _]) => u32::try_from(*pid).is_ok_and(|pid| start_time(pid) != Some(*start)),
        _ => false,
    }
}

/// The start time of a process in clock ticks; `None` if there is no such process. Process ids are
/// reused, but the pair of process id and start time is unique.
fn start_time(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_containers_of_ended_simulators_are_orphans() {
        assert_ne!(new_name(), new_name());
        assert!(!is_orphan(&new_name()));
        let pid = std::process::id();
        assert!(is_orphan(&format!("{PREFIX}{pid}-1-0")), "an earlier process had this id");
        // 4,194,400 is larger than every process id that Linux assigns.
        assert!(is_orphan(&format!("{PREFIX}4194400-77-3")));
        for other in ["chicane-judge-x-1-0", "chicane-judge-1", "postgres", "", "chicane-judge-1-2-3-4"] {
            assert!(!is_orphan(other), "{other}");
        }
    }

    #[test]
    fn a_simulator_open_to_other_machines_gives_scripts_no_network() {
        let options = |kind, loopback_only| EngineOptions { kind, program: None, image: None, loopback_only };
        for kind in [EngineKind::Podman, EngineKind::Docker] {
            assert_eq!(network(&options(kind, false)), EngineNetwork::Closed);
        }
        assert_eq!(network(&options(EngineKind::Docker, true)), EngineNetwork::Bridge);
        let podman = network(&options(EngineKind::Podman, true));
        assert!([EngineNetwork::Slirp, EngineNetwork::Missing].contains(&podman));
    }
}
