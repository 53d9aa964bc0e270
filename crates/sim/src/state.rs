//! The state of a simulation: all data that changes during a run, and no constant data.

use crate::imu::ImuState;
use crate::lights::Lamp;
use crate::motion::Motion;
use crate::physics::{Car, Engine};
use crate::vary::Overlay;
use chicane_world::readings::{Drive, ImuSample, Scan};
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
    pub(crate) varied: VariedState,
}

/// The part of the state that only a world with an overlay has.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct VariedState {
    /// The drive commands that have not taken effect yet. The command of tick t is at index t
    /// modulo the length. Empty if commands take effect at once.
    delay_line: Vec<Drive>,
    /// For each light: ticks until its timer turns the light green; 0 if the light has no running
    /// timer. Empty if no light is red at the start.
    pub(crate) red_ticks: Vec<u32>,
}

impl VariedState {
    pub(crate) fn new(world: &World, overlay: &Overlay) -> VariedState {
        let ticks_of = |name: &str| {
            let red = overlay.red_lights.iter().find(|light| light.name == name);
            red.map_or(0, |light| light.ticks)
        };
        let lights = world.lights().map(|(_, light)| ticks_of(&light.name));
        VariedState {
            delay_line: vec![Drive::default(); overlay.latency_ticks as usize],
            red_ticks: if overlay.red_lights.is_empty() { Vec::new() } else { lights.collect() },
        }
    }

    /// Whether this state is empty: drive commands take effect at once, and no light has a timer.
    pub(crate) fn is_empty(&self) -> bool {
        self.delay_line.is_empty() && self.red_ticks.is_empty()
    }

    /// Stores the drive command of this tick, and returns the drive command that takes effect in
    /// this tick.
    pub(crate) fn delayed(&mut self, drive: Drive, tick: u64) -> Drive {
        if self.delay_line.is_empty() {
            return drive;
        }
        let at = (tick % self.delay_line.len() as u64) as usize;
        std::mem::replace(&mut self.delay_line[at], drive)
    }

    /// Removes all delayed commands and stops the timers of the lights. Does not change the lights.
    pub(crate) fn reset(&mut self) {
        self.delay_line.fill(Drive::default());
        self.red_ticks.fill(0);
    }
}

impl State {
    /// Whether all vectors have the same lengths as in `other`. `other` is a state of the same
    /// world.
    pub(crate) fn fits(&self, other: &State) -> bool {
        let sizes = |s: &State| {
            (s.lamps.len(), s.motions.len(), s.touched.len(), s.last_contact.len(), s.scan.ranges.len())
        };
        let varied = |s: &State| (s.varied.delay_line.len(), s.varied.red_ticks.len());
        sizes(self) == sizes(other) && varied(self) == varied(other)
    }
}

/// The hash [`origin`] of a simulation whose seed was changed. `first` is the hash before the
/// change.
pub(crate) fn with_seed(first: u64, seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(&first.to_le_bytes(), seed)
}

/// Hash of the world, profile, seed and overlay that a save belongs to.
pub(crate) fn origin(world: &World, profile: &Profile, seed: u64, overlay: &Overlay) -> u64 {
    // The parts are hashed as debug output, because it contains every number exactly. Only the
    // numbers of meshes are hashed directly, because the debug output of a mesh would be long.
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
    if !overlay.is_none() {
        hash.update(&overlay.bytes());
    }
    hash.digest()
}
