//! Published worlds: installing them from a CDN, and being one.

mod download;
mod installer;
mod serve;
mod source;

pub(crate) use installer::{Installed, Installer, Report};
pub(crate) use serve::{CdnKeys, serve};
pub(crate) use source::Source;
