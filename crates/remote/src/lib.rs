//! Other machines: the HTTP client, buckets to publish to, and worlds installed from a CDN.
//!
//! This crate opens connections and never accepts one. It does not know the sim thread: an
//! [`Installer`](cdn::Installer) reports its progress through a callback, and the caller decides
//! who sees it.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod announce;
mod bucket;
pub mod cdn;
mod simulator;
mod token;
pub mod web;

pub use announce::Running;
pub use bucket::bucket;
pub use simulator::ask;
pub use token::{BadToken, Token};
