//! How judging scripts and student programs are run.

use chicane_session::{EngineOptions, Isolation};
use std::path::PathBuf;

/// How judging scripts and student programs are run.
#[derive(Debug, Clone, Default)]
pub struct JudgeOptions {
    /// The program `chicane`, which is started again for every jail; the running program if `None`.
    pub launcher: Option<PathBuf>,
    /// Folder with the prepared Python; the one in the user's cache if `None`.
    pub folder: Option<PathBuf>,
    /// Enforce limits in this way and no other; the best one available if `None`.
    pub isolation: Option<Isolation>,
    /// A script that judges instead of the world's own.
    pub script: Option<String>,
    /// A container engine that judging scripts run in, instead of our own jail.
    pub engine: Option<EngineOptions>,
}
