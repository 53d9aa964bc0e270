//! The running simulator without a web server.
//!
//! [`Host`] starts the sim thread ([`driver`]) and the parts around it: [`loader`] loads worlds
//! while another one runs, [`keeper`] stores settings, [`camera`] draws frames, [`feed`] sends
//! events to subscribers, and [`evaluation`] runs evaluations. The web server, ROS 2 and the
//! command line are clients of this crate.
//!
//! This crate uses clocks, threads and files. The crates of the simulation (`sim`, `robot`,
//! `world`, `render`, `ros`) use neither clocks nor files, so that equal inputs give equal outputs
//! there. Only `render` uses threads, and its result does not depend on their order.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub use chicane_pace::{PaceReport, SentBytes, WaitSum};

pub mod camera;
pub mod driver;
pub mod evaluation;
pub mod feed;
pub mod fetch_address;
pub mod gate;
mod host;
pub mod image_topics;
pub mod keeper;
pub mod loader;
pub mod lockstep;
pub mod loudspeaker;
pub mod metrics;
pub mod observe;
mod options;
pub mod scene;
mod served_world;
pub mod session_status;
mod source;
pub mod variation;
pub mod view;
pub mod workspace_files;
pub mod workspace_list;

pub use driver::DriveAt;
pub use evaluation::JudgeOptions;
pub use host::{BootError, FindJudgeError, Host, Prepared};
pub use options::{HostOptions, StartHostError, StudentAccess};
pub use source::Source;
