//! The program `chicane`, as a library: tests and benchmarks start the whole of it in their process.
//!
//! This crate is the edge: clocks, threads, files and sockets live here and in `store`, not in the
//! crates below. [`Server::start`] puts the parts together.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod access;
mod announce;
mod api;
mod app;
mod body;
mod bucket;
mod camera;
mod cdn;
mod docs;
mod driver;
mod error;
mod evaluation;
mod feed;
mod installing;
mod keeper;
mod listen;
mod loader;
mod loudspeaker;
mod metrics;
mod print;
mod remote;
mod robot;
mod ros;
mod scene;
mod view;
mod web;
mod websocket;

pub use access::Token;
pub use announce::Running;
pub use api::openapi;
pub use bucket::bucket;
pub use cdn::{Installed, Where, install_here, listed};
pub use remote::ask;
/// How long a CDN may be silent before it is given up.
pub const CDN_PATIENCE: std::time::Duration = std::time::Duration::from_secs(15);

pub use app::{Options, Server, StartError, reachable};
pub use driver::DriveAt;
pub use evaluation::JudgeOptions;
pub use evaluation::records::record_of;
pub use robot::openapi as robot_openapi;
pub use ros::RosOptions;
