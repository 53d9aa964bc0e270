//! One evaluation: a machine that says what is to be done, and a supervisor that does it.
//!
//! A machine (`machine`) is pure: what happened goes in, what is to be done comes out. [`supervise`] carries that out with a
//! [`Judge`] (the script in its jail), a student's program in its own (`student`) and a [`Scene`], which is the world and
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

pub use container::ContainerError;
pub use engine::{EngineError, EngineKind, EngineWanted};
pub use jail::{JailError, Left};
pub use judge::{Heard, Judge, JudgeError};
pub use network::{NetworkError, own_addresses};
pub use outcome::{ChannelFault, StopCause, Unsupported};
pub use setting::{Isolation, Setting, SettingError, Wanted};
pub use student::StudentOrder;
pub use supervisor::{Brief, Note, Scene, SceneError, SessionEnd, supervise};
pub use wake::{Notes, NotesOut, notes};

/// The harness that runs a script, Python.
const HARNESS: &str = include_str!("../../../python/judge/harness.py");
