//! A trial of the setting: starts a judge and lets the judge check a script.

use crate::judge::{Judge, JudgeError};
use crate::setting::{Setting, SettingError};
use chicane_jail::isolation::Isolation;

/// The script of the trial.
const SCRIPT: &str = "def evaluate(sim):\n    pass\n";

/// Why judging scripts can't run with this setting.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The machine lacks something that judges need.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The judge could not be started.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// The judge refused a correct script.
    #[error("a correct script was refused: {0}")]
    Refused(String),
}

impl Setting {
    /// Starts a judge and lets the judge check a script, so that a missing feature of the machine
    /// is found early. Returns how the limits are enforced.
    pub fn try_out(&self) -> Result<Isolation, TrialError> {
        let mut judge = Judge::start(self)?;
        let isolation = judge.isolation().unwrap_or_else(|| self.jail_isolation());
        self.check_isolation(isolation)?;
        match judge.check(SCRIPT)? {
            None => Ok(isolation),
            Some(why) => Err(TrialError::Refused(why)),
        }
    }

    /// Starts the judge of the only session that this setting is used for. Returns how its limits
    /// are enforced. The judge of a container engine is tried out instead, because such a judge
    /// can't be kept for the session.
    pub fn start_only_judge(&self) -> Result<Isolation, TrialError> {
        if !self.keeps_judges() {
            return self.try_out();
        }
        let isolation = self.jail_isolation();
        self.check_isolation(isolation)?;
        self.keep_last_judge(Judge::start(self)?);
        Ok(isolation)
    }
}
