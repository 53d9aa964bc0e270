//! What a simulator is started with, and why it may not start.

use crate::access::Token;
use crate::evaluation::JudgeOptions;
use crate::ros::RosOptions;
use chicane_store::{Library, OpenError, StoreError};
use chicane_world::Profile;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How a simulator is to be started.
pub struct Options {
    /// Address to listen on; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Folder for settings.
    pub data_dir: PathBuf,
    /// World to start with; the last one if omitted.
    pub world: Option<String>,
    /// Where worlds are installed from; the simulator itself if omitted.
    pub cdn: Option<String>,
    /// Token of the CDN: of `cdn`, or of the simulator's own if that is omitted.
    pub cdn_token: Option<Token>,
    /// How long a CDN may be silent.
    pub cdn_patience: Duration,
    /// Refuse worlds whose files their id does not prove.
    pub require_verified: bool,
    /// Secret that every request must carry.
    pub token: Option<Token>,
    /// Further names of this machine that requests may use.
    pub allow_hosts: Vec<String>,
    /// The robot.
    pub profile: Profile,
    /// Requested real-time factor; 0 is as fast as the machine can.
    pub speed: f64,
    /// Folder that student commands run in.
    pub workspace: PathBuf,
    /// The worlds there are.
    pub library: Library,
    /// How judging scripts and student programs are run.
    pub judge: JudgeOptions,
    /// The robot's topics on a ROS 2 graph; none if omitted.
    pub ros: Option<RosOptions>,
}

/// Why a simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data folder can't be used.
    #[error(transparent)]
    Data(#[from] OpenError),
    /// The settings can't be read.
    #[error("the settings can't be read: {0}")]
    Settings(#[from] StoreError),
    /// No world of this name.
    #[error("there is no world {name}; there are {known}")]
    NoSuchWorld {
        /// As asked.
        name: String,
        /// Names of all worlds.
        known: String,
    },
    /// The address can't be listened on.
    #[error("can't listen on {address}: {reason}; choose another address with --listen")]
    Listen {
        /// As asked.
        address: SocketAddr,
        /// Why.
        reason: std::io::Error,
    },
    /// The address of the CDN makes no sense.
    #[error("{0}")]
    Cdn(String),
    /// An open address without a token.
    #[error("{0} can be reached from other machines: a token is needed, such as --token auto")]
    NeedsToken(SocketAddr),
    /// A thread could not be started.
    #[error("can't start the sim thread: {0}")]
    Thread(std::io::Error),
    /// The topics can't be told.
    #[error("{0}")]
    Ros(String),
}
