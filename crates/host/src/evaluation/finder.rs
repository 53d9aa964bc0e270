//! Tests how judging scripts can be run on this machine, and checks scripts.
//!
//! The finder has no reference to the simulator, so a script check that still runs at shutdown does
//! not keep the data folder open.

use super::options::JudgeOptions;
use chicane_session::{
    EngineOptions, Isolation, Judge, JudgeError, Launcher, Setting, SettingError, SettingOptions, TrialError,
};
use std::sync::{Arc, Mutex, PoisonError};

/// How judging scripts are run on this machine, and how their limits are enforced.
pub(super) type FoundSetting = (Arc<Setting>, Isolation);

/// Why a script was not checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckScriptError {
    /// Judging scripts can't be run on this machine.
    #[error(transparent)]
    Setting(#[from] TrialError),
    /// The process that checks the script failed.
    #[error(transparent)]
    Judge(#[from] JudgeError),
}

/// Tests how judging scripts can be run. The result is cached.
pub struct Finder {
    options: JudgeOptions,
    /// The program `chicane`, or why it can't be opened.
    launcher: Result<Launcher, std::io::ErrorKind>,
    /// Whether the simulator accepts connections from this machine only.
    loopback_only: bool,
    /// The result of the test; `None` until a test succeeds.
    found: Mutex<Option<FoundSetting>>,
    /// This lock is held while a script is checked, so that only one check runs at a time.
    checking: Mutex<()>,
}

impl Finder {
    pub(super) fn new(options: JudgeOptions, loopback_only: bool) -> Finder {
        // The program `chicane` is opened here, before any student's program runs. A student's
        // program therefore can't replace the program that starts the jails.
        let launcher = match &options.launcher {
            Some(path) => Launcher::open(path),
            None => Launcher::own(),
        };
        let launcher = launcher.map_err(|error| error.kind());
        Finder { options, launcher, loopback_only, found: Mutex::default(), checking: Mutex::default() }
    }

    /// How judging scripts are run on this machine. Until a call has succeeded, each call starts a
    /// judge and blocks.
    pub(crate) fn setting(&self) -> Result<FoundSetting, TrialError> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*found {
            return Ok(known.clone());
        }
        let JudgeOptions { folder, isolation, engine, .. } = self.options.clone();
        let engine = engine.map(|e| EngineOptions { loopback_only: self.loopback_only, ..e });
        let launcher = self.launcher.clone().map_err(|kind| SettingError::Launcher(kind.into()))?;
        let folder = folder.map_or_else(chicane_session::root::folder, Ok).map_err(SettingError::from)?;
        let setting = Arc::new(Setting::find(&SettingOptions { launcher, folder, isolation, engine })?);
        let isolation = if self.options.one_session {
            setting.start_only_judge()?
        } else {
            let isolation = setting.try_out()?;
            setting.prepare_judge();
            isolation
        };
        *found = Some((Arc::clone(&setting), isolation));
        Ok((setting, isolation))
    }

    /// How judging scripts are run on this machine, for callers that judge a recorded run again.
    /// Until a call has succeeded, each call blocks.
    pub fn judge_setting(&self) -> Result<Arc<Setting>, CheckScriptError> {
        Ok(self.setting()?.0)
    }

    /// Why judging scripts can no longer be run, although an earlier test succeeded. `None` if they
    /// can be run, if no test has succeeded yet, and always with a container engine. Never blocks.
    pub(super) fn lost(&self) -> Option<String> {
        // `setting` holds the lock while it starts a judge, so this function does not wait for the
        // lock.
        let found = self.found.try_lock().ok()?;
        let (setting, _) = found.as_ref()?;
        if self.options.engine.is_some() {
            return None;
        }
        chicane_session::root::ready(&setting.folder).err().map(|error| error.to_string())
    }

    /// Ends the judge that was started for the next session.
    pub(super) fn close(&self) {
        if let Some((setting, _)) = &*self.found.lock().unwrap_or_else(PoisonError::into_inner) {
            setting.close();
        }
    }

    /// Checks whether a judging script is valid, and logs a warning if not. The script is not run.
    /// Blocks while the check runs in a separate process.
    pub fn check_script(&self, world: &str, script: &str) {
        match self.fault_of(script) {
            Ok(None) => {}
            Ok(Some(fault)) => tracing::warn!(world, "the evaluation script can't judge: {fault}"),
            Err(error) => tracing::warn!(world, "the evaluation script was not checked: {error}"),
        }
    }

    /// Why a judging script is not valid; `None` if it is valid. The script is not run. Blocks
    /// while the check runs in a separate process.
    pub fn fault_of(&self, script: &str) -> Result<Option<String>, CheckScriptError> {
        let _turn = self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        let (setting, _) = self.setting()?;
        let mut judge = Judge::start(&setting)?;
        Ok(judge.check(script)?)
    }
}
