//! How a student's program is isolated: which kind of box, what it sees, and its limits.

use chicane_wire::{BoxKind, StudentNetwork};
use std::path::PathBuf;

/// The options of a student's box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxOptions {
    /// Which files the program sees, and as which user it runs.
    pub kind: BoxKind,
    /// What the program reaches besides the simulator.
    pub network: StudentNetwork,
    /// Further files and folders of the host that a closed box shows, read-only.
    pub paths: Vec<PathBuf>,
    /// Names of further environment variables that the program gets.
    pub environment: Vec<String>,
    /// The limits of memory, processes and files.
    pub limits: BoxLimits,
}

/// The limits of a student's box. The kernel enforces them, with one exception: in a closed box the
/// kernel limits the sum of `memory` and `files`, and the simulator checks `memory` itself. In a
/// host box without control groups only `processes` is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoxLimits {
    /// Maximum memory in bytes. In a closed box, files do not count.
    pub memory: u64,
    /// Maximum number of processes and threads.
    pub processes: u64,
    /// Maximum size of all files of a program in a closed box, including the copy of its workspace,
    /// bytes.
    pub files: u64,
}

impl BoxOptions {
    /// The defaults of a kind of box.
    pub fn new(kind: BoxKind) -> BoxOptions {
        let (network, limits) = match kind {
            BoxKind::Closed => (StudentNetwork::None, BoxLimits { processes: 256, ..BoxLimits::default() }),
            BoxKind::Host => {
                (StudentNetwork::Internet, BoxLimits { processes: 1024, ..BoxLimits::default() })
            }
        };
        BoxOptions { kind, network, paths: Vec::new(), environment: Vec::new(), limits }
    }

    /// Why a program in this box can't run in virtual time; `None` if it can.
    pub fn no_virtual_time(&self) -> Option<String> {
        match self.network {
            StudentNetwork::Host => Some("the program shares the network of the host".to_owned()),
            StudentNetwork::Internet => {
                Some("the program has internet access; --student-network none closes it".to_owned())
            }
            StudentNetwork::None => chicane_pace::problem(),
        }
    }
}

impl Default for BoxLimits {
    fn default() -> BoxLimits {
        BoxLimits { memory: 2 << 30, processes: 256, files: 1 << 30 }
    }
}
