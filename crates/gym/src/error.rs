//! The reasons why a call of a batch fails.

use chicane_builder::{BuildError, RandomError};
use chicane_sim::{Refusal, RestoreError};

/// The reason why a call of a batch failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GymError {
    /// The number of environments is out of range.
    #[error("num_envs must be from 1 to {most}, not {given}")]
    Count {
        /// The requested number.
        given: usize,
        /// The largest number.
        most: usize,
    },
    /// The number of threads is out of range.
    #[error("threads must be from 1 to {most}, not {given}")]
    Threads {
        /// The requested number.
        given: usize,
        /// The largest number.
        most: usize,
    },
    /// The threads could not be started.
    #[error("the threads of the environment could not be started: {0}")]
    Pool(String),
    /// A setting is empty or out of range. The text names the setting and its limits.
    #[error("{0}")]
    Setting(String),
    /// A world has no route.
    #[error("the world '{world}' has no route: choose one with a road")]
    NoRoute {
        /// Name of the world.
        world: String,
    },
    /// A route is too short.
    #[error("a road needs three waypoints or more, not {waypoints}")]
    ShortRoute {
        /// Number of waypoints without a repeated first one; 1 if all are at the same place.
        waypoints: usize,
    },
    /// A world has no evaluation, or its evaluation varies nothing.
    #[error("the evaluation of '{world}' varies nothing: give vary a dictionary")]
    NothingVaried {
        /// Name of the world.
        world: String,
    },
    /// A world has no movable objects that are small enough to be obstacles.
    #[error("this world has no small movable objects: choose another, such as slalom")]
    NoSmallObjects,
    /// A road has no room for an obstacle and a car, or no borders.
    #[error("the road is too narrow to pass '{name}': choose another world, such as slalom")]
    NarrowRoad {
        /// Name of the object.
        name: String,
    },
    /// A random track cannot be generated.
    #[error("random_tracks: {0}")]
    RandomTrack(#[from] RandomError),
    /// A random track cannot be built or loaded.
    #[error("a random track cannot be built: {0}")]
    BrokenTrack(String),
    /// The simulation refused a command of the environment.
    #[error("the simulation refused a command: {0}")]
    Refused(Refusal),
    /// An action is not finite.
    #[error("an action must be two numbers, speed and steering; that of environment {car} is not finite")]
    Action {
        /// Index of the environment.
        car: usize,
    },
    /// An array has the wrong number of elements.
    #[error("the array '{name}' must have {expected} elements, not {given}")]
    Length {
        /// Name of the array.
        name: &'static str,
        /// Required number of elements.
        expected: usize,
        /// Number of elements of the given array.
        given: usize,
    },
    /// The start of an episode is not finite.
    #[error("options: start must be a finite number of laps")]
    Start,
    /// There is no such environment.
    #[error("there is no environment {car}: the batch has {count}")]
    NoSuchCar {
        /// The requested index.
        car: usize,
        /// Number of environments.
        count: usize,
    },
    /// An environment was not reset before it was stepped, observed, drawn or saved.
    #[error("call reset first: environment {car} has no episode")]
    NotReset {
        /// Index of the environment.
        car: usize,
    },
    /// The generator of an environment was not set before the environment was reset.
    #[error("call seed first: environment {car} has no generator of random numbers")]
    NotSeeded {
        /// Index of the environment.
        car: usize,
    },
    /// The environment does not keep what is needed to draw a picture.
    #[error("this environment has no pictures: create it with render_mode='rgb_array'")]
    NoPicture,
    /// The bytes were not written by a save of an environment.
    #[error("these bytes are not a saved environment of this version")]
    NotASave,
    /// Saved bytes are damaged.
    #[error("the saved environment is damaged")]
    Damaged,
    /// Saved bytes belong to an environment with other worlds or settings.
    #[error("the environment was saved with other worlds or arguments: create it with the same ones")]
    OtherSettings,
    /// The environment was created in another process, from which this process was forked.
    #[error("this environment was created before a fork: create it in the new process")]
    Forked,
}

impl From<BuildError> for GymError {
    fn from(error: BuildError) -> GymError {
        GymError::BrokenTrack(error.to_string())
    }
}

impl From<Refusal> for GymError {
    fn from(refusal: Refusal) -> GymError {
        GymError::Refused(refusal)
    }
}

impl From<RestoreError> for GymError {
    fn from(error: RestoreError) -> GymError {
        match error {
            RestoreError::NotASave => GymError::NotASave,
            RestoreError::Damaged => GymError::Damaged,
            RestoreError::OtherWorld => GymError::OtherSettings,
        }
    }
}
