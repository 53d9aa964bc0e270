//! What this machine has for running other people's programs, found out once and by trying.

use crate::engine::{Engine, EngineWanted};
use crate::jail::Cgroups;
use crate::judge::Judge;
use crate::network::{Network, own_addresses};
use crate::root;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// How processes and memory of a jail are held within their limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// By control groups, version 2.
    CgroupV2,
    /// By control groups, version 1.
    CgroupV1,
    /// By limits of a user and a watch on memory.
    Watchdog,
}

impl Isolation {
    /// As it is said on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::CgroupV2 => "cgroup-v2",
            Isolation::CgroupV1 => "cgroup-v1",
            Isolation::Watchdog => "watchdog",
        }
    }
}

/// What a person asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The program `chicane`.
    pub launcher: PathBuf,
    /// Folder with the prepared Python.
    pub folder: PathBuf,
    /// This way of holding limits and no other.
    pub isolation: Option<Isolation>,
    /// An engine for judging scripts, instead of our own jail.
    pub engine: Option<EngineWanted>,
}

/// Where judging scripts run.
#[derive(Debug, Clone)]
pub enum Way {
    /// In a jail of our own.
    Jail {
        /// The judge's root file system.
        root: PathBuf,
        /// The judge's network.
        network: Option<Network>,
        /// Addresses that a judge must not reach.
        forbidden: Vec<(Ipv4Addr, u8)>,
    },
    /// In a container of an engine.
    Engine(Engine),
}

/// How jails are made on this machine.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The program `chicane`.
    pub launcher: PathBuf,
    /// Folder with all that was prepared; not there for students.
    pub folder: PathBuf,
    /// Where judging scripts run.
    pub way: Way,
    /// Control groups of our own jails.
    pub cgroups: Cgroups,
    /// Only this way of holding limits will do.
    pub pinned: Option<Isolation>,
}

/// Why no script can be judged here, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub String);

impl Setting {
    /// Looks at the machine, without trying.
    pub fn find(wanted: &Wanted) -> Result<Setting, SettingError> {
        let way = match &wanted.engine {
            Some(engine) => Way::Engine(Engine::find(engine).map_err(SettingError)?),
            None => Way::Jail {
                root: root::ready(&wanted.folder).map_err(SettingError)?,
                network: Network::find(&root::tools(&wanted.folder)),
                forbidden: own_addresses(),
            },
        };
        let cgroups = match wanted.isolation {
            Some(Isolation::Watchdog) => Cgroups::None,
            _ => Cgroups::find(),
        };
        let setting = Setting {
            launcher: wanted.launcher.clone(),
            folder: wanted.folder.clone(),
            way,
            cgroups,
            pinned: wanted.isolation,
        };
        // What an engine does is known when it has done it.
        if wanted.engine.is_none() {
            setting.must_be_pinned(setting.own_isolation())?;
        }
        Ok(setting)
    }

    fn must_be_pinned(&self, found: Isolation) -> Result<(), SettingError> {
        match self.pinned {
            Some(pinned) if pinned != found => Err(SettingError(format!(
                "--judge-isolation {} is not to be had here, only {} is",
                pinned.name(),
                found.name()
            ))),
            _ => Ok(()),
        }
    }

    /// Starts a container and has it look at a script: whatever can't be had here is found out now. How limits are held.
    pub fn try_out(&self) -> Result<Isolation, SettingError> {
        let mut judge = Judge::start(self).map_err(|e| SettingError(e.0))?;
        let isolation = judge.isolation().unwrap_or_else(|| self.own_isolation());
        self.must_be_pinned(isolation)?;
        match judge.check("def evaluate(sim):\n    pass\n") {
            Ok(None) => Ok(isolation),
            Ok(Some(why)) => Err(SettingError(format!("a script that is right was refused: {why}"))),
            Err(e) => Err(SettingError(e.0)),
        }
    }

    /// How limits are held in jails of our own.
    pub fn own_isolation(&self) -> Isolation {
        match self.cgroups {
            Cgroups::V2(_) => Isolation::CgroupV2,
            Cgroups::V1(_) => Isolation::CgroupV1,
            Cgroups::None => Isolation::Watchdog,
        }
    }

    /// One line for people, with how limits are held.
    pub fn describe(&self, isolation: Isolation) -> String {
        let limits = match (isolation, &self.way) {
            (Isolation::Watchdog, Way::Jail { .. }) => "limits by rlimits and a watchdog",
            (Isolation::Watchdog, Way::Engine(_)) => "the engine sets no limits here, a watchdog does",
            _ => "limits by the kernel",
        };
        let limits = format!("{} ({limits})", isolation.name());
        match &self.way {
            Way::Engine(engine) => format!("{}, {limits}", engine.describe()),
            Way::Jail { network: Some(_), .. } => {
                format!("namespaces, {limits}, seccomp, internet through a network of its own")
            }
            Way::Jail { network: None, .. } => {
                format!("namespaces, {limits}, seccomp, no internet (slirp4netns or /dev/net/tun is missing)")
            }
        }
    }
}
