//! What every judging script gets, wherever it runs: the harness and its limits.

/// The Python program that runs a judging script.
pub(crate) const HARNESS: &str = include_str!("../../../python/judge/harness.py");
/// Memory of a script in bytes, without its files.
pub(crate) const MEMORY: u64 = 512 << 20;
/// Processes and threads of a script.
pub(crate) const PROCESSES: u64 = 64;
/// Bytes of files of a script. The files are in memory.
pub(crate) const FILES: u64 = 256 << 20;
