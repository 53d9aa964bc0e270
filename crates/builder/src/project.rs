//! [`Project`]: the document of the world builder as typed data.
//!
//! [`Project::read`] checks the range of every number, length and name, so that a `Project`
//! contains only valid values. [`crate::check()`] checks whether the project makes a good world.
//! Lengths are in metres, angles in radians, and the origin is a corner of the field.

mod document;
mod fields;
mod json;
mod names;
mod read;
mod write;

pub use document::{
    CentreLine, Decal, Direction, Evaluation, Fence, Field, Ground, Node, Object, ObjectShape, ObstacleBody,
    OuterLine, Project, Script, Track,
};
pub use fields::FIELDS;
pub use json::ReadError;
pub use names::{Colour, FileName, WorldName};
pub use read::MAX_JSON;

pub(crate) use names::is_plain;
pub(crate) use write::config as evaluation_config;
