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
mod command_line;
mod container;
mod engine;
mod environment;
mod explain;
mod interpreter;
mod judge;
mod lines;
mod machine;
mod marks;
mod outcome;
mod progress;
mod setting;
mod spare;
mod step;
mod student;
mod supervisor;
mod trial;

pub use box_options::{BoxLimits, BoxOptions};
pub use chicane_jail as jail;
pub use chicane_jail::closed_networks::{NetworkPrefix, closed_networks, is_public};
pub use chicane_jail::isolation::Isolation;
pub use chicane_jail::launcher::Launcher;
pub use chicane_jail::network::{NetworkError, own_addresses};
pub use chicane_jail::wake::{Notes, NotesOut, notes};
pub use chicane_jail::workspace_copy::copy_workspace;
pub use chicane_jail::{JailError, LingeringProcesses, root};
pub use container::ContainerError;
pub use engine::{EngineError, EngineKind, EngineOptions};
pub use explain::{BoxDescription, BoxMount, BoxView, ExplainError, explain, measure_box};
pub use judge::{Judge, JudgeError, JudgeEvent};
pub use outcome::{ChannelFault, Ending, StopCause, Unsupported};
pub use setting::{Setting, SettingError, SettingOptions};
pub use step::{BadStep, Step};
pub use student::StudentProgram;
pub use supervisor::{Note, SessionEnd, SessionHost, SessionHostError, SessionSpec, supervise};
pub use trial::TrialError;
