//! Training environments: a batch of cars, each with a simulation of its own.
//!
//! A [`Batch`] resets and steps its cars on several threads, and writes observations, rewards and
//! ends of episodes to arrays of the caller. The cars do not share any state that changes, so the
//! result does not depend on the number of threads. This crate knows nothing of Python: the crate
//! `native` wraps it in a Python module.
//!
//! The environments of the Python package over HTTP give the same bytes for the same seeds. For this
//! reason positions are rounded here as in the API.
//!
//! # Example
//!
//! ```
//! use chicane_gym::{Arrays, Batch, Courses, Generator, Numbers, Settings};
//! use chicane_testkit::shipped_world;
//! use chicane_world::Profile;
//! use std::sync::Arc;
//!
//! let worlds = vec![Arc::new(shipped_world("oval"))];
//! let courses = Courses::Worlds(worlds);
//! let mut batch = Batch::new(2, 1, courses, Arc::new(Profile::gen1()), Settings::default())?;
//! batch.seed(0, Generator { state: 1, increment: 3 })?;
//! batch.seed(1, Generator { state: 2, increment: 3 })?;
//!
//! let mut state = vec![0.0; 2 * batch.shapes().state];
//! let mut numbers = vec![0.0; 2 * Numbers::COUNT];
//! let mut arrays = Arrays { state: &mut state, numbers: &mut numbers, ..Arrays::default() };
//! batch.reset(None, &mut arrays)?;
//! // Speed in m/s and steering in rad of each car.
//! batch.step(&[1.0, 0.0, 1.0, 0.1], &mut arrays)?;
//! assert!(numbers[Numbers::SPEED * 2] > 0.5);
//! # Ok::<(), chicane_gym::GymError>(())
//! ```

mod batch;
mod car;
mod course;
mod details;
mod error;
mod generator;
mod layout;
mod numbers;
mod observe;
mod picture;
mod save;
mod settings;
pub mod track;

pub use batch::{Arrays, Batch};
pub use course::{Courses, RandomTracks};
pub use details::{Details, Thing};
pub use error::GymError;
pub use generator::Generator;
pub use numbers::Numbers;
pub use observe::Shapes;
pub use picture::View;
pub use settings::{Observed, Settings, VaryChoice};
