//! The exit status of the program.

use crate::error::CliError;
use chicane_wire::Outcome;
use std::process::ExitCode;

/// The result of a command that did not fail.
pub(crate) enum Ended {
    /// The command succeeded, and the exit status is 0.
    Done,
    /// An evaluation ended. The value is the outcome in its record.
    Evaluated(Option<Outcome>),
}

/// The exit status for the result of a command. An invalid command line ends with status 2 before
/// any command runs.
pub(crate) fn code(result: &Result<Ended, CliError>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Ended::Done) => 0,
        Ok(Ended::Evaluated(outcome)) => match outcome {
            Some(Outcome::Finished) => 0,
            Some(Outcome::Timeout) => 2,
            Some(Outcome::ScriptError) => 3,
            Some(Outcome::Stopped) => 4,
            Some(Outcome::Unsupported) => 5,
            None => 1,
        },
        Err(_) => 1,
    })
}
