//! How scripts are run on this machine: found out once, by trying.
//!
//! It knows nothing of the simulator, so that a look into a script that nobody waits for holds nothing of it.

use super::options::JudgeOptions;
use chicane_session::{EngineOptions, Isolation, Judge, Setting, SettingError, SettingOptions, TrialError};
use std::sync::{Arc, Mutex, PoisonError};

/// How jails are made here, and how limits are held.
pub(super) type FoundSetting = (Arc<Setting>, Isolation);

/// Finds out how scripts can be run.
pub struct Finder {
    options: JudgeOptions,
    /// The simulator listens to this machine only.
    loopback_only: bool,
    found: Mutex<Option<FoundSetting>>,
    /// Held while a script of a new world is checked into.
    checking: Mutex<()>,
}

impl Finder {
    pub(super) fn new(options: JudgeOptions, loopback_only: bool) -> Finder {
        Finder { options, loopback_only, found: Mutex::default(), checking: Mutex::default() }
    }

    /// How jails are made here. Blocks for a moment the first time.
    pub fn setting(&self) -> Result<FoundSetting, TrialError> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*found {
            return Ok(known.clone());
        }
        let JudgeOptions { launcher, folder, isolation, engine, .. } = self.options.clone();
        let engine = engine.map(|e| EngineOptions { loopback_only: self.loopback_only, ..e });
        let launcher =
            launcher.map_or_else(|| std::env::current_exe().map_err(SettingError::Launcher), Ok)?;
        let folder = folder.map_or_else(chicane_session::root::folder, Ok).map_err(SettingError::from)?;
        let setting = Arc::new(Setting::find(&SettingOptions { launcher, folder, isolation, engine })?);
        let isolation = setting.try_out()?;
        *found = Some((Arc::clone(&setting), isolation));
        Ok((setting, isolation))
    }

    /// Looks whether a script can judge, without running it, and warns if not. Blocks for a moment.
    pub fn check_script(&self, world: &str, script: &str) {
        // One at a time is enough.
        let _turn = self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = self.setting().map_err(|e| e.to_string()).and_then(|(setting, _)| {
            let mut judge = Judge::start(&setting).map_err(|e| e.to_string())?;
            judge.check(script).map_err(|e| e.to_string())
        });
        match checked {
            Ok(None) => {}
            Ok(Some(why)) => tracing::warn!(world, "the evaluation script can't judge: {why}"),
            Err(why) => tracing::warn!(world, "the evaluation script was not checked: {why}"),
        }
    }
}
