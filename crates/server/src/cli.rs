//! What can be said on the command line.

use chicane_server::{JudgeOptions, Token};
use chicane_session::Isolation;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Chicane, a robot-car simulator for teaching and grading
#[derive(Debug, Parser)]
#[command(name = "chicane", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) what: Option<What>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Run the simulator with its web API and viewer (also without a command)
    Serve(Serve),
    /// Say what is in a world or a builder project, and what is wrong with it
    Check {
        /// A project, NAME.json; a folder that holds worlds/NAME.world and what it needs; or a built-in world, such as oval
        path: String,
    },
    /// Build the world of a builder project
    Build {
        /// The project; pictures and scripts that it names lie beside it
        project: String,
        /// Folder for the world: a new or empty one, or one that holds this world already
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Publish a world, and print its id
    Publish(Publish),
    /// The worlds of a data folder: list, install, remove, import; rename and give access to published ones
    Worlds(Worlds),
    /// Make a new builder project
    New(New),
    /// Write the floor of a world as a picture for printing, true to scale
    Print {
        /// A project, a world's folder, or a built-in world, such as oval
        world: String,
        /// Picture to write, .jpg
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Pixels an inch
        #[arg(long, value_name = "NUMBER", default_value_t = 150, value_parser = clap::value_parser!(u16).range(10..=600))]
        dpi: u16,
    },
    /// Drive one lap of a world, as fast as the machine can
    Lap {
        /// A project, a world's folder, or a built-in world, such as oval
        world: String,
        /// Metres a second
        #[arg(long, default_value_t = 1.0, value_parser = lap_speed)]
        speed: f64,
    },
    /// Print the OpenAPI document of the web API
    Openapi {
        /// That of the robot, which a physical car has too, in place of the simulator's
        #[arg(long)]
        robot: bool,
    },
    /// Evaluate a student's program without a window; the exit status says how it went
    Evaluate(Evaluate),
    /// Try a judging script on a recorded drive: its log and its verdict
    Judge(Judge),
    /// Records of evaluations
    Records {
        #[command(subcommand)]
        what: RecordsWhat,
    },
    /// Prepare Python 3.14 for judging scripts, once
    Setup,
    /// A part of a jail; started by the simulator itself
    #[command(name = "__jail", hide = true)]
    Jail {
        /// Which part.
        part: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Publish {
    /// A builder project, NAME.json, or the folder of a world
    pub(crate) path: String,
    /// Folder of a CDN, or file:// address of one [default: that of this data folder's simulator]
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
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WorldsWhat {
    /// List the worlds that can be switched to, or those that were published
    List {
        /// Those that were published to this data folder
        #[arg(long)]
        published: bool,
        /// Those that a simulator elsewhere lists
        #[arg(long, value_name = "URL", value_parser = web_address, conflicts_with = "published")]
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
        /// Folder of the CDN [default: that of this data folder]
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
        /// Folder of the CDN [default: that of this data folder]
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

#[derive(Debug, Clone, Args)]
pub(crate) struct New {
    /// A random track
    #[arg(long, required = true)]
    pub(crate) random: bool,
    /// The same number gives the same track [default: another one every time]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Size of the field in metres
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "8x6", value_parser = field_size)]
    pub(crate) field: [f64; 2],
    /// Width of the road in metres
    #[arg(long, value_name = "METRES", default_value_t = 0.6)]
    pub(crate) width: f64,
    /// From 0, nearly round, to 1, full of bends
    #[arg(long, value_name = "0..1", default_value_t = 0.5)]
    pub(crate) tightness: f64,
    /// Length of the track in metres, if the field can hold it [default: as it comes]
    #[arg(long, value_name = "METRES")]
    pub(crate) length: Option<f64>,
    /// File to write, which must not be there yet [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Evaluate {
    /// A built-in world, or a folder that holds worlds/NAME.world
    #[arg(long, value_name = "WORLD")]
    pub(crate) world: String,
    /// Starts the student's program; without one the run is only observed
    #[arg(long, value_name = "COMMAND", value_parser = student_command)]
    pub(crate) command: Option<String>,
    /// The same number gives the same run
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: u64,
    /// Simulated seconds [default: as the world says]
    #[arg(long, value_name = "SECONDS", value_parser = time_limit)]
    pub(crate) time_limit: Option<f64>,
    /// Drive commands by time: lines of seconds, speed, steering
    #[arg(long, value_name = "FILE")]
    pub(crate) drive: Option<PathBuf>,
    /// Real-time factor, 0.05 to 100; 0 is as fast as the machine can
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = pace)]
    pub(crate) speed: f64,
    /// Folder that the command runs in
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Folder that keeps the record [default: none, it is printed only]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print the whole record as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Judge {
    /// The script, Python
    pub(crate) script: PathBuf,
    /// A built-in world, or a folder that holds worlds/NAME.world; its evaluation config is used
    #[arg(long, value_name = "WORLD")]
    pub(crate) world: String,
    /// The drive: lines of seconds, speed, steering
    #[arg(long, value_name = "FILE")]
    pub(crate) drive: PathBuf,
    /// The same number gives the same run
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: u64,
    /// Simulated seconds [default: as the world says]
    #[arg(long, value_name = "SECONDS", value_parser = time_limit)]
    pub(crate) time_limit: Option<f64>,
    /// Print the whole record as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecordsWhat {
    /// Print every record, the newest first
    Export(Export),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Export {
    /// A table, one line a record
    #[arg(long, required_unless_present = "json", conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Everything, with the story of each session
    #[arg(long)]
    pub(crate) json: bool,
    /// Of this world only
    #[arg(long, value_name = "NAME")]
    pub(crate) world: Option<String>,
    /// Folder that keeps the records [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", env = "CHICANE_LISTEN", default_value = "127.0.0.1:8000")]
    pub(crate) listen: SocketAddr,
    /// Folder for settings and worlds [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// World to start with [default: the last one, then oval]
    #[arg(long, value_name = "NAME", env = "CHICANE_WORLD")]
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
    /// How judging scripts are held within their limits: this way or not at all [default: the best there is]
    #[arg(long, value_enum, value_name = "WAY", env = "CHICANE_JUDGE_ISOLATION")]
    pub(crate) judge_isolation: Option<IsolationName>,
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
    /// How judging scripts are run.
    pub(crate) fn judge(&self) -> Result<JudgeOptions, String> {
        let read = |file: &PathBuf| {
            std::fs::read_to_string(file).map_err(|e| format!("--judge-script {}: {e}", file.display()))
        };
        Ok(JudgeOptions {
            launcher: None,
            folder: None,
            script: self.judge_script.as_ref().map(read).transpose()?,
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
            Some("auto") => Token::random().map(Some),
            Some(text) => Token::parse(text).map(Some),
        }
    }
}

fn student_command(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.chars().count() > 1000 || text.contains('\0') {
        return Err("it is a command of at most 1000 characters".to_owned());
    }
    Ok(text.to_owned())
}

fn time_limit(text: &str) -> Result<f64, String> {
    within(text, 1.0, 3600.0).ok_or_else(|| format!("it is a number of seconds from 1 to 3600, not {text}"))
}

fn lap_speed(text: &str) -> Result<f64, String> {
    within(text, 0.1, 3.0).ok_or_else(|| format!("--speed takes metres a second from 0.1 to 3, not {text}"))
}

fn pace(text: &str) -> Result<f64, String> {
    let fast = within(text, 0.0, 0.0);
    fast.or_else(|| within(text, 0.05, 100.0)).ok_or_else(|| format!("it is 0.05 to 100, or 0, not {text}"))
}

fn field_size(text: &str) -> Result<[f64; 2], String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    sides.ok_or_else(|| format!("it is two numbers such as 8x6, not {text}"))
}

fn within(text: &str, low: f64, high: f64) -> Option<f64> {
    text.parse().ok().filter(|v| (low..=high).contains(v))
}

fn host_name(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    if text.is_empty() || !text.bytes().all(fits) {
        return Err("it is a host name without a port, such as lab.example.org".to_owned());
    }
    Ok(text.to_ascii_lowercase())
}

fn web_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !text.contains(char::is_whitespace) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("it is an address such as https://example.org/worlds".to_owned()),
    }
}
