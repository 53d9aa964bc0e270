//! One evaluation session: a state machine, and a supervisor that carries out its actions.
//!
//! The state machine (`machine`) takes inputs and returns actions. [`supervise`] carries out the
//! actions with a [`Judge`] (the judging script in its container), the student's program in its
//! jail (`student`) and a [`SessionHost`] (the world, and the clients that get events). This crate
//! knows nothing of HTTP or physics. It uses processes, clocks and files, so the restrictions of
//! the pure crates do not apply.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod box_options;
mod closed_box;
mod closed_networks;
mod command_line;
mod container;
mod engine;
mod environment;
mod explain;
mod interpreter;
mod isolation;
pub mod jail;
mod judge;
mod judge_limits;
mod launcher;
mod lines;
mod machine;
mod marks;
mod network;
mod outcome;
mod package;
mod process_tree;
mod progress;
pub mod root;
mod setting;
mod spare;
mod student;
mod supervisor;
mod trial;
mod wake;
mod workspace_copy;

pub use box_options::{BoxLimits, BoxOptions};
pub use closed_networks::{NetworkPrefix, closed_networks, is_public};
pub use container::ContainerError;
pub use engine::{EngineError, EngineKind, EngineOptions};
pub use explain::{BoxDescription, BoxMount, BoxView, ExplainError, explain};
pub use isolation::Isolation;
pub use jail::{JailError, LingeringProcesses};
pub use judge::{Judge, JudgeError, JudgeEvent};
pub use launcher::Launcher;
pub use network::{NetworkError, own_addresses};
pub use outcome::{ChannelFault, StopCause, Unsupported};
pub use setting::{Setting, SettingError, SettingOptions};
pub use student::StudentProgram;
pub use supervisor::{Note, SessionEnd, SessionHost, SessionHostError, SessionSpec, supervise};
pub use trial::TrialError;
pub use wake::{Notes, NotesOut, notes};
pub use workspace_copy::copy_workspace;
