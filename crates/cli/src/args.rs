//! Commands and options of the program. The doc comments of commands, fields and values are the
//! help texts.

mod examples;
mod grade;
mod help;
mod judge;
mod leaderboard;
mod operate;
mod pace;
mod print;
mod record;
mod resources;
mod robot;
mod runs;
mod serve;
mod student;
mod values;
mod worlds;

pub(crate) use grade::{FormulaArgs, GradeArgs, GradeUnitArgs, ReportArgs};
pub(crate) use help::command;
pub(crate) use judge::{JudgeArgs, JudgeArgsError};
pub(crate) use leaderboard::{LeaderboardArgs, SubmitArgs};
pub(crate) use operate::{BackupArgs, DoctorArgs, RestoreArgs, RollingBackupArgs};
pub(crate) use pace::PaceName;
pub(crate) use print::{PaperName, PrintFile, PrintKind};
pub(crate) use record::RecordArgs;
pub(crate) use resources::ResourceArgs;
pub(crate) use robot::RobotArgs;
pub(crate) use runs::{RejudgeArgs, ReplayArgs, VerifyArgs};
pub(crate) use serve::{LogFormat, LogLevel, ServeArgs};
pub(crate) use student::StudentArgs;
pub(crate) use worlds::{AccessLevel, DataDirArgs, ImportArgs, PublishArgs, WorldsArgs, WorldsCommand};

use chicane_world::Bounds;
use clap::{Args, Parser, Subcommand};
use print::print_file;
use std::path::PathBuf;
use values::{
    field_size, lap_speed, print_area, speed_factor, student_command, student_name, time_limit, wall_limit,
};

/// Chicane, a robot-car simulator for teaching and grading
#[derive(Debug, Parser)]
#[command(name = "chicane", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    // These are the options of `serve`. They are accepted without a command, because `serve` is the
    // default.
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the simulator with its web API and viewer (the default command)
    Serve(Box<ServeArgs>),
    /// Describe and validate a world or a builder project
    Check(CheckArgs),
    /// Build the world of a builder project
    Build(BuildArgs),
    /// Publish a world and print its id
    Publish(PublishArgs),
    /// List, install, remove and import worlds; change published worlds
    Worlds(WorldsArgs),
    /// Create a builder project
    New(NewArgs),
    /// Write the floor of a world as an image or a PDF for printing, true to scale
    Print(PrintArgs),
    /// Drive one lap of a world, as fast as the machine can simulate it
    Lap(LapArgs),
    /// Print the OpenAPI document of the web API
    Openapi {
        /// Print the document of the robot's API, which a physical car has too
        #[arg(long)]
        robot: bool,
    },
    /// Evaluate a student's program without a viewer; the exit status depends on the outcome
    Evaluate(EvaluateArgs),
    /// Run a program several times, on an idle and a busy machine, and compare the runs
    #[command(mut_arg("command", |arg| arg.required_unless_present("drive")))]
    Repeat(RepeatArgs),
    /// Grade a class: run each submission with every world and seed, and write a report
    Grade(Box<GradeArgs>),
    /// Make the report of a graded class again
    Report(ReportArgs),
    /// Evaluate one unit of a plan; `chicane grade` and other programs start this command for a
    /// unit
    #[command(name = "grade-unit", hide = true)]
    GradeUnit(GradeUnitArgs),
    /// Run a judging script on a file of drive commands; print the log and the outcome
    Judge(JudgeDriveArgs),
    /// Simulate and judge runs again, and compare them with their records to the byte
    Verify(VerifyArgs),
    /// Show a recorded run in the viewer
    Replay(ReplayArgs),
    /// Judge the drive of a recorded run with another script
    Rejudge(RejudgeArgs),
    /// Hand in a program to the leaderboard of a simulator, and wait for the result
    Submit(SubmitArgs),
    /// Export the records of evaluations
    Records {
        #[command(subcommand)]
        command: RecordsCommand,
    },
    /// Install Python 3.14 for judging scripts; needed once per user
    Setup,
    /// Check what works on this machine, and print what to do about the rest
    Doctor(DoctorArgs),
    /// Back up a data folder to one file, also while a simulator uses it
    Backup(BackupArgs),
    /// Restore a data folder from a backup
    Restore(RestoreArgs),
    /// Judge and verify one run of the leaderboard; only the simulator uses this command
    #[command(name = "__judge-run", hide = true)]
    JudgeRun(EvaluateArgs),
    /// Write the man pages and shell completions; only `make dist` uses this command
    #[command(name = "__package", hide = true)]
    Package {
        /// Folder to write to
        folder: PathBuf,
    },
    /// Run a process of a jail; only the simulator uses this command
    #[command(name = "__jail", hide = true)]
    Jail {
        /// Process to run: outer or init
        part: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    /// Project file NAME.json, folder with worlds/NAME.world, world file NAME.world or NAME.sdf, or
    /// built-in world, such as oval
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BuildArgs {
    /// Project file; the images and scripts that it names are in the same folder
    pub(crate) project: String,
    /// Output folder: new, empty, or with an earlier build of the same world
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PrintArgs {
    /// Project file, world folder, world file, or built-in world, such as oval
    pub(crate) world: String,
    /// File to write: an image .jpg, or a document .pdf with one page for each sheet of paper
    #[arg(short, long, value_name = "FILE", value_parser = print_file)]
    pub(crate) output: PrintFile,
    /// Paper of a .pdf: sheets to cut and join, or one page as large as the floor [default: A4]
    #[arg(long, value_enum, value_name = "PAPER", ignore_case = true)]
    pub(crate) paper: Option<PaperName>,
    /// Resolution in pixels per inch
    #[arg(long, value_name = "NUMBER", default_value_t = 150, value_parser = clap::value_parser!(u16).range(10..=600))]
    pub(crate) dpi: u16,
    /// Part of the floor to print, in metres [default: the bounds of the world]
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = print_area, allow_hyphen_values = true)]
    pub(crate) area: Option<Bounds>,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct LapArgs {
    /// Project file, world folder, world file, built-in world, such as oval, or id of an installed
    /// world
    pub(crate) world: String,
    /// Speed in m/s, 0.1 to 3
    #[arg(long, default_value_t = 1.0, value_parser = lap_speed)]
    pub(crate) speed: f64,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    #[command(flatten)]
    pub(crate) robot: RobotArgs,
    /// Data folder with installed worlds [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct NewArgs {
    /// Create a project with a random track
    #[arg(long, required = true)]
    pub(crate) random: bool,
    /// Seed: the same number gives the same track [default: random]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Size of the field in metres
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "8x6", value_parser = field_size)]
    pub(crate) field: [f64; 2],
    /// Width of the road in metres
    #[arg(long, value_name = "METRES", default_value_t = 0.6)]
    pub(crate) width: f64,
    /// Curviness: 0 is nearly round, 1 has many bends
    #[arg(long, value_name = "0..1", default_value_t = 0.5)]
    pub(crate) tightness: f64,
    /// Length of the track in metres, if the field is large enough [default: not fixed]
    #[arg(long, value_name = "METRES")]
    pub(crate) length: Option<f64>,
    /// File to write; it must not exist [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct EvaluateArgs {
    /// Built-in world, folder with worlds/NAME.world, project file NAME.json, world file NAME.world
    /// or NAME.sdf, or id of an installed world
    #[arg(long, value_name = "WORLD")]
    pub(crate) world: String,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    /// Shell command that starts the student's program [default: none, the run is only observed]
    #[arg(long, value_name = "COMMAND", value_parser = student_command)]
    pub(crate) command: Option<String>,
    /// Seed: the same number gives the same run; 0 is the world as published
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: u64,
    /// Time limit in simulated seconds [default: the world's time limit]
    #[arg(long, value_name = "SECONDS", value_parser = time_limit)]
    pub(crate) time_limit: Option<f64>,
    /// File of drive commands, one per line: seconds, speed, steering
    #[arg(long, value_name = "FILE")]
    pub(crate) drive: Option<PathBuf>,
    /// Real-time factor, 0.05 to 100, or 0 for as fast as possible [default: 1 if a program follows
    /// the wall clock, else 0]
    #[arg(long, value_name = "FACTOR", value_parser = speed_factor)]
    pub(crate) speed: Option<f64>,
    /// Pace of simulated time: it waits for the program, or it follows the wall clock [default:
    /// virtual]
    #[arg(long, value_enum, value_name = "PACE")]
    pub(crate) pace: Option<PaceName>,
    #[command(flatten)]
    pub(crate) robot: RobotArgs,
    /// Working folder of the student's program
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Data folder that stores the record and has installed worlds; several evaluations can use it
    /// at the same time [default: the record is only printed, and installed worlds come from the
    /// folder of CHICANE_DATA_DIR, or else the platform's folder for application data]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print the whole record as JSON to standard output, and everything else to standard error
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the run to a file that `chicane verify` and `chicane replay` read, such as run.chicane
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Write the student's program into the file of --save too
    #[arg(long, requires = "save")]
    pub(crate) save_program: bool,
    /// Limit of the run in real seconds, 1 to 86400 [default: 5 times the time limit, at least 120]
    #[arg(long, value_name = "SECONDS", value_parser = wall_limit)]
    pub(crate) wall_limit: Option<f64>,
    /// Print what the box of the student's program shows, and exit; with --pace virtual, run the
    /// program and print where its time went
    #[arg(long, requires = "command")]
    pub(crate) explain: bool,
    /// Name of the student, for the record
    #[arg(long, value_name = "NAME", value_parser = student_name)]
    pub(crate) student: Option<String>,
    #[command(flatten)]
    pub(crate) student_box: StudentArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

impl EvaluateArgs {
    /// Whether `chicane evaluate` only describes the box, and starts no program.
    pub(crate) fn explains_box(&self) -> bool {
        self.explain && self.pace != Some(PaceName::Virtual)
    }
}

/// Arguments of `chicane repeat`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RepeatArgs {
    #[command(flatten)]
    pub(crate) evaluate: EvaluateArgs,
    /// Number of runs, 2 to 100. During every second run, other threads use all processors
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) runs: u32,
}

/// Arguments of `chicane judge`.
#[derive(Debug, Clone, Args)]
pub(crate) struct JudgeDriveArgs {
    /// Judging script, a Python file
    pub(crate) script: PathBuf,
    /// Built-in world, folder with worlds/NAME.world, or project file NAME.json; the script gets
    /// the evaluation config of this world
    #[arg(long, value_name = "WORLD")]
    pub(crate) world: String,
    /// File of drive commands, one per line: seconds, speed, steering
    #[arg(long, value_name = "FILE")]
    pub(crate) drive: PathBuf,
    /// Seed: the same number gives the same run; 0 is the world as published
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: u64,
    /// Time limit in simulated seconds [default: the world's time limit]
    #[arg(long, value_name = "SECONDS", value_parser = time_limit)]
    pub(crate) time_limit: Option<f64>,
    #[command(flatten)]
    pub(crate) robot: RobotArgs,
    /// Print the whole record as JSON to standard output, and everything else to standard error
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecordsCommand {
    /// Print all records, newest first, or write one run to a file
    Export(ExportArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// Print a table, one line per record (the default)
    #[arg(long, conflicts_with_all = ["json", "run"])]
    pub(crate) csv: bool,
    /// Print whole records with their events instead of a table
    #[arg(long, conflicts_with = "run")]
    pub(crate) json: bool,
    /// Write the run of this session to a file that `chicane verify` and `chicane replay` read
    #[arg(long, value_name = "SESSION", requires = "output", conflicts_with = "world")]
    pub(crate) run: Option<String>,
    /// File for the run, such as run.chicane
    #[arg(short, long, value_name = "FILE", requires = "run")]
    pub(crate) output: Option<PathBuf>,
    /// Write the student's program into the file too; the folder must have the program as it was
    /// judged
    #[arg(long, value_name = "FOLDER", requires = "run")]
    pub(crate) program: Option<PathBuf>,
    /// Print the records of this world only
    #[arg(long, value_name = "NAME")]
    pub(crate) world: Option<String>,
    /// Data folder with the records [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}
