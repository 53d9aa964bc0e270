//! Whether a judging script can be one: read by Python 3.14 in the judge's container, not run.
//!
//! Whoever makes a world is told that its script can't judge and gets no world. Whoever installs one can drive in it all the
//! same, and is warned. Where there is no judge the script was not looked into, and that is said.

use crate::cli::JudgeBy;
use chicane_session::{Judge, Setting, SettingOptions, root};

/// What is wrong with a script, or nothing. An error when it can't be looked into here.
fn check(judge: &JudgeBy, script: &str) -> Result<Option<String>, String> {
    let launcher = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = root::folder().map_err(|e| e.to_string())?;
    let wanted = SettingOptions { launcher, folder, isolation: None, engine: judge.engine()? };
    let setting = Setting::find(&wanted).map_err(|e| e.to_string())?;
    let mut judge = Judge::start(&setting).map_err(|e| e.to_string())?;
    judge.check(script).map_err(|e| e.to_string())
}

/// One line about a script: an error if it can't judge.
pub(crate) fn report(judge: &JudgeBy, script: &str) -> Result<String, String> {
    match check(judge, script) {
        Ok(None) => Ok("script     can judge\n".to_owned()),
        Ok(Some(why)) => Err(format!("the evaluation script can't judge: {why}")),
        Err(why) => Ok(format!("warning    the evaluation script was not checked: {why}\n")),
    }
}

/// An error if a script can't judge; a warning where it can't be looked into.
pub(crate) fn must_judge(judge: &JudgeBy, whose: &str, script: &str) -> Result<(), String> {
    match check(judge, script) {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(format!("{whose}: the evaluation script can't judge: {why}")),
        Err(why) => {
            eprintln!("warning: {whose}: the evaluation script was not checked: {why}");
            Ok(())
        }
    }
}

/// A warning if a script can't judge, or can't be looked into.
pub(crate) fn warning(judge: &JudgeBy, script: &str) -> Option<String> {
    match check(judge, script) {
        Ok(None) => None,
        Ok(Some(why)) => Some(format!("the evaluation script can't judge: {why}")),
        Err(why) => Some(format!("the evaluation script was not checked: {why}")),
    }
}
