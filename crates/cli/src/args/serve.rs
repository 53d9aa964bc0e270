//! Options of `chicane serve`.

use super::PaceName;
use super::values::{host_name, origin, page_origin, speed_factor, web_address};
use super::{
    JudgeArgs, LeaderboardArgs, RecordArgs, ResourceArgs, RobotArgs, RollingBackupArgs, StudentArgs,
};
use chicane_session::Isolation;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", env = "CHICANE_LISTEN", default_value = "127.0.0.1:8000")]
    pub(crate) listen: SocketAddr,
    /// Folder for settings, records and worlds [default: the platform's folder for application
    /// data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// World to start with: a name, project file, world folder or world file [default: the last
    /// world, or oval]
    #[arg(long, value_name = "WORLD", env = "CHICANE_WORLD")]
    pub(crate) world: Option<String>,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    /// CDN that published worlds are installed from [default: this simulator's own /cdn]
    #[arg(long, help_heading = "Published worlds", value_name = "URL", env = "CHICANE_CDN", value_parser = web_address)]
    pub(crate) cdn: Option<String>,
    /// Token of the CDN, for private worlds. Without --cdn: a token for this simulator's own /cdn,
    /// which does not give access to the simulator itself
    #[arg(
        long,
        help_heading = "Published worlds",
        value_name = "TOKEN",
        env = "CHICANE_CDN_TOKEN",
        hide_env_values = true
    )]
    pub(crate) cdn_token: Option<String>,
    /// Refuse published worlds whose files cannot be checked against their id
    #[arg(long, help_heading = "Published worlds", env = "CHICANE_REQUIRE_VERIFIED")]
    pub(crate) require_verified: bool,
    /// The teacher's token, which permits everything; `auto` creates one and prints it. With this
    /// option, every request except `GET /health` must contain a token
    #[arg(long, help_heading = "Access", env = "CHICANE_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Token for students, who may drive, step, switch worlds and run evaluations; `auto` creates
    /// one and prints it
    #[arg(
        long,
        help_heading = "Access",
        value_name = "TOKEN",
        env = "CHICANE_STUDENT_TOKEN",
        hide_env_values = true
    )]
    pub(crate) student_token: Option<String>,
    /// Token for spectators, who may only watch; `auto` creates one and prints it
    #[arg(
        long,
        help_heading = "Access",
        value_name = "TOKEN",
        env = "CHICANE_SPECTATOR_TOKEN",
        hide_env_values = true
    )]
    pub(crate) spectator_token: Option<String>,
    /// Additional host name that browsers may use for this machine; can be repeated
    #[arg(long, help_heading = "Access", value_name = "NAME", env = "CHICANE_ALLOW_HOST", value_delimiter = ',', value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// Origin of a page that may use the API and show the viewer in a frame, such as
    /// `http://localhost:3000`; can be repeated
    #[arg(long, help_heading = "Access", value_name = "URL", env = "CHICANE_ALLOW_ORIGIN", value_delimiter = ',', value_parser = page_origin)]
    pub(crate) allow_origin: Vec<String>,
    /// Origin of a Foxglove app that may connect, such as `https://app.foxglove.dev`; can be repeated
    #[arg(long, help_heading = "Access", value_name = "ORIGIN", env = "CHICANE_FOXGLOVE_ORIGIN", value_delimiter = ',', value_parser = origin)]
    pub(crate) foxglove_origin: Vec<String>,
    #[command(flatten)]
    pub(crate) robot: RobotArgs,
    /// Real-time factor, 0.05 to 100, or 0 for as fast as possible
    #[arg(long, value_name = "FACTOR", env = "CHICANE_SPEED", default_value_t = 1.0, value_parser = speed_factor)]
    pub(crate) speed: f64,
    /// Pace of simulated time in sessions that do not ask for one
    #[arg(long, value_enum, env = "CHICANE_DEFAULT_PACE", default_value_t = PaceName::Real)]
    pub(crate) pace: PaceName,
    /// Working folder of student programs
    #[arg(long, value_name = "FOLDER", env = "CHICANE_WORKSPACE", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Judging script that replaces the script of every world, for authors of scripts
    #[arg(long, help_heading = "Judging scripts", value_name = "FILE", env = "CHICANE_JUDGE_SCRIPT")]
    pub(crate) judge_script: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) student: StudentArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    /// Mechanism that limits judging scripts; evaluations are refused if this machine does not have
    /// it [default: the best available one]
    #[arg(
        long,
        help_heading = "Judging scripts",
        value_enum,
        value_name = "MECHANISM",
        env = "CHICANE_JUDGE_ISOLATION"
    )]
    pub(crate) judge_isolation: Option<IsolationName>,
    /// Publish the robot's topics on ROS 2, for programs on this machine
    #[arg(long, help_heading = "ROS 2", env = "CHICANE_ROS")]
    pub(crate) ros: bool,
    /// ROS 2 domain, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    #[arg(long, help_heading = "ROS 2", value_name = "NUMBER", env = "CHICANE_ROS_DOMAIN", requires = "ros", value_parser = clap::value_parser!(u16).range(..=chicane_dds::RosOptions::LAST_DOMAIN as i64))]
    pub(crate) ros_domain: Option<u16>,
    /// Network interface for ROS 2 with other machines, as a name or an IPv4 address. Everyone in
    /// that network can drive the car, because ROS 2 has no tokens
    #[arg(
        long,
        help_heading = "ROS 2",
        value_name = "INTERFACE",
        env = "CHICANE_ROS_NETWORK",
        requires = "ros"
    )]
    pub(crate) ros_network: Option<String>,
    #[command(flatten)]
    pub(crate) leaderboard: LeaderboardArgs,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
    #[command(flatten)]
    pub(crate) backup: RollingBackupArgs,
    /// Stop when standard input is closed, so that the simulator ends with the program that started
    /// it
    #[arg(long)]
    pub(crate) lifeline: bool,
    /// Format of the log on standard error
    #[arg(long, help_heading = "Log", value_enum, value_name = "FORMAT", env = "CHICANE_LOG", default_value_t = LogFormat::Text)]
    pub(crate) log: LogFormat,
    /// Lowest severity that is logged
    #[arg(long, help_heading = "Log", value_enum, value_name = "LEVEL", env = "CHICANE_LOG_LEVEL", default_value_t = LogLevel::Info)]
    pub(crate) log_level: LogLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolationName {
    /// Control groups, version 2
    #[value(name = "cgroup-v2")]
    CgroupV2,
    /// Control groups, version 1
    #[value(name = "cgroup-v1")]
    CgroupV1,
    /// Resource limits of the user, and a watchdog for memory
    Watchdog,
}

impl From<IsolationName> for Isolation {
    fn from(name: IsolationName) -> Isolation {
        match name {
            IsolationName::CgroupV2 => Isolation::CgroupV2,
            IsolationName::CgroupV1 => Isolation::CgroupV1,
            IsolationName::Watchdog => Isolation::Watchdog,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines of text
    Text,
    /// One JSON object per line
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Failures
    Error,
    /// Failures and possible problems
    Warn,
    /// Also normal operation
    Info,
    /// Also every request
    Debug,
}
