//! The state of a simulation: all data that changes during a run, and no constant data.

use crate::imu::ImuState;
use crate::lights::Lamp;
use crate::motion::Motion;
use crate::physics::{Car, Engine};
use chicane_world::readings::{ImuSample, Scan};
use chicane_world::world::Shape;
use chicane_world::{Profile, World};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// All data that changes during a run and belongs in a save.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) tick: u64,
    pub(crate) engine: Engine,
    pub(crate) car: Car,
    pub(crate) lamps: Vec<Lamp>,
    pub(crate) car_motion: Option<Motion>,
    /// The current motion of each object; `None` if no motion carries the object.
    pub(crate) motions: Vec<Option<Motion>>,
    /// Whether the car touched each object in the last tick.
    pub(crate) touched: Vec<bool>,
    pub(crate) last_contact: Vec<Option<u64>>,
    pub(crate) imu: ImuState,
    pub(crate) scan: Scan,
    pub(crate) imu_sample: ImuSample,
}

impl State {
    /// Whether all vectors have the same lengths as in `other`. `other` is a state of the same
    /// world.
    pub(crate) fn fits(&self, other: &State) -> bool {
        let sizes = |s: &State| {
            (s.lamps.len(), s.motions.len(), s.touched.len(), s.last_contact.len(), s.scan.ranges.len())
        };
        sizes(self) == sizes(other)
    }
}

/// Hash of the world, profile and seed that a save belongs to.
pub(crate) fn origin(world: &World, profile: &Profile, seed: u64) -> u64 {
    // Debug output contains every number exactly. The numbers of meshes are hashed directly,
    // because the debug output of a mesh would be long.
    let mut hash = Xxh3::new();
    let constant = format!("{profile:?}{seed}{:?}{:?}{:?}", world.gravity, world.ground, world.spawn);
    hash.update(constant.as_bytes());
    hash.update(format!("{:?}", world.objects).as_bytes());
    for solid in &world.scenery {
        match &solid.shape {
            Shape::Mesh(mesh) => {
                let surface = format!("{:?}{}{}", solid.pose, solid.friction, solid.restitution);
                hash.update(surface.as_bytes());
                mesh.vertices.iter().flat_map(|v| v.to_array()).for_each(|v| hash.update(&v.to_le_bytes()));
                mesh.triangles.iter().flatten().for_each(|i| hash.update(&i.to_le_bytes()));
            }
            _ => hash.update(format!("{solid:?}").as_bytes()),
        }
    }
    hash.digest()
}
