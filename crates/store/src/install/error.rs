//! Why a world was not installed.

use crate::rules::Unfit;

/// Why a world was not installed. The installed worlds are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstallError {
    /// The CDN has no such world, or this simulator has no access to it.
    #[error("world not published")]
    NotPublished,
    /// A file, or the whole world, exceeds a limit.
    #[error("{0}")]
    TooLarge(String),
    /// The files break a rule, or do not match the id.
    #[error("{0}")]
    Rule(String),
    /// The CDN failed or sent a wrong answer.
    #[error("the CDN failed: {0}")]
    Cdn(String),
    /// The disk of this machine failed.
    #[error("the world can't be stored: {0}")]
    Disk(String),
    /// Too many worlds are being installed.
    #[error("too many worlds are being installed; try again")]
    Busy,
    /// The simulator is shutting down.
    #[error("the simulator is stopping")]
    Stopping,
}

impl From<Unfit> for InstallError {
    fn from(unfit: Unfit) -> InstallError {
        match unfit {
            Unfit::TooLarge(text) => InstallError::TooLarge(text),
            Unfit::Rule(text) => InstallError::Rule(text),
        }
    }
}

impl From<std::io::Error> for InstallError {
    fn from(e: std::io::Error) -> InstallError {
        InstallError::Disk(e.to_string())
    }
}
