//! [`Project`]: the document of the world builder as typed data.
//!
//! [`Project::read`] checks the range of every number, the length of every text, and the names of
//! the world and of files. [`crate::check()`] checks the names of the objects, and whether the
//! project makes a good world. Lengths are in metres and angles in radians. The origin is the
//! corner of the field with the lowest x and y.

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
