//! How the limits of a jail or container are enforced.

/// The mechanism that limits processes and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Control groups, version 2.
    CgroupV2,
    /// Control groups, version 1.
    CgroupV1,
    /// Resource limits of the user, and a watchdog that measures memory.
    Watchdog,
}

impl Isolation {
    /// The mechanism's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::CgroupV2 => "cgroup-v2",
            Isolation::CgroupV1 => "cgroup-v1",
            Isolation::Watchdog => "watchdog",
        }
    }
}
