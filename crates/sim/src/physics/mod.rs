//! The physics engine behind a small door. No other module knows which engine it is.
//!
//! Holds one rigid body for the car's chassis, one for each object of the catalogue, and fixed
//! colliders for ground and scenery. What drives the car (tyres, suspension) is our own: [`car`].

mod build;
mod car;
mod engine;
mod free;
mod handling;
mod model;
mod tyre;

pub(crate) use car::Car;
pub(crate) use engine::{Engine, Fault, Moving, SUBSTEP_S, SUBSTEPS, Solver};
pub(crate) use model::CarModel;
