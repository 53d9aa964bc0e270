//! The physics of the simulation. Only this module depends on the physics engine (rapier).
//!
//! The engine contains one rigid body for the car's chassis, one for each object, and fixed
//! colliders for ground and scenery. Tyres, suspension and motor are our own code, in [`car`].

mod build;
mod car;
mod engine;
mod isolated;
mod model;
mod placement;
mod rest;
mod tyre;

pub(crate) use car::Car;
pub(crate) use engine::{BodyState, Engine, Fault, SUBSTEP_S, SUBSTEPS, Solver};
pub(crate) use model::CarModel;
