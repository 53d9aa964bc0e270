//! Pictures from outside: where things are seen, in what colour, and what hostile scenes do.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod geometry;
mod goldens;
mod hostile;
mod lamps;
mod moments;
mod neighbours;
mod print;
mod road;
mod set;
mod textures;
