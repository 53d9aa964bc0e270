//! What tests and benchmarks share: the shipped worlds, and small ones made in code.
#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic, clippy::missing_panics_doc)]

pub mod http;
mod pilot;
pub mod sounds;
mod tracks;
mod yard;

pub use chicane_store::FolderBundle;
pub use pilot::Pilot;
pub use tracks::{SHIPPED, shipped_bundle};
pub use yard::Yard;

use chicane_world::{Assets, World};
use std::path::Path;

/// Loads a world that ships with the project, such as `oval`, from its files.
pub fn shipped_world(name: &str) -> World {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds").join(name);
    World::load(&Assets::of(&FolderBundle::new(root))).unwrap_or_else(|e| panic!("{name}: {e}"))
}
