//! Tests of the public interface: positions and colours in pictures, prints, and hostile scenes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod edges;
mod geometry;
mod goldens;
mod hostile;
mod lamps;
mod moments;
mod neighbours;
mod print;
mod road;
mod support;
mod textures;
