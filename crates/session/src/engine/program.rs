//! Judging scripts in containers of podman or docker, for those who trust an engine more than our own jail.
//!
//! The engine's own program is started for every container and stays in between: its standard input and output are the
//! channel of the harness, its standard error is what the script prints. Inside, process 1 is the harness itself (`first` in
//! `harness.py`): it moves the channel to descriptors of its own, so that nothing a script prints is a message, starts the
//! script's process, reaps, and ends the container when the channel closes; so nothing is left of a simulator
//! that was killed. The limits are those of the jail, said in the engine's words. What they are worth is not believed but looked at:
//! the container's first process is found on this machine, and its control group with it.
//!
//! What an engine can't do is said in one line with the remedy, and no other way is taken instead.

mod arguments;
mod client;
mod contained;
mod error;

pub(crate) use contained::Contained;
pub use error::EngineError;

use client::{ClientError, ask, last_words};
use std::path::PathBuf;
use std::time::Duration;

/// What the names of our containers begin with.
const PREFIX: &str = "chicane-judge-";
/// What all our containers are marked with.
const LABEL: &str = "chicane.judge=1";
/// How long an engine may take for something small.
const PATIENCE: Duration = Duration::from_secs(20);
/// The image that scripts run in unless another one is asked for.
const IMAGE: &str = "python:3.14-slim";

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// podman.
    Podman,
    /// docker.
    Docker,
}

impl EngineKind {
    /// As it is said on the command line.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Podman => "podman",
            EngineKind::Docker => "docker",
        }
    }
}

/// An engine that a person asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineWanted {
    /// Which.
    pub kind: EngineKind,
    /// Its program; found by its name if omitted.
    pub program: Option<PathBuf>,
    /// The image; `python:3.14-slim` if omitted.
    pub image: Option<String>,
    /// The simulator listens to this machine only, so a network that keeps out of the host's loopback keeps out of it.
    pub loopback_only: bool,
}

/// The network of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineNetwork {
    /// A network stack in an ordinary process, without the host's loopback.
    Slirp,
    /// The engine's bridge, from which the host's loopback can't be reached.
    Bridge,
    /// None: the simulator could be reached otherwise.
    Closed,
    /// None: the program that makes it is missing.
    Missing,
}

/// An engine that is at hand, with its image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Which.
    pub kind: EngineKind,
    /// Its program.
    pub program: PathBuf,
    /// The image.
    pub image: String,
    /// The network of scripts.
    pub network: EngineNetwork,
}

impl Engine {
    /// Finds an engine and its image, and takes away containers that a killed simulator left.
    pub fn find(wanted: &EngineWanted) -> Result<Engine, EngineError> {
        let kind = wanted.kind;
        let name = kind.name();
        let program = wanted.program.clone().unwrap_or_else(|| name.into());
        let image = wanted.image.clone().unwrap_or_else(|| IMAGE.to_owned());
        // The words must not be taken for options of the engine.
        if image.is_empty() || image.starts_with('-') || image.contains(char::is_whitespace) {
            return Err(EngineError::ImageName(image));
        }
        let engine = Engine { kind, program, image, network: network(wanted) };
        engine.is_up()?;
        engine.has_image()?;
        engine.sweep();
        Ok(engine)
    }

    fn is_up(&self) -> Result<(), EngineError> {
        let name = self.kind.name();
        // Docker's program alone is no engine: it has to reach one.
        let format = match self.kind {
            EngineKind::Podman => "{{.Client.Version}}",
            EngineKind::Docker => "{{.Server.Version}}",
        };
        let said = ask(&self.program, ["version", "--format", format], PATIENCE).map_err(|e| match e {
            ClientError::Missing => EngineError::NotInstalled(name),
            source => EngineError::Client { engine: name, source },
        })?;
        if said.success {
            return Ok(());
        }
        Err(EngineError::Down { engine: name, line: last_words(&said.error).to_owned() })
    }

    fn has_image(&self) -> Result<(), EngineError> {
        let (name, image) = (self.kind.name(), &self.image);
        let said = ask(&self.program, ["image", "inspect", "--format", "{{.Id}}", image], PATIENCE)
            .map_err(|source| EngineError::Client { engine: name, source })?;
        if said.success {
            return Ok(());
        }
        let line = last_words(&said.error).to_owned();
        Err(EngineError::NoImage { engine: name, image: image.clone(), line })
    }

    /// Takes away containers of simulators that are gone.
    pub fn sweep(&self) {
        let filter = format!("label={LABEL}");
        let listed =
            ask(&self.program, ["ps", "-a", "--filter", &filter, "--format", "{{.Names}}"], PATIENCE);
        let Ok(listed) = listed else { return };
        for name in listed.output.lines().map(str::trim).filter(|name| is_orphan(name)) {
            tracing::warn!(name, "a container that a killed simulator left is taken away");
            self.remove(name);
        }
    }

    /// Ends a container and takes it away. One that is gone is as good.
    fn remove(&self, name: &str) {
        let gone = match self.kind {
            EngineKind::Podman => ask(&self.program, ["rm", "-f", "-t", "0", "--ignore", name], PATIENCE),
            EngineKind::Docker => ask(&self.program, ["rm", "-f", name], PATIENCE),
        };
        if let Err(e) = gone {
            tracing::error!(name, why = %e, "a container could not be taken away");
        }
    }

    /// In a few words, for people.
    pub fn describe(&self) -> String {
        let network = match self.network {
            EngineNetwork::Slirp => "internet through slirp4netns, this machine's loopback closed",
            EngineNetwork::Bridge => "internet through its bridge, this machine's loopback out of reach",
            EngineNetwork::Closed => {
                "no internet (the simulator listens to other machines, so scripts could reach it)"
            }
            EngineNetwork::Missing => "no internet (slirp4netns is missing)",
        };
        format!("{} with image {}, {network}", self.kind.name(), self.image)
    }
}

/// The widest network from which the simulator can't be reached.
fn network(wanted: &EngineWanted) -> EngineNetwork {
    if !wanted.loopback_only {
        return EngineNetwork::Closed;
    }
    match wanted.kind {
        EngineKind::Docker => EngineNetwork::Bridge,
        EngineKind::Podman if crate::network::on_path("slirp4netns").is_some() => EngineNetwork::Slirp,
        EngineKind::Podman => EngineNetwork::Missing,
    }
}

/// A name that nobody else has, with its owner in it: number and start of this process.
fn new_name() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = std::process::id();
    let begun = begun(pid).unwrap_or(0);
    format!("{PREFIX}{pid}-{begun}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether a container is ours and its simulator is gone.
fn is_orphan(name: &str) -> bool {
    let numbers: Option<Vec<u64>> = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split('-').map(|number| number.parse().ok()).collect());
    match numbers.as_deref() {
        Some([pid, start, _]) => u32::try_from(*pid).is_ok_and(|pid| begun(pid) != Some(*start)),
        _ => false,
    }
}

/// When a process began, in the kernel's ticks: with its number a name that is never used twice.
fn begun(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_of_the_living_are_left_alone() {
        assert_ne!(new_name(), new_name());
        assert!(!is_orphan(&new_name()));
        let pid = std::process::id();
        assert!(is_orphan(&format!("{PREFIX}{pid}-1-0")), "another process had this number before");
        // Numbers of processes end long before this one.
        assert!(is_orphan(&format!("{PREFIX}4194400-77-3")));
        for other in ["chicane-judge-x-1-0", "chicane-judge-1", "postgres", "", "chicane-judge-1-2-3-4"] {
            assert!(!is_orphan(other), "{other}");
        }
    }

    #[test]
    fn no_network_leads_to_the_simulator() {
        let wanted = |kind, loopback_only| EngineWanted { kind, program: None, image: None, loopback_only };
        for kind in [EngineKind::Podman, EngineKind::Docker] {
            assert_eq!(network(&wanted(kind, false)), EngineNetwork::Closed);
        }
        assert_eq!(network(&wanted(EngineKind::Docker, true)), EngineNetwork::Bridge);
        let podman = network(&wanted(EngineKind::Podman, true));
        assert!([EngineNetwork::Slirp, EngineNetwork::Missing].contains(&podman));
    }
}
