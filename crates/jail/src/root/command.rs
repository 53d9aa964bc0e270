//! Runs the programs that prepare the root.

use super::error::RootError;
use std::process::Command;

/// Runs a program to its end and returns its output.
pub(super) fn run(command: &mut Command, program: &'static str) -> Result<String, RootError> {
    let output = command.output().map_err(|source| RootError::Start { program, source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let line = last_line(&String::from_utf8_lossy(&output.stderr)).to_owned();
    Err(RootError::Failed { program, line })
}

/// The last line that is not blank.
pub(super) fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim()
}
