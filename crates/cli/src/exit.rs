//! The exit status of the program.
//!
//! | Status | `evaluate`, `repeat`, `judge`, `rejudge`, `submit` | Other commands |
//! |---|---|---|
//! | 0 | finished with a record | success |
//! | 1 | the program failed, or there is no record | failure |
//! | 2 | timeout | |
//! | 3 | script error | |
//! | 4 | stopped | |
//! | 5 | unsupported | |
//! | 64 | wrong usage | wrong usage |
//! | 70 | fault of the simulator, or another failure | `grade-unit`: the unit has no result |
//!
//! `repeat` also returns 1 if its runs differ. `submit` also returns 1 if it could not hand in the
//! program or read the result, and 0 with `--no-wait`.

use crate::error::CliError;
use crate::evaluation::Verdict;
use std::process::ExitCode;

/// Wrong usage: `EX_USAGE` of `sysexits.h`.
const USAGE: u8 = 64;
/// Fault of the simulator: `EX_SOFTWARE` of `sysexits.h`.
const FAULT: u8 = 70;

/// The result of a command that did not fail.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended {
    /// The command succeeded, and the exit status is 0.
    Done,
    /// The command did its work, and its result is a failure.
    Failed,
    /// An evaluation ended.
    Evaluated(Verdict),
}

/// The exit status for the result of a command.
pub(crate) fn code(result: &Result<Ended, CliError>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Ended::Done) => 0,
        Ok(Ended::Failed) => 1,
        Ok(Ended::Evaluated(verdict)) => match verdict {
            Verdict::Finished => 0,
            Verdict::Failed => 1,
            Verdict::Timeout => 2,
            Verdict::ScriptError => 3,
            Verdict::Stopped => 4,
            Verdict::Unsupported => 5,
            Verdict::Fault => FAULT,
        },
        Err(error) if error.is_usage() => USAGE,
        Err(
            CliError::Evaluation(_) | CliError::Explain(_) | CliError::Rejudge(_) | CliError::GradeUnit(_),
        ) => FAULT,
        Err(_) => 1,
    })
}

/// Prints the help, the version, or what is wrong with the command line. Returns the exit status.
pub(crate) fn print_usage(usage: &clap::Error) -> ExitCode {
    // A closed terminal does not change the exit status.
    let _ = usage.print();
    if usage.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
}
