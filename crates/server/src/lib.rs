//! The web side of a simulator: routes, access rules, WebSockets, OpenAPI documents and pages.
//!
//! [`Server::start`] starts a simulator (crate `host`) with a web server. Tests and benchmarks use
//! this function to run a whole server in their own process. Each error has a code, and
//! `error/status.rs` chooses the HTTP status of each code.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod access;
mod api;
mod body;
mod bridge;
mod browser;
mod caller;
mod docs;
mod error;
mod error_response;
mod install_progress;
mod layers;
mod metrics;
mod options;
mod own_cdn;
mod print_queue;

mod robot;
mod server;
mod state;
mod student;
mod websocket;

pub(crate) use chicane_listen as listen;

pub use api::openapi;
pub use options::{Options, StartError};
pub use robot::openapi as robot_openapi;
pub use server::{Server, reachable};
