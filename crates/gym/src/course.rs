//! The worlds of a batch. All environments of one world share its road and its start.

use crate::car::PreparedStart;
use crate::error::GymError;
use crate::settings::{Settings, VaryChoice};
use crate::track::Track;
use chicane_builder::{RandomTrackOptions, build, random};
use chicane_render::Stage;
use chicane_sim::{Checkpoint, Sim};
use chicane_vary::Vary;
use chicane_world::{Assets, MemoryBundle, Profile, World};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Largest number of random tracks that are kept in memory.
const KEPT_TRACKS: usize = 64;

/// The worlds of a batch.
#[derive(Clone)]
pub enum Courses {
    /// Environment i has world i modulo the number of worlds.
    Worlds(Vec<Arc<World>>),
    /// Each episode has one of several random tracks.
    Random(RandomTracks),
}

/// Random tracks, one of which each episode draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomTracks {
    /// Number of different tracks. Track k is the track that `chicane new` makes with the seed k; k
    /// starts at 1.
    pub count: usize,
    /// The options of all tracks. The seed among them is not used.
    pub options: RandomTrackOptions,
}

/// A world, prepared for environments.
pub(crate) struct Course {
    pub(crate) world: Arc<World>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) track: Track,
    /// What a seed changes; `None` for nothing.
    pub(crate) vary: Option<Vary>,
    /// The simulation at tick 0.
    pub(crate) start: Checkpoint,
    /// The start of episodes that all start at the first waypoint; empty before the first of these
    /// episodes.
    pub(crate) prepared: OnceLock<PreparedStart>,
    stage: OnceLock<Arc<Stage>>,
}

/// What all environments of a batch share.
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    pub(crate) profile: Arc<Profile>,
    courses: Vec<Arc<Course>>,
    pub(crate) random: Option<RandomTracks>,
    kept: Mutex<BTreeMap<usize, Arc<Course>>>,
}

impl Course {
    fn new(world: Arc<World>, profile: &Arc<Profile>, settings: &Settings) -> Result<Course, GymError> {
        let name = || world.name.clone();
        // These are the waypoints of the published file, as the API returns them. A waypoint
        // therefore has the same number here and in environments over HTTP.
        let route = world.published_route().ok_or_else(|| GymError::NoRoute { world: name() })?;
        let track = Track::new(route, settings.near_m())?;
        let vary = match &settings.vary {
            VaryChoice::Nothing => None,
            VaryChoice::Document(vary) => Some(vary.as_ref().clone()),
            VaryChoice::Own => {
                let own = world.evaluation.as_ref().map(|e| &e.vary).filter(|vary| !vary.is_empty());
                Some(own.cloned().ok_or_else(|| GymError::NothingVaried { world: name() })?)
            }
        };
        let mut sim = Sim::new(Arc::clone(&world), Arc::clone(profile), 0);
        let start = sim.checkpoint();
        let profile = Arc::clone(profile);
        Ok(Course { world, profile, track, vary, start, prepared: OnceLock::new(), stage: OnceLock::new() })
    }

    /// The world without the changes of a seed, prepared for the renderer.
    pub(crate) fn stage(&self) -> Arc<Stage> {
        let make = || Arc::new(Stage::new(&self.world, Arc::clone(&self.profile)));
        Arc::clone(self.stage.get_or_init(make))
    }
}

impl Plan {
    pub(crate) fn new(courses: Courses, profile: Arc<Profile>, settings: Settings) -> Result<Plan, GymError> {
        settings.check(&profile)?;
        let (worlds, random) = match courses {
            Courses::Worlds(worlds) if worlds.is_empty() => {
                return Err(GymError::Setting("world must name one world or more".to_owned()));
            }
            Courses::Worlds(worlds) => (worlds, None),
            Courses::Random(random) if random.count == 0 => {
                return Err(GymError::Setting("random_tracks must be 1 or more".to_owned()));
            }
            Courses::Random(random) => (vec![Arc::new(random_world(&random.options, 1)?)], Some(random)),
        };
        let courses = worlds.into_iter().map(|world| Course::new(world, &profile, &settings).map(Arc::new));
        let courses = courses.collect::<Result<Vec<_>, _>>()?;
        Ok(Plan { settings, profile, courses, random, kept: Mutex::default() })
    }

    /// The world in which environment `car` starts.
    pub(crate) fn course(&self, car: usize) -> &Arc<Course> {
        &self.courses[car % self.courses.len()]
    }

    /// The random track with this number, from 1.
    pub(crate) fn random_course(&self, number: usize) -> Result<Arc<Course>, GymError> {
        let Some(random) = self.random else { return Ok(Arc::clone(&self.courses[0])) };
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(course) = kept().get(&number) {
            return Ok(Arc::clone(course));
        }
        // The lock is not held here, so two threads may build the same track. Both tracks are
        // equal.
        let world = Arc::new(random_world(&random.options, number as u64)?);
        let course = Arc::new(Course::new(world, &self.profile, &self.settings)?);
        let mut kept = kept();
        if kept.len() >= KEPT_TRACKS {
            kept.pop_first();
        }
        kept.insert(number, Arc::clone(&course));
        Ok(course)
    }

    /// The text that identifies the settings, the world and the car of a saved environment.
    pub(crate) fn identity(&self, car: usize) -> String {
        let world = &self.course(car).world.name;
        format!("{:?} {:?} {world} {:?}", self.settings, self.random, self.profile)
    }
}

fn random_world(options: &RandomTrackOptions, seed: u64) -> Result<World, GymError> {
    let project = random::track(&RandomTrackOptions { seed, ..*options })?;
    let bundle = build(&project, &MemoryBundle::default())?;
    World::load(&Assets::of(&bundle)).map_err(|error| GymError::BrokenTrack(error.to_string()))
}
