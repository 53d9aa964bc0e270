//! The settings of an environment, and their limits.

use crate::error::GymError;
use crate::track::{NEAR_M, rounded};
use chicane_sim::TICKS_PER_SECOND;
use chicane_vary::Vary;
use chicane_world::Profile;

/// At the start of an episode, the car stands for at least this many simulated seconds, so that the
/// sensors have readings before the first step.
const SETTLE_S: f64 = 0.1;
/// Largest number of frames in one observation.
const MAX_STACK: usize = 64;

/// What an agent observes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// A vector that describes car and road.
    pub state: bool,
    /// The ranges of the lidar.
    pub lidar: bool,
    /// The picture of the on-board camera.
    pub camera: bool,
}

/// What the seed of an episode changes in the world.
#[derive(Debug, Clone, PartialEq)]
pub enum VaryChoice {
    /// Nothing.
    Nothing,
    /// What the evaluation of the world says.
    Own,
    /// What this document says.
    Document(Box<Vary>),
}

/// The settings of all environments of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What an agent observes.
    pub observed: Observed,
    /// Whether each episode places small objects at random on the road.
    pub obstacles: bool,
    /// Simulated seconds per step, 0.005 to 10.
    pub step_s: f64,
    /// Simulated seconds after which an episode is truncated.
    pub time_limit_s: f64,
    /// Number of laps after which an episode is terminated.
    pub laps: f64,
    /// Upper limit of the action's speed, m/s.
    pub max_speed: f64,
    /// Whether each episode starts at a random point of the road.
    pub random_start: bool,
    /// What the seed of an episode changes in the world.
    pub vary: VaryChoice,
    /// Largest width and height of the observed picture, px. The aspect ratio is kept.
    pub camera_size: [u32; 2],
    /// Whether the observed picture has one channel of grey instead of red, green and blue.
    pub grey: bool,
    /// Number of lidar beams; `None` for all.
    pub beams: Option<u32>,
    /// Number of frames in one observation: the newest frame and the frames before it. The oldest
    /// frame is first.
    pub frame_stack: usize,
    /// Whether both numbers of an action are scaled to −1 to 1, instead of m/s and rad.
    pub normalised: bool,
    /// Whether the step after the end of an episode resets the environment.
    pub autoreset: bool,
    /// Whether [`crate::Batch::draw`] may be called although no camera is observed.
    pub rendered: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            observed: Observed { state: true, lidar: false, camera: false },
            obstacles: false,
            step_s: 0.1,
            time_limit_s: 60.0,
            laps: 1.0,
            max_speed: 1.5,
            random_start: true,
            vary: VaryChoice::Nothing,
            camera_size: [160, 120],
            grey: false,
            beams: None,
            frame_stack: 1,
            normalised: false,
            autoreset: true,
            rendered: false,
        }
    }
}

impl Settings {
    /// Checks every number against its limits.
    pub(crate) fn check(&self, profile: &Profile) -> Result<(), GymError> {
        let wrong = |text: String| Err(GymError::Setting(text));
        let numbers = [self.laps, self.time_limit_s, self.max_speed];
        let steps = (0.005..=10.0).contains(&self.step_s);
        if !steps || numbers.iter().any(|n| n.is_nan() || *n <= 0.0) {
            return wrong(
                "step_s must be from 0.005 to 10; laps, time_limit_s and max_speed above 0".to_owned(),
            );
        }
        let Observed { state, lidar, camera } = self.observed;
        if !(state || lidar || camera) {
            return wrong("observation must be one or more of state, lidar, camera, not empty".to_owned());
        }
        let all = profile.lidar.beams;
        if let Some(beams) = self.beams.filter(|beams| *beams == 0 || !all.is_multiple_of(*beams)) {
            return wrong(format!(
                "beams must divide {all}, the number of the lidar's beams; {beams} does not"
            ));
        }
        let [width, height] = self.camera_size;
        if !(16..=1920).contains(&width) || !(16..=1080).contains(&height) {
            return wrong("camera_size must be from 16 by 16 to 1920 by 1080 pixels".to_owned());
        }
        if !(1..=MAX_STACK).contains(&self.frame_stack) {
            return wrong(format!("frame_stack must be from 1 to {MAX_STACK}, not {}", self.frame_stack));
        }
        Ok(())
    }

    /// Ticks of one step.
    pub(crate) fn step_ticks(&self) -> u64 {
        ticks(self.step_s)
    }

    /// Ticks for which the car stands at the start of an episode.
    pub(crate) fn settle_ticks(&self) -> u64 {
        ticks(self.step_s.max(SETTLE_S))
    }

    /// The argument `near_m` of [`crate::track::Track::new`], m. It covers the distance that a car
    /// drives in one step at 4 m/s.
    pub(crate) fn near_m(&self) -> f64 {
        NEAR_M.max(4.0 * self.step_s)
    }

    /// Whether the simulation has to keep what the camera sees.
    pub(crate) fn keeps_exposures(&self) -> bool {
        self.observed.camera || self.rendered
    }

    /// Largest speed and steering angle of an action, m/s and rad.
    pub fn action_limits(&self, profile: &Profile) -> [f64; 2] {
        let drive = &profile.drive;
        [self.max_speed.min(rounded(drive.max_speed_mps)), rounded(drive.max_steering_rad)]
    }
}

fn ticks(seconds: f64) -> u64 {
    (seconds * TICKS_PER_SECOND as f64).round() as u64
}
