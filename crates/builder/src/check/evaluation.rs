//! Rules for the evaluation: the evaluation has a script, and the script defines the required
//! functions.

use super::finding::{Finding, Location, Rule};
use crate::files::Files;
use crate::project::{Project, Script};
use chicane_world::evaluation::MAX_SCRIPT;

pub(super) fn check(project: &Project) -> Vec<Finding> {
    let without = project.evaluation.as_ref().filter(|e| e.script.is_none());
    without
        .map(|_| {
            incomplete("The evaluation has no script. Add a script, or use the lap-time template.".to_owned())
        })
        .into_iter()
        .collect()
}

pub(super) fn check_script(project: &Project, files: &dyn Files) -> Vec<Finding> {
    let Some(Script::File(name)) = project.evaluation.as_ref().and_then(|e| e.script.as_ref()) else {
        return Vec::new();
    };
    let Some(bytes) = files.read(name.as_str()) else {
        return vec![incomplete(format!("The script \"{name}\" was not found next to the project file."))];
    };
    if bytes.len() > MAX_SCRIPT {
        let limit = MAX_SCRIPT >> 20;
        return vec![incomplete(format!("The script \"{name}\" is larger than the maximum of {limit} MiB."))];
    }
    let Some(text) = std::str::from_utf8(&bytes).ok().filter(|t| !t.contains('\0')) else {
        return vec![incomplete(format!("The script \"{name}\" is not valid UTF-8 text."))];
    };
    let defines = |function: &str| {
        text.lines().any(|l| {
            let l = l.strip_prefix("async ").unwrap_or(l);
            l.strip_prefix("def ")
                .and_then(|l| l.trim_start().strip_prefix(function))
                .is_some_and(|l| l.trim_start().starts_with('('))
        })
    };
    let missing = ["initialize", "evaluate"].into_iter().filter(|f| !defines(f));
    let message = |f: &str| format!("The script \"{name}\" does not define the function {f}(sim).");
    missing.map(|f| incomplete(message(f))).collect()
}

fn incomplete(message: String) -> Finding {
    Rule::EvaluationIncomplete.finding(Location::Evaluation, message)
}
