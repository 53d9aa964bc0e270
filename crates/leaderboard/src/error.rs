//! Why a leaderboard did not start, or a submission was not accepted.

use crate::student_name::MAX_NAME;
use chicane_grade::archive::ArchiveError;
use chicane_grade::copy::CopyError;
use chicane_grade::program::ProgramError;
use chicane_grade::unpack::UnpackError;
use chicane_store::{LoadError, RandomError, StoreError};
use std::io::ErrorKind::{
    InvalidFilename, InvalidInput, NotADirectory, NotFound, OutOfMemory, QuotaExceeded, ReadOnlyFilesystem,
    StorageFull,
};
use std::path::PathBuf;
use std::time::Duration;

/// Linux error number: too many files are open on the machine.
const ENFILE: i32 = 23;
/// Linux error number: the process has too many open files.
const EMFILE: i32 = 24;

/// Why a leaderboard did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartLeaderboardError {
    /// There is no world of this name.
    #[error("the leaderboard has no world \"{name}\"; choose from {known} with --leaderboard-world")]
    NoSuchWorld {
        /// The name that the options ask for.
        name: String,
        /// Names of all worlds.
        known: String,
    },
    /// The world has no evaluation.
    #[error("the world {name} has no evaluation; choose another one with --leaderboard-world")]
    NoEvaluation {
        /// Name of the world.
        name: String,
    },
    /// There are too many worlds.
    #[error("a leaderboard has at most {max} worlds")]
    TooManyWorlds {
        /// Largest number of worlds.
        max: usize,
    },
    /// The world can't be loaded.
    #[error("the world {name} of the leaderboard: {error}")]
    World {
        /// Name of the world.
        name: String,
        /// Why the world can't be loaded.
        error: LoadError,
    },
    /// A folder can't be made, or a file can't be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The folder or file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The database can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread can't be started.
    #[error("can't start a thread: {0}")]
    Thread(std::io::Error),
}

/// Why a submission was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum HandInError {
    /// The name of the student can't be used.
    #[error(
        "student must be a name of 1 to {MAX_NAME} characters: letters, digits, blanks and . , ' - _ ( ) #, \
         beginning with a letter or a digit"
    )]
    Name,
    /// The student or the address handed in too often, or too many students and addresses handed in
    /// within an hour.
    #[error("too many submissions: try again in {} s", seconds(*wait))]
    TooOften {
        /// Time to wait.
        wait: Duration,
    },
    /// Too many other submissions of the student are waiting.
    #[error("{max} of your submissions wait already; try again when one of them was judged")]
    OthersWait {
        /// Largest number of waiting submissions of a student.
        max: usize,
    },
    /// Too many other submissions from the address are waiting.
    #[error("{max} submissions from your address wait already; try again in a few minutes")]
    AddressWaits {
        /// Largest number of waiting submissions from an address.
        max: usize,
    },
    /// The queue is full.
    #[error("the queue is full; try again in a few minutes")]
    QueueFull,
    /// The file is neither an archive nor a program.
    #[error("the file is neither a zip file nor a Python program")]
    Kind,
    /// There is no file.
    #[error("the body is empty; send a zip file or a Python program")]
    Empty,
    /// The archive is refused.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// There is no program in the upload, or the command of the program can't be used.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Every pseudonym is taken.
    #[error("there are too many students")]
    TooManyStudents,
    /// The submission can't be stored.
    #[error("the submission can't be stored: {0}")]
    Write(std::io::Error),
    /// The database can't be written.
    #[error("the submission can't be stored: {0}")]
    Store(#[from] StoreError),
    /// The operating system provides no random numbers.
    #[error("the submission can't be stored: {0}")]
    Random(#[from] RandomError),
}

/// Why a submission was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveSubmissionError {
    /// There is no such submission.
    #[error("there is no submission with this id")]
    NoSuchSubmission,
    /// The submission is being judged.
    #[error("the submission is being judged; remove it when its runs are over")]
    InProgress,
    /// The database can't be read or written.
    #[error("the submission can't be removed: {0}")]
    Store(#[from] StoreError),
}

/// Seconds to wait, rounded up.
pub(crate) fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

impl HandInError {
    /// Seconds after which another attempt can succeed; `None` if no such time is known.
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            HandInError::TooOften { wait } => Some(seconds(*wait)),
            HandInError::OthersWait { .. } => Some(10),
            HandInError::QueueFull | HandInError::AddressWaits { .. } => Some(60),
            _ => None,
        }
    }

    /// Whether the error is a fault of the machine and not of the upload, so that a later attempt
    /// can succeed.
    pub(crate) fn is_of_machine(&self) -> bool {
        match self {
            // The folder belongs to the leaderboard, and only the names in it come from the upload.
            // Therefore an error about a name is a fault of the upload, and every other error is a
            // fault of the machine.
            HandInError::Write(source)
            | HandInError::Unpack(
                UnpackError::Write { source, .. } | UnpackError::Archive(ArchiveError::Write { source, .. }),
            ) => !matches!(source.kind(), NotFound | InvalidFilename | InvalidInput | NotADirectory),
            // Copying a file also fails if the stored upload is unreadable, and every later attempt
            // then fails too. Therefore only temporary errors, such as a full disk, count as faults
            // of the machine.
            HandInError::Unpack(UnpackError::Copy(CopyError::File { source, .. })) => {
                matches!(source.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem | OutOfMemory)
                    || matches!(source.raw_os_error(), Some(ENFILE | EMFILE))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn a_full_disk_ended_a_submission_for_good() {
        let path = PathBuf::from("main.py");
        let archive = |kind: ErrorKind| ArchiveError::Write { path: path.clone(), source: kind.into() };
        let copy = |kind: ErrorKind| CopyError::File { path: path.clone(), source: kind.into() };
        let full = ErrorKind::StorageFull;
        for error in [
            HandInError::Write(full.into()),
            HandInError::Unpack(archive(full).into()),
            HandInError::Unpack(copy(full).into()),
            HandInError::Unpack(UnpackError::Write { path: path.clone(), source: full.into() }),
            HandInError::Write(ErrorKind::StaleNetworkFileHandle.into()),
            HandInError::Write(ErrorKind::PermissionDenied.into()),
        ] {
            assert!(error.is_of_machine(), "{error}");
        }
        for error in [
            HandInError::Unpack(copy(ErrorKind::NotFound).into()),
            HandInError::Unpack(copy(ErrorKind::PermissionDenied).into()),
            HandInError::Unpack(archive(ErrorKind::InvalidFilename).into()),
            HandInError::Unpack(ArchiveError::Bomb.into()),
            HandInError::Program(ProgramError::None),
        ] {
            assert!(!error.is_of_machine(), "{error}");
        }
    }
}
