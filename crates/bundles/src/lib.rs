//! World bundles that need no data folder: the worlds that are part of the program, and folders on
//! disk.
//!
//! The crate is separate from `store`, because the Python module loads these worlds too, but must
//! not depend on a database or on clients of object stores.
#![allow(clippy::disallowed_methods)]

mod built_in;
mod folder;

pub use built_in::BuiltIn;
pub use folder::FolderBundle;

/// Maximum size of a file of a world in bytes.
pub const MAX_FILE: u64 = 64 << 20;
