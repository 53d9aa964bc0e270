//! What this machine has for running other people's programs, found out once and by trying.

use crate::engine::{Engine, EngineError, EngineWanted};
use crate::jail::Cgroups;
use crate::judge::{Judge, JudgeError};
use crate::network::{Network, own_addresses};
use crate::root::{self, RootError};
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
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The path of the program `chicane` is not known.
    #[error("{0}")]
    Launcher(#[source] std::io::Error),
    /// The judge's Python is not prepared.
    #[error(transparent)]
    Root(#[from] RootError),
    /// The container engine can't be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The isolation that was asked for is not available.
    #[error("--judge-isolation {} is not available here, only {} is", .pinned.name(), .found.name())]
    Isolation {
        /// The isolation of `--judge-isolation`.
        pinned: Isolation,
        /// The isolation that this machine has.
        found: Isolation,
    },
    /// The trial judge failed.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// The trial judge refused a correct script.
    #[error("a correct script was refused: {0}")]
    TrialRefused(String),
}

impl Setting {
    /// Looks at the machine, without trying.
    pub fn find(wanted: &Wanted) -> Result<Setting, SettingError> {
        let way = match &wanted.engine {
            Some(engine) => Way::Engine(Engine::find(engine)?),
            None => Way::Jail {
                root: root::ready(&wanted.folder)?,
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
            Some(pinned) if pinned != found => Err(SettingError::Isolation { pinned, found }),
            _ => Ok(()),
        }
    }

    /// Starts a container and has it look at a script: whatever can't be had here is found out now. How limits are held.
    pub fn try_out(&self) -> Result<Isolation, SettingError> {
        let mut judge = Judge::start(self)?;
        let isolation = judge.isolation().unwrap_or_else(|| self.own_isolation());
        self.must_be_pinned(isolation)?;
        match judge.check("def evaluate(sim):\n    pass\n")? {
            None => Ok(isolation),
            Some(why) => Err(SettingError::TrialRefused(why)),
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
