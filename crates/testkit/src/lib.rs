//! What tests and benchmarks share: bundles from a folder, and small worlds made in code.
#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic, clippy::missing_panics_doc)]

mod folder;
mod tracks;
mod yard;

pub use folder::{FolderBundle, shipped_world};
pub use tracks::{SHIPPED, shipped_bundle};
pub use yard::Yard;
