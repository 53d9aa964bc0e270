//! The running simulator without any web.
//!
//! [`Host`] starts the sim thread and everything around it: worlds are loaded beside the running
//! one, settings are stored, camera frames are drawn, events are collected for readers, and
//! evaluations are run. Web server, ROS 2 and command line are clients of this crate.
//!
//! Clocks, threads and files live here, not in the crates below.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod camera;
pub mod driver;
pub mod evaluation;
pub mod feed;
mod host;
pub mod image_topics;
pub mod keeper;
pub mod loader;
pub mod loudspeaker;
pub mod metrics;
pub mod observe;
mod options;
pub mod scene;
pub mod session_status;
mod source;
pub mod view;

pub use driver::DriveAt;
pub use evaluation::JudgeOptions;
pub use host::{Host, Prepared};
pub use options::{HostOptions, StartHostError, StudentAccess};
pub use source::Source;
