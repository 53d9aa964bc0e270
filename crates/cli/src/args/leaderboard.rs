//! Options of the leaderboard: for the simulator that has one, and for students who hand in.

use super::values::{shown_name, web_address};
use clap::Args;
use std::path::PathBuf;

/// Options of the leaderboard of `chicane serve`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Leaderboard")]
pub(crate) struct LeaderboardArgs {
    /// Show a leaderboard at /sim/leaderboard, and judge the programs that students hand in
    #[arg(long = "leaderboard", env = "CHICANE_LEADERBOARD")]
    pub(crate) enabled: bool,
    /// World of the leaderboard: a name, project file or world folder; can be repeated [default:
    /// the world that the simulator starts with]
    #[arg(long = "leaderboard-world", value_name = "WORLD", requires = "enabled")]
    pub(crate) worlds: Vec<String>,
    /// Seed of all runs of the leaderboard
    #[arg(long = "leaderboard-seed", value_name = "NUMBER", requires = "enabled", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: u64,
    /// Show pseudonyms instead of the names of students
    #[arg(long = "leaderboard-anonymous", requires = "enabled")]
    pub(crate) anonymous: bool,
    /// Shortest time between two submissions of a student in seconds, 0 to 3600
    #[arg(long = "leaderboard-interval", value_name = "SECONDS", requires = "enabled", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) interval_s: u64,
}

/// Arguments of `chicane submit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SubmitArgs {
    /// Folder with main.py or run.toml, Python file, or zip file
    pub(crate) program: PathBuf,
    /// Your name, as the leaderboard shows it
    #[arg(long, value_name = "NAME", value_parser = shown_name)]
    pub(crate) student: String,
    /// Address of the simulator with the leaderboard
    #[arg(long, value_name = "URL", env = "CHICANE_URL", default_value = "http://127.0.0.1:8000", value_parser = web_address)]
    pub(crate) url: String,
    /// The students' token
    #[arg(long, value_name = "TOKEN", env = "CHICANE_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Do not wait for the result
    #[arg(long)]
    pub(crate) no_wait: bool,
}
