//! Options of `chicane publish` and `chicane worlds`.

use super::values::{web_address, world_alias};
use super::{JudgeArgs, ResourceArgs};
use chicane_store::Access;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub(crate) struct PublishArgs {
    /// Project file NAME.json, or world folder
    pub(crate) path: String,
    /// CDN folder, or bucket s3://BUCKET/FOLDER with AWS_REGION or AWS_ENDPOINT and keys in the
    /// environment [default: the CDN folder of the data folder]
    #[arg(long, value_name = "FOLDER|URL")]
    pub(crate) to: Option<String>,
    /// Display name [default: the project's display name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Who can install the world
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = AccessLevel::Unlisted)]
    pub(crate) access: AccessLevel,
    #[command(flatten)]
    pub(crate) data: DataDirArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

/// Who can install a published world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccessLevel {
    /// Everyone; the world is listed
    Public,
    /// Everyone who knows the id
    Unlisted,
    /// Everyone who has the CDN's token
    Private,
}

impl From<AccessLevel> for Access {
    fn from(level: AccessLevel) -> Access {
        match level {
            AccessLevel::Public => Access::Public,
            AccessLevel::Unlisted => Access::Unlisted,
            AccessLevel::Private => Access::Private,
        }
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DataDirArgs {
    /// Folder for settings, records and worlds [default: the platform's folder for application
    /// data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct WorldsArgs {
    #[command(subcommand)]
    pub(crate) command: WorldsCommand,
    #[command(flatten)]
    pub(crate) data: DataDirArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WorldsCommand {
    /// List the worlds that can be opened, or published worlds
    List {
        /// List the worlds published to the data folder
        #[arg(long)]
        published: bool,
        /// List all worlds published to this folder or bucket
        #[arg(long, value_name = "FOLDER|URL", conflicts_with = "published")]
        to: Option<String>,
        /// List the worlds of the CDN of another simulator
        #[arg(long, value_name = "URL", value_parser = web_address, conflicts_with_all = ["published", "to"])]
        cdn: Option<String>,
        /// Token of that CDN
        #[arg(long, value_name = "TOKEN", env = "CHICANE_CDN_TOKEN", hide_env_values = true)]
        cdn_token: Option<String>,
    },
    /// Install a published world
    Install {
        /// Id of the world: 32 hex digits
        id: String,
        /// CDN that has the world [default: the CDN of the simulator that uses the data folder; if
        /// no simulator uses it, the folder `cdn` in the data folder]
        #[arg(long, value_name = "URL", value_parser = web_address)]
        cdn: Option<String>,
        /// Token of that CDN, for private worlds
        #[arg(long, value_name = "TOKEN", env = "CHICANE_CDN_TOKEN", hide_env_values = true)]
        cdn_token: Option<String>,
        /// Refuse the world if its files cannot be checked against its id
        #[arg(long)]
        require_verified: bool,
    },
    /// Remove an installed world
    Remove {
        /// Name (custom_ID) or id of the world
        world: String,
    },
    /// Change the display name of a published world
    Rename {
        /// Id of the world
        id: String,
        /// New display name
        name: String,
        /// CDN folder or bucket [default: the CDN folder of the data folder]
        #[arg(long, value_name = "FOLDER|URL")]
        to: Option<String>,
    },
    /// Change who can install a published world
    Access {
        /// Id of the world
        id: String,
        /// New access level
        #[arg(value_enum)]
        level: AccessLevel,
        /// CDN folder or bucket [default: the CDN folder of the data folder]
        #[arg(long, value_name = "FOLDER|URL")]
        to: Option<String>,
    },
    /// Install one world or all worlds of a folder, such as a collection for Gazebo
    Import(ImportArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// Folder to import from; only the files that the world uses are copied
    pub(crate) folder: String,
    /// Name or path of the world file, if the folder has several
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) world: Option<String>,
    /// Import every world of the folder; each keeps the name of its file
    #[arg(long, conflicts_with_all = ["name", "alias"])]
    pub(crate) all: bool,
    /// Display name [default: the name of the world file]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Name by which clients can switch to the world, besides custom_ID
    #[arg(long = "as", value_name = "NAME", value_parser = world_alias)]
    pub(crate) alias: Option<String>,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
}
