//! `chicane setup`: installs Python 3.14 for judging scripts, and checks that scripts can run on
//! this machine.

use chicane_session::root::{self, RootError};
use chicane_session::{Launcher, Setting, SettingError, SettingOptions, TrialError};
use std::time::Instant;

/// Why judging scripts can't run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error(transparent)]
    Root(#[from] RootError),
    #[error("can't find the program chicane: {0}")]
    Launcher(std::io::Error),
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The judge could not be started, or it refused a correct script.
    #[error("judging scripts can't be run here: {0}")]
    TestRun(TrialError),
}

pub(crate) fn run() -> Result<(), SetupError> {
    let folder = root::folder()?;
    let started = Instant::now();
    if root::prepare(&folder, &mut |step| println!("judge: {step}"))? {
        println!("judge: Python 3.14 is in {} ({:.0} s)", folder.display(), started.elapsed().as_secs_f64());
    }
    let launcher = Launcher::own().map_err(SetupError::Launcher)?;
    let setting = Setting::find(&SettingOptions { launcher, folder, isolation: None, engine: None })?;
    let isolation = setting.try_out().map_err(SetupError::TestRun)?;
    println!("judge: ready: {}", setting.describe(isolation));
    Ok(())
}
