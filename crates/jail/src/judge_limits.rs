//! The harness and the limits of every judging script, in a jail or in a container.

/// The Python program that runs a judging script.
pub const HARNESS: &str = include_str!("../../../python/judge/harness.py");
/// Limit of a script's memory in bytes, without its files.
pub const MEMORY: u64 = 512 << 20;
/// Limit of the number of a script's processes and threads.
pub const PROCESSES: u64 = 64;
/// Limit of a script's files in bytes. The files are in memory.
pub const FILES: u64 = 256 << 20;
