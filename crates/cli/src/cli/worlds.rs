//! `chicane publish` and `chicane worlds`.

use super::engine::JudgeBy;
use super::values::web_address;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub(crate) struct Publish {
    /// A builder project, NAME.json, or the folder of a world
    pub(crate) path: String,
    /// Folder of a CDN, or a bucket, s3://BUCKET/FOLDER, with AWS_REGION or AWS_ENDPOINT and keys in the environment
    /// [default: the folder of this data folder's simulator]
    #[arg(long, value_name = "FOLDER|URL")]
    pub(crate) to: Option<String>,
    /// Name for people [default: the project's]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Who may have it: everyone, everyone who knows its id, or who has the CDN's token
    #[arg(long, value_enum, default_value_t = Level::Unlisted)]
    pub(crate) access: Level,
    #[command(flatten)]
    pub(crate) data: DataDir,
    #[command(flatten)]
    pub(crate) judge: JudgeBy,
}

/// Who may have a published world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Everyone; it is listed
    Public,
    /// Everyone who knows its id
    Unlisted,
    /// Who has the CDN's token
    Private,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DataDir {
    /// Folder for settings and worlds [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Worlds {
    #[command(subcommand)]
    pub(crate) what: WorldsWhat,
    #[command(flatten)]
    pub(crate) data: DataDir,
    #[command(flatten)]
    pub(crate) judge: JudgeBy,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WorldsWhat {
    /// List the worlds that can be switched to, or those that were published
    List {
        /// Those that were published to this data folder
        #[arg(long)]
        published: bool,
        /// Those that were published to this folder or bucket, public or not
        #[arg(long, value_name = "FOLDER|URL", conflicts_with = "published")]
        to: Option<String>,
        /// Those that a simulator elsewhere lists
        #[arg(long, value_name = "URL", value_parser = web_address, conflicts_with_all = ["published", "to"])]
        cdn: Option<String>,
        /// Token of that CDN
        #[arg(long, value_name = "TOKEN", env = "CHICANE_CDN_TOKEN", hide_env_values = true)]
        cdn_token: Option<String>,
    },
    /// Install a published world
    Install {
        /// Its id: 32 hex digits
        id: String,
        /// Where it was published [default: what was published to this data folder, or what the simulator says that uses it]
        #[arg(long, value_name = "URL", value_parser = web_address)]
        cdn: Option<String>,
        /// Token of that CDN, for private worlds
        #[arg(long, value_name = "TOKEN", env = "CHICANE_CDN_TOKEN", hide_env_values = true)]
        cdn_token: Option<String>,
        /// Refuse it if its id does not prove its files
        #[arg(long)]
        require_verified: bool,
    },
    /// Remove an installed world
    Remove {
        /// Its name, custom_ID, or its id
        world: String,
    },
    /// Give a published world another name
    Rename {
        /// Its id
        id: String,
        /// The new name for people
        name: String,
        /// Folder of the CDN, or bucket [default: that of this data folder]
        #[arg(long, value_name = "FOLDER|URL")]
        to: Option<String>,
    },
    /// Say who may have a published world
    Access {
        /// Its id
        id: String,
        /// The new level
        #[arg(value_enum)]
        level: Level,
        /// Folder of the CDN, or bucket [default: that of this data folder]
        #[arg(long, value_name = "FOLDER|URL")]
        to: Option<String>,
    },
    /// Install a Gazebo-style folder (worlds/, models/, meshes/, routes/) as a world
    Import {
        /// The folder
        folder: String,
        /// Which of its worlds, if there are several: the stem of its file
        #[arg(long, value_name = "NAME")]
        world: Option<String>,
        /// Name for people [default: that of the world file]
        #[arg(long)]
        name: Option<String>,
    },
}
