//! How this machine runs judging scripts and student programs. The simulator finds this out once,
//! at the start.

use crate::box_options::BoxOptions;
use crate::engine::{Engine, EngineError, EngineOptions};
use crate::spare::Spare;
use crate::student;
use chicane_jail::Cgroups;
use chicane_jail::closed_networks::{NetworkPrefix, closed_networks};
use chicane_jail::isolation::Isolation;
use chicane_jail::launcher::Launcher;
use chicane_jail::network::{Network, own_addresses};
use chicane_jail::root::{self, RootError};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The options of the command line that decide how judging scripts run.
#[derive(Debug, Clone)]
pub struct SettingOptions {
    /// The program `chicane`.
    pub launcher: Launcher,
    /// The folder with the prepared Python.
    pub folder: PathBuf,
    /// The required isolation. If omitted, any isolation will do.
    pub isolation: Option<Isolation>,
    /// A container engine for judging scripts. If omitted, judging scripts run in a jail.
    pub engine: Option<EngineOptions>,
}

/// The networks that judges and students must not reach: those that are not public, and this
/// machine itself.
fn forbidden() -> Vec<NetworkPrefix> {
    let own = own_addresses().into_iter().map(|(address, prefix)| (IpAddr::V4(address), prefix));
    closed_networks().into_iter().chain(own).collect()
}

/// Where judging scripts run.
#[derive(Debug, Clone)]
pub enum JudgeRunner {
    /// In a jail of the simulator.
    Jail {
        /// The judge's root file system.
        root: PathBuf,
        /// The judge's network. `None` without internet access.
        network: Option<Network>,
        /// Networks that a judge must not reach.
        forbidden: Vec<NetworkPrefix>,
    },
    /// In a container of podman or docker.
    Engine(Engine),
}

/// How judging scripts and student programs run on this machine.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The program `chicane`.
    pub launcher: Launcher,
    /// The folder with the prepared Python. It is hidden from students.
    pub folder: PathBuf,
    /// Where judging scripts run.
    pub runner: JudgeRunner,
    /// The internet access of students. `None` without internet access.
    pub network: Option<Network>,
    /// Addresses that a student's program in a box with its own network must not reach, with their
    /// prefix length.
    pub forbidden: Vec<NetworkPrefix>,
    /// The control groups of the simulator's jails.
    pub cgroups: Cgroups,
    /// The required isolation. `None` if any isolation will do.
    pub pinned: Option<Isolation>,
    /// A judge for the next session. All clones of a setting share it.
    pub(crate) spare: Arc<Spare>,
}

/// Why no judging script can run on this machine.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The program `chicane` can't be opened.
    #[error("the program chicane can't be opened: {0}")]
    Launcher(#[source] std::io::Error),
    /// The judge's Python is not prepared.
    #[error(transparent)]
    Root(#[from] RootError),
    /// The container engine can't be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The isolation that `--judge-isolation` requires is not available.
    #[error("--judge-isolation {} is not available here, only {} is", .pinned.name(), .found.name())]
    Isolation {
        /// The isolation of `--judge-isolation`.
        pinned: Isolation,
        /// The isolation that this machine has.
        found: Isolation,
    },
}

impl Setting {
    /// Finds out what this machine has, without starting a judge.
    pub fn find(options: &SettingOptions) -> Result<Setting, SettingError> {
        let runner = match &options.engine {
            Some(engine) => JudgeRunner::Engine(Engine::find(engine)?),
            None => JudgeRunner::Jail {
                root: root::ready(&options.folder)?,
                network: Network::find(&root::tools(&options.folder)),
                forbidden: forbidden(),
            },
        };
        let cgroups = match options.isolation {
            Some(Isolation::Watchdog) => Cgroups::None,
            _ => Cgroups::find(),
        };
        let setting = Setting {
            launcher: options.launcher.clone(),
            folder: options.folder.clone(),
            runner,
            network: Network::find(&root::tools(&options.folder)),
            forbidden: forbidden(),
            cgroups,
            pinned: options.isolation,
            spare: Arc::default(),
        };
        // For an engine the isolation is known only after a container was started.
        if options.engine.is_none() {
            setting.check_isolation(setting.jail_isolation())?;
        }
        Ok(setting)
    }

    /// Fails if an isolation other than `found` is required.
    pub(crate) fn check_isolation(&self, found: Isolation) -> Result<(), SettingError> {
        match self.pinned {
            Some(pinned) if pinned != found => Err(SettingError::Isolation { pinned, found }),
            _ => Ok(()),
        }
    }

    /// Why this machine can't run student programs in a box with these options, with the remedy.
    /// `None` if the machine can.
    pub fn box_problem(&self, options: &BoxOptions) -> Option<String> {
        student::check(self, options).err().map(|error| error.to_string())
    }

    /// How the limits of the simulator's jails are enforced.
    pub fn jail_isolation(&self) -> Isolation {
        match self.cgroups {
            Cgroups::V2(_) => Isolation::CgroupV2,
            Cgroups::V1(_) => Isolation::CgroupV1,
            Cgroups::None => Isolation::Watchdog,
        }
    }

    /// Describes the setting in one line, for people.
    pub fn describe(&self, isolation: Isolation) -> String {
        let limits = match (isolation, &self.runner) {
            (Isolation::Watchdog, JudgeRunner::Jail { .. }) => "limits by rlimits and a watchdog",
            (Isolation::Watchdog, JudgeRunner::Engine(_)) => {
                "the engine sets no limits here, a watchdog does"
            }
            _ => "limits by the kernel",
        };
        let limits = format!("{} ({limits})", isolation.name());
        match &self.runner {
            JudgeRunner::Engine(engine) => format!("{}, {limits}", engine.describe()),
            JudgeRunner::Jail { network: Some(network), .. } => {
                let network = network.describe();
                format!("namespaces, {limits}, seccomp, internet through a network of its own ({network})")
            }
            JudgeRunner::Jail { network: None, .. } => {
                format!("namespaces, {limits}, seccomp, no internet (slirp4netns or /dev/net/tun is missing)")
            }
        }
    }
}
