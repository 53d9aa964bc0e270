//! Whether a judging script can be one: read by Python 3.14 in the judge's container, not run.

use chicane_session::{Judge, Setting, Wanted, root};

/// What is wrong with a script, or nothing. An error when it can't be looked into here.
pub(crate) fn check(script: &str) -> Result<Option<String>, String> {
    let launcher = std::env::current_exe().map_err(|e| e.to_string())?;
    let wanted = Wanted { launcher, folder: root::folder()?, isolation: None };
    let setting = Setting::find(&wanted).map_err(|e| e.to_string())?;
    let mut judge = Judge::start(&setting).map_err(|e| e.to_string())?;
    judge.check(script).map_err(|e| e.to_string())
}

/// One line about a script: an error if it can't judge.
pub(crate) fn report(script: &str) -> Result<String, String> {
    match check(script) {
        Ok(None) => Ok("script     can judge\n".to_owned()),
        Ok(Some(why)) => Err(format!("the evaluation script can't judge: {why}")),
        Err(why) => Ok(format!("script     not checked: {why}\n")),
    }
}
