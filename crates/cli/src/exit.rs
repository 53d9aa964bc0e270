//! The exit status of the program.

use crate::error::CliError;
use std::process::ExitCode;

/// The result of a command that did not fail.
pub(crate) enum Ended {
    /// The command has nothing to report.
    Done,
    /// An evaluation ended with this outcome, as in its record.
    Evaluated(Option<String>),
}

/// The exit status for the result of a command. An invalid command line ends with status 2 before
/// any command runs.
pub(crate) fn code(result: &Result<Ended, CliError>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Ended::Done) => 0,
        Ok(Ended::Evaluated(outcome)) => match outcome.as_deref() {
            Some("finished") => 0,
            Some("timeout") => 2,
            Some("script_error") => 3,
            Some("stopped") => 4,
            Some("unsupported") => 5,
            _ => 1,
        },
        Err(_) => 1,
    })
}
