//! The head of a journal: the values that are constant during a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the format.
pub const FORMAT: u32 = 1;

/// The values that are constant during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Version of the format: [`FORMAT`].
    pub format: u32,
    /// Version of the simulator.
    pub version: String,
    /// The commit that the simulator was built from; null if it is not known.
    pub commit: Option<String>,
    /// Name of the world.
    pub world: String,
    /// SHA-256 of the world's files, hex; null if it is not known.
    pub world_sha256: Option<String>,
    /// Hash of the loaded world, the profile, the seed and the overlay, hex.
    pub origin: String,
    /// The car's profile.
    pub profile: Value,
    /// Source code of the judging script.
    pub script: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// What the seed varies in the world; null if it varies nothing.
    pub variation: Value,
    /// Time limit, simulated seconds.
    pub time_limit_s: f64,
    /// Brightness at the start. Every channel of a shown pixel is multiplied by this factor.
    pub brightness: f64,
    /// Command of the student's program; null if there is no program.
    pub command: Option<String>,
    /// Whether the program began in virtual time. If the time keeper failed later, the record has
    /// the pace `real`, and this value is still true.
    pub is_virtual: bool,
    /// Names of the hashed parts of the state.
    pub parts: Vec<String>,
}
