//! How judging scripts and student programs are run.

use chicane_session::{BoxOptions, EngineOptions, Isolation};
use chicane_wire::{BoxKind, Pace};
use std::path::PathBuf;

/// How judging scripts and student programs are run.
#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// The program `chicane`, which is started as a new process for every jail. `None` stands for
    /// the running program.
    pub launcher: Option<PathBuf>,
    /// Folder with the prepared Python. `None`: the folder that `CHICANE_JUDGE_ROOT` names, or else
    /// a folder in the user's cache.
    pub folder: Option<PathBuf>,
    /// How limits are enforced; the best available way if `None`.
    pub isolation: Option<Isolation>,
    /// Source code of a judging script that replaces the script of the world; `None` keeps the
    /// world's script.
    pub script: Option<String>,
    /// How student programs are isolated.
    pub student: BoxOptions,
    /// Further folders that student programs can't see. The known data folders of this machine and
    /// the folder with the prepared Python are always hidden.
    pub hidden: Vec<PathBuf>,
    /// The pace of sessions whose request names no pace.
    pub pace: Pace,
    /// Whether the simulator ends after one session. In this case, a single judge is started and
    /// kept for that session without a test. A judge of a container engine can't be kept, so it is
    /// tested as usual.
    pub one_session: bool,
    /// The container engine that runs judging scripts; the built-in jail if `None`.
    pub engine: Option<EngineOptions>,
}

impl Default for JudgeOptions {
    /// The best isolation of this machine for scripts, and a host box for student programs.
    fn default() -> JudgeOptions {
        JudgeOptions {
            launcher: None,
            folder: None,
            isolation: None,
            script: None,
            student: BoxOptions::new(BoxKind::Host),
            hidden: Vec::new(),
            pace: Pace::Real,
            one_session: false,
            engine: None,
        }
    }
}
