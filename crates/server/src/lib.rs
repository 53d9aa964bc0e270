//! The program `chicane`, as a library: tests and benchmarks start the whole of it in their process.
//!
//! This crate is the edge: clocks, threads, files and sockets live here and in `store`, not in the
//! crates below. [`Server::start`] puts the parts together.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod access;
mod api;
mod app;
mod body;
mod camera;
mod docs;
mod driver;
mod error;
mod evaluation;
mod feed;
mod keeper;
mod listen;
mod loader;
mod loudspeaker;
mod metrics;
mod print;
mod robot;
mod view;
mod websocket;

pub use access::Token;
pub use api::openapi;
pub use app::{Options, Server, StartError, reachable};
pub use driver::DriveAt;
pub use evaluation::JudgeOptions;
pub use evaluation::records::record_of;
