//! Why the judge's Python could not be found or prepared.

use std::io;
use std::path::{Path, PathBuf};

/// The command that prepares the root.
const REMEDY: &str = "run `chicane setup`";
/// The machines on which the root can be prepared.
const DEBIAN_ONLY: &str =
    "it is prepared from packages of Debian, so it needs a machine or container with Debian";

/// Why there is no root for judging scripts.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// Neither `XDG_CACHE_HOME` nor `HOME` is an absolute path.
    #[error("no folder for caches is known: set CHICANE_JUDGE_ROOT")]
    NoCache,
    /// The folder was prepared by a version with another layout.
    #[error("Python 3.14 in {} was prepared by another version of chicane: {REMEDY}", .0.display())]
    OtherVersion(PathBuf),
    /// The folder was not prepared.
    #[error("Python 3.14 for judging scripts is not in {}: {REMEDY}", .0.display())]
    NotPrepared(PathBuf),
    /// The folder has no parent folder. The judge's root is built in the parent folder first.
    #[error("the folder for the judge's Python can't be the root of a disk")]
    NoParent,
    /// A file or folder could not be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A folder could not be created.
    #[error("{} can't be created: {source}", .path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The old folder could not be moved away.
    #[error("{} can't be replaced: {source}", .path.display())]
    Replace {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The packages contain no certificates.
    #[error("no certificates: {0}")]
    NoCertificates(#[source] io::Error),
    /// The packages contain no dynamic loader for this architecture.
    #[error("the packages contain no dynamic loader")]
    NoLoader,
    /// The unpacked Python can't import the modules that judging scripts may use.
    #[error("the Python that was fetched does not work: {0}")]
    Broken(String),
    /// A program could not be started.
    #[error("{program} can't be started: {source}")]
    Start {
        /// The name of the program.
        program: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// A program failed.
    #[error("{program} failed: {line}")]
    Failed {
        /// The name of the program.
        program: &'static str,
        /// The last line of the program's error output.
        line: String,
    },
    /// A tool of Debian is not installed.
    #[error("{0} is missing: {DEBIAN_ONLY}")]
    MissingTool(&'static str),
    /// The machine does not run Debian.
    #[error("this machine is {0}, not Debian: {DEBIAN_ONLY}")]
    NotDebian(String),
    /// apt has not downloaded any package list, for example in a fresh container.
    #[error("apt has no package lists yet: run `apt-get update` as root, then try again")]
    NoLists,
    /// apt has package lists, but none of this release of Debian.
    #[error(
        "apt has no package list of Debian {0}: add a Debian mirror to /etc/apt/sources.list.d, run \
         `apt-get update` as root, then try again"
    )]
    NoMirror(String),
    /// apt-get succeeded but downloaded no package.
    #[error("apt-get fetched nothing")]
    NothingFetched,
    /// The packages could not be downloaded from any release of Debian. Holds the error of the last
    /// release.
    #[error("Python 3.14 could not be fetched from the Debian mirror of this machine: {0}")]
    NotFetched(#[source] Box<RootError>),
}

impl RootError {
    /// Adds the path to a file-system error, for `map_err`.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> RootError + '_ {
        move |source| RootError::File { path: path.to_owned(), source }
    }
}
