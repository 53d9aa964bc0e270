//! What can be said on the command line.

mod engine;
mod serve;
mod values;
mod worlds;

pub(crate) use engine::JudgeBy;
pub(crate) use serve::{Log, LogLevel, Serve};
pub(crate) use worlds::{DataDir, Level, Publish, Worlds, WorldsWhat};

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use values::{field_size, lap_speed, pace, student_command, time_limit};

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
        #[command(flatten)]
        judge: JudgeBy,
    },
    /// Build the world of a builder project
    Build {
        /// The project; pictures and scripts that it names lie beside it
        project: String,
        /// Folder for the world: a new or empty one, or one that holds this world already
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
        #[command(flatten)]
        judge: JudgeBy,
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
    /// A built-in world, a folder that holds worlds/NAME.world, or a project, NAME.json
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
    #[command(flatten)]
    pub(crate) judge: JudgeBy,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Judge {
    /// The script, Python
    pub(crate) script: PathBuf,
    /// A built-in world, a folder that holds worlds/NAME.world, or a project, NAME.json; its evaluation config is used
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
    #[command(flatten)]
    pub(crate) judge: JudgeBy,
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
