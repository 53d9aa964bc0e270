//! Why a request to the studio fails.

use crate::archive::ArchiveError;
use crate::picture::FileError;
use chicane_builder::project::WorldName;
use chicane_builder::{RandomError, ReadError};
use chicane_store::{Projects, StoreError};
use chicane_wire::PreviewFinding;
use serde_json::Value;

/// Why a request to the studio fails.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// There is no such project.
    #[error("there is no project with this id; GET /sim/api/builder/projects lists all projects")]
    NoProject,
    /// The project has no such file.
    #[error("the project has no file with this name")]
    NoFile,
    /// The project was changed since the editor read it.
    #[error(
        "the project was changed meanwhile: it has revision {revision}; merge the changes and save again"
    )]
    Conflict {
        /// The current revision.
        revision: u64,
        /// The current document.
        document: Value,
    },
    /// The document is not a project.
    #[error("{0}")]
    Document(#[from] ReadError),
    /// The stored document can't be read.
    #[error("the stored project can't be read: {0}")]
    Stored(ReadError),
    /// The project has errors, so no world can be built.
    #[error("the project has {} that prevent the build of a world", errors(.0))]
    Invalid(Vec<PreviewFinding>),
    /// The project has no evaluation.
    #[error("the project has no rules; add them in the tab \"Rules\"")]
    NoRules,
    /// The judging script of the project is missing or is not text.
    #[error("the judging script of the project is missing or is not text; choose another one")]
    NoScript,
    /// The name of a world is not valid.
    #[error("name must have {rule}", rule = WorldName::RULE)]
    Name,
    /// No shipped world has this name.
    #[error("there is no shipped world of this name; the shipped worlds are {0}")]
    NoWorld(String),
    /// The options of a random track can't be used.
    #[error("{0}")]
    Track(RandomError),
    /// There are too many projects.
    #[error("there are {max} projects already; delete some", max = Projects::MAX)]
    TooManyProjects,
    /// The project has too many files.
    #[error("a project has at most {max} files; delete some", max = Projects::MAX_FILES)]
    TooManyFiles,
    /// The files of the project are too large together.
    #[error("the files of a project have at most {max} MiB together", max = Projects::MAX_FILE_BYTES >> 20)]
    FilesTooLarge,
    /// A file can't be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A zip file can't be used.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The builder produced a world that can't be loaded.
    #[error("the world of the project can't be loaded: {0}")]
    World(#[from] chicane_world::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provides no random numbers.
    #[error(transparent)]
    Random(#[from] chicane_store::RandomError),
}

fn errors(findings: &[PreviewFinding]) -> String {
    let count = findings.iter().filter(|f| f.severity == chicane_wire::PreviewSeverity::Error).count();
    if count == 1 { "1 error".to_owned() } else { format!("{count} errors") }
}
