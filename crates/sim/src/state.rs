//! The state of a simulation: everything that changes, and nothing that does not.

use crate::imu::ImuState;
use crate::lights::Lamp;
use crate::motion::Motion;
use crate::physics::{Car, Engine};
use crate::readings::{ImuSample, Scan};
use chicane_world::{Profile, World};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Everything that changes and must be saved.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) tick: u64,
    pub(crate) engine: Engine,
    pub(crate) car: Car,
    pub(crate) lamps: Vec<Lamp>,
    pub(crate) car_motion: Option<Motion>,
    /// One slot an object.
    pub(crate) motions: Vec<Option<Motion>>,
    pub(crate) last_contact: Vec<Option<u64>>,
    pub(crate) imu: ImuState,
    pub(crate) scan: Scan,
    pub(crate) imu_sample: ImuSample,
}

/// Fingerprint of what a save must come from: world, profile and seed.
pub(crate) fn origin(world: &World, profile: &Profile, seed: u64) -> u64 {
    // Debug output holds every number exactly, and no field can be forgotten.
    let text = format!("{:?}{:?}{:?}{profile:?}{seed}", world.objects, world.scenery, world.spawn);
    xxh3_64(text.as_bytes())
}
