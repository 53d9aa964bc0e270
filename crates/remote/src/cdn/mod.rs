//! Installing published worlds from a CDN.

mod download;
mod installer;
mod location;
mod source;

pub use installer::{Installed, Installer, ProgressCallback};
pub use location::{CdnError, CdnLocation, install_world, list_worlds};
pub use source::{CdnSource, WebSource};

/// How long a CDN may send nothing before the download fails.
pub const CDN_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(15);
