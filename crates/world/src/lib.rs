//! What a world is.
//!
//! Bytes of a bundle become a [`Spec`] (one to one with the world file, editable), and a
//! `Spec` becomes a [`World`] (compiled, immutable, shared). The way back is written here too:
//! [`sdf::write`], [`collada::write`], [`npy::write`].
//!
//! This crate knows nothing of disks, networks, physics engines or renderers. Whatever it reads
//! may be hostile: every parser has limits and answers with file, line and column.

pub mod bundle;
pub mod collada;
pub mod compile;
pub mod error;
pub mod evaluation;
mod generations;
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
pub use error::{Error, Place, Warning, Warnings};
pub use generations::Generation;
pub use pose::Pose;
pub use route::{Bounds, Route};
pub use scene::Scene;
pub use spec::Spec;
pub use vehicle::Profile;
pub use world::World;
