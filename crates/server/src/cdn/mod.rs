//! Published worlds: installing them from a CDN, and being one.

mod download;
mod here;
mod installer;
mod serve;
mod source;

pub use here::{Where, install_here, listed};
pub use installer::Installed;
pub(crate) use installer::{Installer, Report};
pub(crate) use serve::{CdnKeys, serve};
pub(crate) use source::Source;
