//! Checks whether a judging script is valid. The Python 3.14 of the judge compiles the script and
//! does not run it.
//!
//! `chicane check`, `build` and `publish` refuse an invalid script. `chicane worlds install` and
//! `worlds import` only print a warning, because the car can be driven in the world without the
//! script. On a machine without a judge the script is not checked, and the commands say so.

use crate::args::JudgeArgs;
use crate::colour;
use crate::judge_setting::{self, FindSettingError};
use crate::terminal_text::printable;
use chicane_session::{Judge, JudgeError};

/// The judging script of a world is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: the evaluation script can't judge: {reason}")]
pub(crate) struct InvalidScript {
    /// Where the script comes from: the project or folder, and the file.
    pub(crate) origin: String,
    /// The error in the script, with its line.
    pub(crate) reason: String,
}

/// Why a script was not checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotChecked {
    #[error(transparent)]
    Setting(#[from] FindSettingError),
    #[error(transparent)]
    Judge(#[from] JudgeError),
}

/// Returns the error of an invalid script. Returns `None` if the script is valid.
fn find_error(args: &JudgeArgs, script: &str) -> Result<Option<String>, NotChecked> {
    let setting = judge_setting::find(args)?;
    let error = Judge::start(&setting)?.check(script)?;
    // The error may quote the script, and the script may contain escape sequences.
    Ok(error.map(|error| printable(&error).into_owned()))
}

/// Returns the line about the judging script in the description of a world. The line is a warning
/// if the script can't be checked. Refuses an invalid script.
pub(crate) fn describe(args: &JudgeArgs, origin: &str, script: &str) -> Result<String, InvalidScript> {
    match find_error(args, script) {
        Ok(None) => Ok("script     can judge\n".to_owned()),
        Ok(Some(reason)) => Err(InvalidScript { origin: origin.to_owned(), reason }),
        Err(why) => Ok(format!("warning    the evaluation script was not checked: {why}\n")),
    }
}

/// Refuses an invalid script. Prints a warning if the script can't be checked.
pub(crate) fn require_valid(args: &JudgeArgs, origin: &str, script: &str) -> Result<(), InvalidScript> {
    match find_error(args, script) {
        Ok(None) => Ok(()),
        Ok(Some(reason)) => Err(InvalidScript { origin: origin.to_owned(), reason }),
        Err(why) => {
            colour::warn(format_args!("{origin}: the evaluation script was not checked: {why}"));
            Ok(())
        }
    }
}

/// The warning if a script is invalid or can't be checked. `None` if the script is valid.
pub(crate) fn warning(args: &JudgeArgs, script: &str) -> Option<String> {
    match find_error(args, script) {
        Ok(None) => None,
        Ok(Some(reason)) => Some(format!("the evaluation script can't judge: {reason}")),
        Err(why) => Some(format!("the evaluation script was not checked: {why}")),
    }
}
