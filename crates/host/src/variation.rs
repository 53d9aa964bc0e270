//! A served world that a seed changed.
//!
//! The published world stays in memory, so that the next respawn or session starts from it.

use crate::served_world::ServedWorld;
use chicane_sim::{Overlay, Sim};
use chicane_store::Sum;
use chicane_vary::Vary;
use chicane_wire::Variation;
use chicane_world::Profile;
use std::sync::Arc;

/// A seed, and what it changes in a world.
#[derive(Debug, Clone, Default)]
pub struct Seeded {
    /// The seed.
    pub seed: u64,
    /// What the seed may change.
    pub vary: Vary,
}

/// What a seed changed in a published world and its car.
pub struct SeedVariation {
    published: Arc<ServedWorld>,
    overlay: Overlay,
    /// The car as its profile describes it. The robot's software and the clients know only this
    /// car, and not the car that the seed changed.
    nominal: Arc<Profile>,
    /// The car as it is simulated.
    profile: Arc<Profile>,
    identity: Variation,
}

impl SeedVariation {
    /// The published world, if the seed changes nothing that the renderer draws; `None` otherwise.
    pub fn with_same_picture(&self) -> Option<&Arc<ServedWorld>> {
        (!self.overlay.changes_scene()).then_some(&self.published)
    }

    /// The car as it is simulated.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }
}

impl ServedWorld {
    /// This world with the changes of a seed. Returns the published world if the seed changes
    /// nothing.
    pub fn varied(
        self: &Arc<ServedWorld>,
        nominal: &Arc<Profile>,
        Seeded { seed, vary }: &Seeded,
    ) -> Result<Arc<ServedWorld>, serde_json::Error> {
        let published = self.published();
        let overlay = Overlay::draw(&published.world, vary, *seed);
        if overlay.is_none() {
            return Ok(published);
        }
        let world = Arc::new(overlay.world(&published.world));
        let (entry, sha256) = (published.entry.clone(), published.sha256.clone());
        let mut served = ServedWorld::new(entry, world, sha256)?;
        served.variation = Some(SeedVariation {
            profile: Arc::new(overlay.profile(nominal)),
            nominal: Arc::clone(nominal),
            identity: Variation { seed: *seed, sha256: Sum::of(&overlay.bytes()).hex() },
            published,
            overlay,
        });
        Ok(Arc::new(served))
    }

    /// The world as published.
    pub fn published(self: &Arc<ServedWorld>) -> Arc<ServedWorld> {
        Arc::clone(self.variation.as_ref().map_or(self, |variation| &variation.published))
    }

    /// A simulation of this world at tick 0.
    pub fn sim(&self, profile: &Arc<Profile>, seed: u64) -> Sim {
        let world = Arc::clone(&self.world);
        match &self.variation {
            None => Sim::new(world, Arc::clone(profile), seed),
            Some(v) => Sim::varied(world, Arc::clone(&v.profile), seed, &v.overlay),
        }
    }

    /// What the seed changed, for records and clients; `None` if the world is as published.
    pub fn variation(&self) -> Option<Variation> {
        self.variation.as_ref().map(|variation| variation.identity.clone())
    }

    /// The brightness that the world starts with; `None` if the seed does not change it.
    pub fn brightness(&self) -> Option<f64> {
        self.variation.as_ref()?.overlay.brightness
    }

    /// Indices of the objects that the published world does not have, or has at another pose.
    pub fn changed_objects(&self) -> Vec<usize> {
        let Some(variation) = &self.variation else { return Vec::new() };
        let published = &variation.published.world.objects;
        let objects = self.world.objects.iter().enumerate();
        let is_changed = |i: usize, origin| published.get(i).is_none_or(|before| before.origin != origin);
        objects.filter(|(i, object)| is_changed(*i, object.origin)).map(|(i, _)| i).collect()
    }

    /// The start pose that the seed gives: x, y in metres and yaw in radians. `behind` describes
    /// the published start, which the seed shifts: there the car's origin is this many metres
    /// behind waypoint 0. `None` if the seed does not change the start pose.
    pub fn varied_start(&self, behind: f64) -> Option<[f64; 3]> {
        let variation = self.variation.as_ref()?;
        variation.overlay.start_pose(&variation.published.world, behind)
    }

    /// The car as its software knows it.
    pub fn nominal_profile<'a>(&'a self, sim: &'a Sim) -> &'a Arc<Profile> {
        self.variation.as_ref().map_or(sim.profile(), |variation| &variation.nominal)
    }
}
