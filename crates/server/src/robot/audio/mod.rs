//! The robot's loudspeaker over the web: what it plays, and where that comes from.

mod address;
mod fetch;
mod workspace;

/// Largest file of a sound.
const MAX_FILE: usize = 16 << 20;
