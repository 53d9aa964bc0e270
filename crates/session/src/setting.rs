//! What this machine has for running other people's programs, found out once and by trying.

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
}

/// How jails are made on this machine.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The program `chicane`.
    pub launcher: PathBuf,
    /// Folder with all that was prepared; not there for students.
    pub folder: PathBuf,
    /// The judge's root file system.
    pub root: PathBuf,
    /// Control groups.
    pub cgroups: Cgroups,
    /// The judge's network.
    pub network: Option<Network>,
    /// Addresses that a judge must not reach.
    pub forbidden: Vec<(Ipv4Addr, u8)>,
}

/// Why no script can be judged here, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub String);

impl Setting {
    /// Looks at the machine, without trying.
    pub fn find(wanted: &Wanted) -> Result<Setting, SettingError> {
        let root = root::ready(&wanted.folder).map_err(SettingError)?;
        let cgroups = match wanted.isolation {
            Some(Isolation::Watchdog) => Cgroups::None,
            _ => Cgroups::find(),
        };
        let setting = Setting {
            launcher: wanted.launcher.clone(),
            network: Network::find(&root::tools(&wanted.folder)),
            folder: wanted.folder.clone(),
            root,
            cgroups,
            forbidden: own_addresses(),
        };
        match wanted.isolation {
            Some(pinned) if pinned != setting.isolation() => Err(SettingError(format!(
                "--judge-isolation {} is not to be had here, only {} is",
                pinned.name(),
                setting.isolation().name()
            ))),
            _ => Ok(setting),
        }
    }

    /// Starts a container and has it look at a script: whatever can't be had here is found out now.
    pub fn try_out(&self) -> Result<(), SettingError> {
        let mut judge = Judge::start(self).map_err(|e| SettingError(e.0))?;
        match judge.check("def evaluate(sim):\n    pass\n") {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(SettingError(format!("a script that is right was refused: {why}"))),
            Err(e) => Err(SettingError(e.0)),
        }
    }

    /// How limits are held.
    pub fn isolation(&self) -> Isolation {
        match self.cgroups {
            Cgroups::V2(_) => Isolation::CgroupV2,
            Cgroups::V1(_) => Isolation::CgroupV1,
            Cgroups::None => Isolation::Watchdog,
        }
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        let limits = match self.isolation() {
            Isolation::Watchdog => "limits by rlimits and a watchdog",
            _ => "limits by the kernel",
        };
        let network = match self.network {
            Some(_) => "internet through a network of its own",
            None => "no internet (slirp4netns or /dev/net/tun is missing)",
        };
        format!("namespaces, {} ({limits}), seccomp, {network}", self.isolation().name())
    }
}
