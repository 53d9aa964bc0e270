//! What is on this machine and on a CDN: worlds, and a data folder with settings. This crate is at the
//! edge: it reads the disk, so that `world` need not. It knows no network: who fetches the files of a
//! published world hands their bytes to a [`Staging`].
#![allow(clippy::disallowed_methods)]

mod built_in;
mod claim;
mod data;
mod database;
mod folder;
mod install;
mod library;
mod manifest;
mod package;
mod publish;
mod records;
mod rules;
#[cfg(test)]
mod scratch;
mod settings;
mod shelf;
mod sum;
pub mod time;

pub use built_in::BuiltIn;
pub use data::{Data, OpenError, make as make_private};
pub use folder::FolderBundle;
pub use install::{Checked, Have, InstallError, Plan, Staging, Wanted, Writing};
pub use library::{Entry, Library, LoadError, Summary};
pub use manifest::{Access, Listed, MAX_MANIFEST, MAX_META, Manifest, Meta, Rev, is_name};
pub use package::{Label, Need, Package, Stand};
pub use publish::{Cdn, PublishError, media_type};
pub use records::{NewSession, Records, SessionResult, SessionRow};
pub use rules::{FilePath, MAX_TOTAL, Unfit};
pub use settings::{Settings, StoreError};
pub use shelf::{Record, Shelf};
pub use sum::{RandomError, Sum, random_hex};
