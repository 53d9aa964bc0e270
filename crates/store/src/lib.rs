//! Worlds on this machine. This crate is at the edge: it reads the disk, so that `world` need not.
#![allow(clippy::disallowed_methods)]

mod folder;

pub use folder::FolderBundle;
