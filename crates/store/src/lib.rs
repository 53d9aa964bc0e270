//! What is on this machine: worlds, and a data folder with settings. This crate is at the edge: it
//! reads the disk, so that `world` need not.
#![allow(clippy::disallowed_methods)]

mod built_in;
mod data;
mod database;
mod folder;
mod library;
mod records;
#[cfg(test)]
mod scratch;
mod settings;

pub use built_in::BuiltIn;
pub use data::{Data, OpenError};
pub use folder::FolderBundle;
pub use library::{Entry, Library, LoadError, Summary};
pub use records::{NewSession, Records, Result as SessionResult, SessionRow};
pub use settings::{Settings, StoreError};
