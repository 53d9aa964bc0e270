//! What a server is started with, and why it may not start.

use chicane_dds::{JoinError, RosOptions};
use chicane_host::{HostOptions, StartHostError};
use chicane_remote::Token;
use chicane_remote::cdn::{CDN_TIMEOUT, CdnError};
use std::net::SocketAddr;
use std::time::Duration;

/// How a simulator with a web server is started.
pub struct Options {
    /// The simulator.
    pub host: HostOptions,
    /// Address to listen on; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Address of the CDN that worlds are installed from; the simulator's own if `None`.
    pub cdn: Option<String>,
    /// Token of the CDN: of `cdn`, or of the simulator's own if `cdn` is `None`.
    pub cdn_token: Option<Token>,
    /// How long a CDN may send nothing before a download fails.
    pub cdn_timeout: Duration,
    /// Refuse worlds whose files can't be checked against their id.
    pub require_verified: bool,
    /// Secret that every request must carry.
    pub token: Option<Token>,
    /// Further names of this machine that requests may use.
    pub allow_hosts: Vec<String>,
    /// Publish the robot's topics on a ROS 2 graph.
    pub ros: Option<RosOptions>,
}

impl Default for Options {
    /// Any free port of the loopback address, without a token.
    fn default() -> Options {
        Options {
            host: HostOptions::default(),
            listen: ([127, 0, 0, 1], 0).into(),
            cdn: None,
            cdn_token: None,
            cdn_timeout: CDN_TIMEOUT,
            require_verified: false,
            token: None,
            allow_hosts: Vec::new(),
            ros: None,
        }
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The simulator did not start.
    #[error(transparent)]
    Host(#[from] StartHostError),
    /// The server can't listen on the address.
    #[error("can't listen on {address}: {reason}; choose another address with --listen")]
    Listen {
        /// As asked.
        address: SocketAddr,
        /// Why.
        reason: std::io::Error,
    },
    /// The address of the CDN is malformed.
    #[error(transparent)]
    Cdn(#[from] CdnError),
    /// Other machines can reach the address, and there is no token.
    #[error("{0} can be reached from other machines: a token is needed, such as --token auto")]
    NeedsToken(SocketAddr),
    /// A thread could not be started.
    #[error("can't start a thread: {0}")]
    Thread(std::io::Error),
    /// The ROS 2 graph can't be joined.
    #[error(transparent)]
    Ros(#[from] JoinError),
}
