//! The server side of the world builder, without HTTP: projects in the data folder, their previews
//! and files, their worlds, prints and publications.
//!
//! A [`Studio`] belongs to one data folder. Its calls block, except the event streams of
//! [`Watchers`]. When a call that changes something returns, the change is on disk. The event
//! streams report a change after it was stored.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod archive;
mod built;
mod create;
mod error;
mod findings;
mod pdf;
mod picture;
mod plan;
mod print;
mod publish;
mod rules;
mod sources;
mod studio;
mod watchers;

pub use archive::ArchiveError;
pub use built::BuiltWorld;
pub use chicane_builder::templates::TEMPLATES;
pub use error::StudioError;
pub use findings::preview_of;
pub use picture::{FileError, MAX_PICTURE_BYTES, MAX_SCRIPT_BYTES};
pub use plan::THUMBNAIL_SIZE;
pub use print::{PrintFormat, PrintJob, PrintJobError};
pub use publish::{PublishProjectError, access_of};
pub use rules::ProjectRules;
pub use sources::{Export, MAX_IMPORT};
pub use studio::Studio;
pub use watchers::{EventStream, TooManyStreams, Watchers};
