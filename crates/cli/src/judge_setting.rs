//! Finds out how this machine runs judging scripts and student programs, for commands that need
//! this setting outside of a simulator.

use crate::args::{JudgeArgs, JudgeArgsError};
use chicane_session::root::{self, RootError};
use chicane_session::{Launcher, Setting, SettingError, SettingOptions};

/// Why judging scripts and student programs can't run on this machine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindSettingError {
    #[error("can't open the program chicane: {0}")]
    Launcher(std::io::Error),
    #[error(transparent)]
    Args(#[from] JudgeArgsError),
    #[error(transparent)]
    Root(#[from] RootError),
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Finds the setting for the jail or the container engine that the command line names.
pub(crate) fn find(args: &JudgeArgs) -> Result<Setting, FindSettingError> {
    let launcher = match args.launcher() {
        Some(path) => Launcher::open(&path),
        None => Launcher::own(),
    };
    let launcher = launcher.map_err(FindSettingError::Launcher)?;
    let options =
        SettingOptions { launcher, folder: root::folder()?, isolation: None, engine: args.engine()? };
    Ok(Setting::find(&options)?)
}
