//! All errors of the program, and errors about files.

use crate::commands::build::BuildCommandError;
use crate::commands::check::CheckError;
use crate::commands::lap::LapError;
use crate::commands::new::NewError;
use crate::commands::print::PrintCommandError;
use crate::commands::publish::PublishCommandError;
use crate::commands::records::ExportError;
use crate::commands::serve::ServeError;
use crate::commands::setup::SetupError;
use crate::commands::worlds::WorldsError;
use crate::evaluation::EvaluationError;
use chicane_session::jail::PartError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Build(#[from] BuildCommandError),
    #[error(transparent)]
    Publish(#[from] PublishCommandError),
    #[error(transparent)]
    Worlds(#[from] WorldsError),
    #[error(transparent)]
    New(#[from] NewError),
    #[error(transparent)]
    Print(#[from] PrintCommandError),
    #[error(transparent)]
    Lap(#[from] LapError),
    /// `chicane evaluate` or `chicane judge` could not run the evaluation.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Jail(#[from] PartError),
}

/// A file or folder that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("can't read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("can't write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl FileError {
    /// Adds the path to an error of reading.
    pub(crate) fn read(path: impl AsRef<Path>) -> impl Fn(io::Error) -> FileError {
        move |source| FileError::Read { path: path.as_ref().to_owned(), source }
    }

    /// Adds the path to an error of writing.
    pub(crate) fn write(path: impl AsRef<Path>) -> impl Fn(io::Error) -> FileError {
        move |source| FileError::Write { path: path.as_ref().to_owned(), source }
    }
}
