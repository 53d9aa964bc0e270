//! Options of a server, and the reasons why it does not start.

use chicane_dds::{JoinError, RosOptions};
use chicane_host::{HostOptions, StartHostError};
use chicane_leaderboard::{LeaderboardOptions, StartLeaderboardError};
use chicane_recording::{RecordingOptions, StartRecordingError};
use chicane_remote::cdn::{CDN_TIMEOUT, CdnError};
use chicane_remote::{BadTokens, Token};
use std::net::SocketAddr;
use std::time::Duration;

/// Options of a simulator with a web server.
pub struct Options {
    /// Options of the simulator.
    pub host: HostOptions,
    /// Address to listen on. With port 0 the system chooses a free port.
    pub listen: SocketAddr,
    /// URL of the CDN that worlds are installed from. `None`: the simulator's own CDN, `/cdn`.
    pub cdn: Option<String>,
    /// Token of the CDN at `cdn`, or of the simulator's own CDN if `cdn` is `None`.
    pub cdn_token: Option<Token>,
    /// A download fails when the CDN sends nothing for this long.
    pub cdn_timeout: Duration,
    /// Whether to refuse worlds whose files can't be checked against their id.
    pub require_verified: bool,
    /// The teacher's token, which permits everything. `None`: no request needs a token.
    pub token: Option<Token>,
    /// Token of the role [`Student`](chicane_wire::Role::Student). Needs `token`.
    pub student_token: Option<Token>,
    /// Token of the role [`Spectator`](chicane_wire::Role::Spectator). Needs `token`.
    pub spectator_token: Option<Token>,
    /// Further host names that requests may use in their `Host` header.
    pub allow_hosts: Vec<String>,
    /// Origins of pages of other sites that may open `/foxglove`.
    pub foxglove_origins: Vec<String>,
    /// Origins of pages of other sites that may use the API and show the viewer in a frame, such as
    /// `http://localhost:3000`.
    pub allowed_origins: Vec<String>,
    /// Options of the ROS 2 graph. `None`: the robot's topics are not published on ROS 2.
    pub ros: Option<RosOptions>,
    /// Folder and limits of recordings. `None`: the folder `recordings` of the data folder, with
    /// the default limits.
    pub recording: Option<RecordingOptions>,
    /// Whether to record from the first tick on.
    pub record_at_once: bool,
    /// Options of the leaderboard. `None`: the simulator has no leaderboard.
    pub leaderboard: Option<LeaderboardOptions>,
}

impl Default for Options {
    /// The default options: a free port of the loopback address, without a token.
    fn default() -> Options {
        Options {
            host: HostOptions::default(),
            listen: ([127, 0, 0, 1], 0).into(),
            cdn: None,
            cdn_token: None,
            cdn_timeout: CDN_TIMEOUT,
            require_verified: false,
            token: None,
            student_token: None,
            spectator_token: None,
            allow_hosts: Vec::new(),
            foxglove_origins: Vec::new(),
            allowed_origins: Vec::new(),
            ros: None,
            recording: None,
            record_at_once: false,
            leaderboard: None,
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
        /// The address from [`Options::listen`].
        address: SocketAddr,
        /// The error of the operating system.
        reason: std::io::Error,
    },
    /// The address of the CDN is malformed.
    #[error(transparent)]
    Cdn(#[from] CdnError),
    /// The recording can't be started.
    #[error(transparent)]
    Recording(#[from] StartRecordingError),
    /// The leaderboard can't be started.
    #[error(transparent)]
    Leaderboard(#[from] StartLeaderboardError),
    /// Other machines can reach the address, and there is no token.
    #[error("{0} can be reached from other machines, so a token is needed; add --token auto")]
    NeedsToken(SocketAddr),
    /// The tokens of the roles can't be used together.
    #[error(transparent)]
    Tokens(#[from] BadTokens),
    /// A thread could not be started, or the start of the leaderboard panicked.
    #[error("can't start a thread: {0}")]
    Thread(std::io::Error),
    /// The ROS 2 graph can't be joined.
    #[error(transparent)]
    Ros(#[from] JoinError),
}
