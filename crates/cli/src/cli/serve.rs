//! `chicane serve`.

use super::engine::JudgeBy;
use super::values::{host_name, pace, web_address};
use chicane_dds::RosOptions;
use chicane_host::JudgeOptions;
use chicane_remote::Token;
use chicane_session::Isolation;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", env = "CHICANE_LISTEN", default_value = "127.0.0.1:8000")]
    pub(crate) listen: SocketAddr,
    /// Folder for settings and worlds [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// World to start with: its name, or the path of a project or a folder to look at [default: the last one, then oval]
    #[arg(long, value_name = "WORLD", env = "CHICANE_WORLD")]
    pub(crate) world: Option<String>,
    /// Where published worlds are installed from [default: this simulator's own /cdn]
    #[arg(long, value_name = "URL", env = "CHICANE_CDN", value_parser = web_address)]
    pub(crate) cdn: Option<String>,
    /// Token of the CDN: sent to it for private worlds; of this simulator's own /cdn if no --cdn is given,
    /// which it opens without giving away control
    #[arg(long, value_name = "TOKEN", env = "CHICANE_CDN_TOKEN", hide_env_values = true)]
    pub(crate) cdn_token: Option<String>,
    /// Refuse published worlds whose id does not prove their files
    #[arg(long, env = "CHICANE_REQUIRE_VERIFIED")]
    pub(crate) require_verified: bool,
    /// Secret that every request must carry; `auto` makes one and prints it
    #[arg(long, env = "CHICANE_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Further host name of this machine that browsers may use; can be given several times
    #[arg(long, value_name = "NAME", env = "CHICANE_ALLOW_HOST", value_delimiter = ',', value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// Robot: a generation, or the path of a profile file
    #[arg(long, value_name = "GENERATION", env = "CHICANE_ROBOT", default_value = "gen1")]
    pub(crate) robot: String,
    /// Real-time factor, 0.05 to 100; 0 is as fast as the machine can
    #[arg(long, value_name = "FACTOR", env = "CHICANE_SPEED", default_value_t = 1.0, value_parser = pace)]
    pub(crate) speed: f64,
    /// Folder that student commands run in
    #[arg(long, value_name = "FOLDER", env = "CHICANE_WORKSPACE", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Judges every world instead of its own script: for those who write one
    #[arg(long, value_name = "FILE", env = "CHICANE_JUDGE_SCRIPT")]
    pub(crate) judge_script: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge_by: JudgeBy,
    /// How judging scripts are held within their limits: this way or not at all [default: the best there is]
    #[arg(long, value_enum, value_name = "WAY", env = "CHICANE_JUDGE_ISOLATION")]
    pub(crate) judge_isolation: Option<IsolationName>,
    /// Speak ROS 2: the robot's topics, with programs of this machine
    #[arg(long, env = "CHICANE_ROS")]
    pub(crate) ros: bool,
    /// ROS 2 domain, 0 to 232 [default: ROS_DOMAIN_ID, then 0]
    #[arg(long, value_name = "NUMBER", env = "CHICANE_ROS_DOMAIN", requires = "ros", value_parser = clap::value_parser!(u16).range(..=chicane_dds::RosOptions::LAST_DOMAIN as i64))]
    pub(crate) ros_domain: Option<u16>,
    /// Speak ROS 2 with other machines too: the network interface, by name or IPv4 address. Whoever is
    /// there can drive the car: there are no tokens in ROS 2
    #[arg(long, value_name = "INTERFACE", env = "CHICANE_ROS_NETWORK", requires = "ros")]
    pub(crate) ros_network: Option<String>,
    /// Stop when standard input ends: with the program that started this one, however that ends
    #[arg(long)]
    pub(crate) lifeline: bool,
    /// How to log, to standard error
    #[arg(long, value_enum, env = "CHICANE_LOG", default_value_t = Log::Text)]
    pub(crate) log: Log,
    /// How much to log
    #[arg(long, value_enum, env = "CHICANE_LOG_LEVEL", default_value_t = LogLevel::Info)]
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
    /// Limits of a user, and a watch on memory
    Watchdog,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What went wrong
    Error,
    /// What may be wrong
    Warn,
    /// What happens
    Info,
    /// Every request
    Debug,
}

impl Serve {
    /// Whether and where ROS 2 is spoken.
    pub(crate) fn ros(&self) -> Result<Option<RosOptions>, String> {
        if !self.ros {
            return Ok(None);
        }
        let domain = match self.ros_domain {
            Some(domain) => domain,
            None => {
                let variable = std::env::var("ROS_DOMAIN_ID").ok();
                RosOptions::domain_from_environment(variable.as_deref()).map_err(|e| e.to_string())?
            }
        };
        Ok(Some(RosOptions { domain, network: self.ros_network.clone() }))
    }

    /// How judging scripts are run.
    pub(crate) fn judge(&self) -> Result<JudgeOptions, String> {
        let read = |file: &PathBuf| {
            std::fs::read_to_string(file).map_err(|e| format!("--judge-script {}: {e}", file.display()))
        };
        Ok(JudgeOptions {
            launcher: None,
            folder: None,
            script: self.judge_script.as_ref().map(read).transpose()?,
            engine: self.judge_by.engine()?,
            isolation: self.judge_isolation.map(|name| match name {
                IsolationName::CgroupV2 => Isolation::CgroupV2,
                IsolationName::CgroupV1 => Isolation::CgroupV1,
                IsolationName::Watchdog => Isolation::Watchdog,
            }),
        })
    }

    /// The token that was asked for, if any.
    pub(crate) fn token(&self) -> Result<Option<Token>, String> {
        match self.token.as_deref() {
            None | Some("") => Ok(None),
            Some("auto") => Token::random().map(Some).map_err(|e| e.to_string()),
            Some(text) => Token::parse(text).map(Some).map_err(|e| e.to_string()),
        }
    }
}
