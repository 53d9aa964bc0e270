//! The data model of a world, and the readers and writers of its files.
//!
//! A world is loaded in two steps. The bytes of a bundle are parsed into a [`Spec`], which has the
//! same structure as the world file and can be edited. A `Spec` is compiled into a [`World`], which
//! is immutable and shared. The writers are [`sdf::write`], [`collada::write`] and [`npy::write`].
//!
//! This crate has no access to disk or network and does not depend on the physics engine or the
//! renderer. Its input may be hostile: every parser has limits, and every error has a location.

pub mod bundle;
pub mod collada;
pub mod compile;
pub mod error;
pub mod evaluation;
pub mod npy;
pub mod picture;
pub mod pose;
pub mod readings;
pub mod route;
pub mod scene;
pub mod sdf;
pub mod spec;
pub mod vehicle;
pub mod world;
mod xml;

pub use bundle::{Assets, Bundle, MemoryBundle};
pub use error::{Error, SourceLocation, Warning, Warnings};
pub use pose::Pose;
pub use route::{Bounds, Route};
pub use scene::WorldScene;
pub use spec::Spec;
pub use vehicle::Profile;
pub use world::World;
