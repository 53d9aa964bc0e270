//! Installing published worlds from a CDN.

mod download;
mod here;
mod installer;
mod source;

pub use here::{Where, install_here, listed};
pub use installer::{Installed, Installer, Report};
pub use source::Source;

/// How long a CDN may send nothing before the download fails.
pub const CDN_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(15);
