//! The world builder's core: what a teacher draws becomes a world.
//!
//! A [`Project`] is a JSON document: field, fence, track, decals, objects, evaluation. [`check()`]
//! says what is wrong with it in words, [`build`] makes the bundle of it, and [`random`] draws a
//! track by itself. Pictures and scripts lie beside the document and come in through [`Files`].
//!
//! This crate knows no disk, clock, network or screen: the same project gives the same bytes.

pub mod bundle;
pub mod check;
pub mod files;
mod footprint;
mod grid;
pub mod line;
mod mesh;
mod objects;
pub mod project;
pub mod random;
mod road;
mod shapes;
mod spline;

pub use bundle::{BuildError, build};
pub use check::{Finding, Place, Rule, Severity, check, check_files};
pub use files::Files;
pub use line::Line;
pub use project::{Project, ReadError};
pub use random::{RandomError, Wish};
