//! Judging scripts in containers of podman or docker, as an alternative to the simulator's own
//! jail.
//!
//! The simulator starts the engine's program once for every container. The program runs as long as
//! the container: its standard input and output carry the channel of the harness, its standard
//! error carries the script's output. Inside, process 1 is the harness (`first` in `harness.py`).
//! It moves the channel to other descriptors, so that no output of the script is taken for a
//! message. It starts the script's process, reaps processes, and ends the container when the
//! channel closes. Therefore no container outlives a simulator that was killed.
//!
//! The limits are those of the jail, given as options of the engine. The simulator does not rely on
//! the options: it finds the container's first process on this machine and reads the control group
//! of that process. If that group does not limit the memory, the simulator measures the processes
//! itself.
//!
//! If the engine or its image is missing, starting fails with an error that names the remedy. The
//! simulator then does not use a jail in place of the engine.

mod arguments;
mod contained;
mod error;
mod program;

pub(crate) use contained::Contained;
pub use error::EngineError;
pub(crate) use program::Engine;
pub use program::{EngineKind, EngineOptions};
