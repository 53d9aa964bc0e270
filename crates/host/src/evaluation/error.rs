//! The errors of the start of an evaluation.

use super::unstored::RecordNotWritten;
use chicane_store::FolderReplaced;

/// Why an evaluation did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartEvaluationError {
    /// There is no world, or a world is being loaded.
    #[error("world not ready")]
    NotReady,
    /// The world has no evaluation.
    #[error("world has no evaluation")]
    NoEvaluation,
    /// Another session is active.
    #[error("evaluation in progress")]
    InProgress,
    /// Processes of an earlier student program were killed but still exist.
    #[error("already running")]
    StudentStillRunning,
    /// Judging scripts can't be run on this machine.
    #[error("judge not available: {0}")]
    NoJudge(String),
    /// This machine can't provide the box of the student's program. The text is the reason and the
    /// remedy.
    #[error("{0}")]
    NoBox(String),
    /// The session or the files of its program could not be stored, or the channel or the writer
    /// thread of the session could not be created.
    #[error("the session could not be stored: {0}")]
    NotStored(String),
    /// The record of an earlier session is not on disk.
    #[error(transparent)]
    RecordNotWritten(#[from] RecordNotWritten),
    /// The path of the data folder no longer leads to the folder that the simulator opened.
    #[error(transparent)]
    FolderReplaced(#[from] FolderReplaced),
    /// A thread or a random number was not available, the seed's changes could not be applied to
    /// the world, or the start panicked.
    #[error("the session could not be started: {0}")]
    Failed(String),
}

impl From<tokio::task::JoinError> for StartEvaluationError {
    fn from(error: tokio::task::JoinError) -> StartEvaluationError {
        StartEvaluationError::Failed(error.to_string())
    }
}
