//! `chicane worlds`: lists, installs, removes and changes worlds.
//!
//! A simulator may be using the data folder. In that case, the web API of that simulator lists and
//! removes worlds, and installs them if no CDN is given. The address of the simulator is stored in
//! the data folder. The other operations change files in the data folder, or in the CDN that `--to`
//! names. Each change of the data folder is atomic and locked, and the simulator notices the
//! change.

mod data_folder;
mod import;
mod install;
mod list;
mod published;
mod remove;

use crate::args::{WorldsArgs, WorldsCommand};
use crate::cdn_target::CdnTargetError;
use crate::data_dir::DataDirError;
use crate::runtime::RuntimeError;
use crate::tokens::{self, TokenError};
use crate::world_folder::WorldFolderError;
use chicane_remote::SimulatorError;
use chicane_remote::cdn::CdnError;
use chicane_store::{InstallError, OpenError, PublishError, RandomError, Unfit};
use chicane_wire::WorldId;
use std::path::PathBuf;

/// Why an operation on worlds failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldsError {
    #[error("\"{0}\" is not a world id (32 hex digits)")]
    InvalidId(String),
    #[error("\"{0}\" is not the name of a world. `chicane worlds list` prints the names")]
    InvalidWorldName(String),
    #[error("the name must be one line of 1 to 100 characters")]
    InvalidDisplayName,
    #[error("{0} is not installed. `chicane worlds list` prints the installed worlds")]
    NotInstalled(String),
    #[error("cannot delete protected world: {0}")]
    Protected(String),
    #[error("{world} can't be removed: {source}")]
    Remove { world: String, source: std::io::Error },
    #[error("{id} can't be renamed: {source}")]
    Rename { id: WorldId, source: std::io::Error },
    #[error("folder {} does not exist", .0.display())]
    NoFolder(PathBuf),
    #[error(
        "world {id} is not published in {place}. `chicane worlds list --published` prints the published \
         worlds, and --to names another folder or bucket"
    )]
    NotPublished { id: WorldId, place: String },
    #[error("the world was installed, but its files can't be checked against its id")]
    NotVerified,
    #[error("{source}: {id} was looked for in {place}. {remedy}")]
    Install { id: WorldId, place: String, remedy: &'static str, source: Box<WorldsError> },
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Target(#[from] CdnTargetError),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The running simulator refused a request or did not respond.
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    /// A CDN failed or does not have the world.
    #[error(transparent)]
    Cdn(#[from] CdnError),
}

/// Why a folder was not imported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportError {
    #[error(transparent)]
    Folder(#[from] WorldFolderError),
    #[error(transparent)]
    Random(#[from] RandomError),
    /// A file of the world is invalid.
    #[error("{} can't be imported: {source}", file.display())]
    Broken { file: PathBuf, source: chicane_world::Error },
    #[error("\"{0}\" is the name of a built-in world. Choose another one with --as")]
    NameTaken(String),
    #[error("{failed} of {worlds} worlds could not be imported")]
    Incomplete { failed: usize, worlds: usize },
    /// The files are not a valid world.
    #[error("{} can't be imported: {source}", folder.display())]
    Unfit { folder: PathBuf, source: Unfit },
    #[error("{} can't be imported: {source}", folder.display())]
    Install { folder: PathBuf, source: InstallError },
}

impl WorldsError {
    /// Whether the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        let error = if let WorldsError::Install { source, .. } = self { source } else { self };
        matches!(
            error,
            WorldsError::InvalidId(_)
                | WorldsError::InvalidWorldName(_)
                | WorldsError::InvalidDisplayName
                | WorldsError::NotInstalled(_)
                | WorldsError::NoFolder(_)
                | WorldsError::Token(TokenError::Invalid { .. })
                | WorldsError::Cdn(CdnError::InvalidUrl(_))
        )
    }
}

pub(crate) fn run(args: &WorldsArgs) -> Result<(), WorldsError> {
    let data = &args.data;
    match &args.command {
        WorldsCommand::List { published: false, cdn: None, to: None, .. } => list::available(data),
        WorldsCommand::List { cdn: Some(url), cdn_token, .. } => {
            list::of_cdn(url, tokens::cdn_token(cdn_token.as_deref())?)
        }
        WorldsCommand::List { to, .. } => list::published(data, to.as_deref()),
        WorldsCommand::Install { id, cdn, cdn_token, require_verified } => {
            let token = tokens::cdn_token(cdn_token.as_deref())?;
            install::run(args, &parse_id(id)?, cdn.clone().map(|url| (url, token)), *require_verified)
        }
        WorldsCommand::Remove { world } => remove::run(data, world),
        WorldsCommand::Rename { id, name, to } => {
            published::rename(data, &parse_id(id)?, name, to.as_deref())
        }
        WorldsCommand::Access { id, level, to } => {
            published::set_access(data, &parse_id(id)?, *level, to.as_deref())
        }
        WorldsCommand::Import(import) => import::run(data, import, &args.judge),
    }
}

/// Parses the id of a world. The name of an installed world, `custom_ID`, is accepted too.
fn parse_id(text: &str) -> Result<WorldId, WorldsError> {
    let id = text.strip_prefix("custom_").unwrap_or(text).trim_end_matches(".world");
    WorldId::parse(id).ok_or_else(|| WorldsError::InvalidId(text.to_owned()))
}
