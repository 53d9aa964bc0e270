//! The deterministic core from outside: physics against theory, commands, sensors, determinism.

mod commands;
mod common;
mod determinism;
mod hostile;
mod objects;
mod sensors;
mod vehicle;
