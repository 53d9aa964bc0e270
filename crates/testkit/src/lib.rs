//! Helpers for tests and benchmarks: the shipped worlds, small worlds made in code ([`Yard`]),
//! worlds like those of other people ([`elsewhere`]), a driver that follows a route ([`Pilot`]),
//! sound files, an HTTP client, and a web server for published worlds.
#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic, clippy::missing_panics_doc)]

pub mod cdn;
pub mod elsewhere;
pub mod http;
mod pilot;
mod random;
pub mod sounds;
mod yard;

pub use chicane_store::FolderBundle;
pub use pilot::Pilot;
pub use random::Random;
pub use yard::Yard;

use chicane_store::BuiltIn;
use chicane_world::{Assets, MemoryBundle, World};

/// Names of the worlds that are built into the program.
pub const SHIPPED: [&str; 7] = ["field", "oval", "riverside", "slalom", "speedway", "technical", "town"];

/// The files of the shipped world with this name, such as `oval`.
pub fn shipped_bundle(name: &str) -> MemoryBundle {
    let world = BuiltIn::all().find(|w| w.name() == name);
    world.unwrap_or_else(|| panic!("no shipped world {name}")).files().clone()
}

/// Loads the shipped world with this name, such as `oval`.
pub fn shipped_world(name: &str) -> World {
    World::load(&Assets::of(&shipped_bundle(name))).unwrap_or_else(|e| panic!("{name}: {e}"))
}
