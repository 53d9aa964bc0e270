//! The boxes of student programs: what a program sees, reaches and may use. These tests are never
//! skipped. They fail on a machine that cannot isolate programs.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "boxes/explained.rs"]
mod explained;
#[path = "boxes/files.rs"]
mod files;
#[path = "boxes/limits.rs"]
mod limits;
#[path = "boxes/network.rs"]
mod network;
#[path = "boxes/pythons.rs"]
mod pythons;
#[path = "boxes/support.rs"]
mod support;
#[path = "boxes/user.rs"]
mod user;
