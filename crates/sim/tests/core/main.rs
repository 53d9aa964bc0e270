//! The deterministic core from outside: physics against theory, commands, sensors, determinism.
#![allow(clippy::disallowed_methods, clippy::panic)]

mod commands;
mod common;
mod determinism;
mod hostile;
mod objects;
mod sensors;
mod vehicle;
