//! Tests of the public API: physics against theory, commands, sensors and determinism.
#![allow(clippy::disallowed_methods, clippy::panic)]

mod commands;
mod common;
mod determinism;
mod hostile;
mod objects;
mod sensors;
mod varied;
mod vehicle;
