//! One evaluation: a machine that says what is to be done, and a supervisor that does it.
//!
//! [`Machine`] is pure: what happened goes in, what is to be done comes out. [`supervise`] carries that out with a
//! [`Judge`] (the script in its jail), a [`Student`] (the program in its own) and a [`Scene`], which is the world and
//! whoever listens. This crate knows nothing of HTTP or physics, and it is at the edge: processes,
//! clocks and files are its business.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod census;
mod container;
mod engine;
pub mod jail;
mod judge;
mod lines;
mod machine;
mod marks;
mod network;
mod outcome;
mod progress;
pub mod root;
mod setting;
mod student;
mod supervisor;
mod wake;

pub use engine::{Engine, EngineKind, EngineNetwork, EngineWanted, IMAGE};
pub use jail::Left;
pub use judge::{Heard, Judge};
pub use machine::{Action, Call, Input, Machine, Phase};
pub use network::{Network, own_addresses};
pub use outcome::{Ending, ScriptFault, StopCause, Unsupported};
pub use progress::Progress;
pub use setting::{Isolation, Setting, SettingError, Wanted, Way};
pub use student::{Student, StudentOrder, StudentSaid};
pub use supervisor::{Brief, Note, Scene, SessionEnd, supervise};
pub use wake::{Notes, NotesOut, notes};

/// The harness that runs a script, Python.
pub const HARNESS: &str = include_str!("../../../python/judge/harness.py");
/// The default judging script.
pub const LAP_TIME: &str = include_str!("../../../python/judge/templates/lap_time.py");

/// Fingerprint of a script, in hexadecimal.
pub fn sha256(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
